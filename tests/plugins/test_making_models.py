"""Makers that ask a model: pairs of queries by a cross-encoder, and passage ends by a token classifier."""

import numpy as np
import pytest
import tiny_crossencoders
import tiny_models

from harness import catalogue, run
from harness.catalogue import params
from harness.errors import HarnessError
from harness_making import SegmentParams
from harness_making.similar import by_characters, by_pairs

pytestmark = pytest.mark.extras
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
TEXT = " ".join(f"the old river {word} to the north, winter garden" for word in ("runs", "stone", "runs") * 4)


def classifier(folder, labels=("O", "END")):
    head = {"classifier.weight": (len(labels), tiny_models.HIDDEN), "classifier.bias": (len(labels),)}
    names = {str(number): label for number, label in enumerate(labels)}
    return tiny_models.bert(
        folder,
        prefix="bert.",
        pooler=False,
        more=head,
        architecture="BertForTokenClassification",
        id2label=names,
    )


def opened(folder, **given):
    from harness_making.token_classifier import TokenClassifier

    values = SegmentParams(by="model", model=folder, unit="words", dtype="fp32", device="cpu", **given)
    return TokenClassifier(values, characters=False)


def test_a_passage_ends_where_transformers_gives_the_last_token_of_a_word_the_probability(tmp_path):
    folder = classifier(tmp_path)
    text = TEXT[:150].rsplit(" ", 1)[0]
    tokeniser = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForTokenClassification.from_pretrained(folder).eval()
    encoded = tokeniser(text, return_offsets_mapping=True, return_tensors="pt")
    offsets = encoded.pop("offset_mapping")[0, 1:-1].tolist()
    with torch.inference_mode():
        likely = model(**encoded).logits.softmax(-1)[0, 1:-1, 1].tolist()
    last = {
        stop + 1: value
        for (_, stop), value in zip(offsets, likely, strict=True)
        if text[stop : stop + 1] == " "
    }
    sigma = float(np.median(list(last.values())))
    ends = opened(folder).ends(text, sigma).tolist()
    assert ends == [place for place, value in last.items() if value >= sigma]
    assert 0 < len(ends) < len(last)


def test_a_long_text_is_read_in_windows_and_each_token_counts_where_it_has_most_context(tmp_path):
    from harness_making.token_classifier import windows

    assert windows(5, 8) == [(0, 5, 0)]
    assert windows(20, 8) == [(0, 8, 0), (4, 12, 6), (8, 16, 10), (12, 20, 14)]
    model = opened(classifier(tmp_path), length=24)
    ids = model._tokeniser.backend.encode(TEXT, add_special_tokens=False).ids
    assert len(ids) > 100
    whole = model._probabilities(ids)
    assert whole[:14] == pytest.approx(model._probabilities(ids[:22])[:14], abs=1e-6)
    assert whole[-11:] == pytest.approx(model._probabilities(ids[-22:])[-11:], abs=1e-6)


def test_the_label_of_an_end_is_asked_for_where_it_is_not_plain(tmp_path):
    folder = classifier(tmp_path, ("B", "I", "E"))
    with pytest.raises(HarnessError, match="the model has the labels B, I, E; say which one ends a passage"):
        opened(folder)
    assert opened(folder, label="E")._label == 2
    for given in ({"by": "model"}, {"model": "org/name"}):
        _, problems = params.convert(SegmentParams, given, tmp_path)
        assert "'by: model' and 'model' go together" in problems[0].text


def test_a_pairwise_model_decides_among_the_candidates_of_the_cheap_measure():
    against = ["red fox", "red box", "blue whale"]
    asked = []

    def score(firsts, seconds):
        asked.extend(zip(firsts, seconds, strict=True))
        return np.array([0.9 if second == "red box" else 0.2 for second in seconds], np.float32)

    cheap = by_characters(["red fox?", "green tea"], against, 0.5, 2)
    assert cheap.candidates[0].tolist() == [0, 1]
    nearest = by_pairs(score, ["red fox?", "green tea"], against, cheap.candidates, 0.5)
    assert nearest.other[0] == 1
    assert nearest.similarity[0] == pytest.approx(0.9)
    assert len(asked) == 4
    assert nearest.concerned.tolist() == [False, True, False]
    with pytest.raises(HarnessError, match="the scores of this model are no probabilities"):
        by_pairs(lambda one, other: np.full(len(one), 3.0), ["x"], against, cheap.candidates[:1], 0.5)


SUITE = """
datasets:
  raw: {tour: {documents: 4, language: en, split: test}, scored: false}
  other: {tour: {documents: 4, language: en, split: dev}, scored: false}
  mine: {of: raw, make: [{segment: {by: model, model: ./ends, unit: words, sigma: 0.55}},
    {drop-similar: {to: [other], pairs: {PAIRS}, candidates: 3, threshold: 0.0, action: mark}}]}
systems: {bm25: {retriever: bm25}}
measures: [nDCG@10]
depth: 20
"""


@pytest.mark.slow
def test_a_suite_makes_its_collection_with_both_models(tmp_path):
    classifier(tmp_path / "ends")
    tiny_crossencoders.bert(tmp_path / "pair")
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE.replace("{PAIRS}", "{crossencoder: {models: [./pair], dtype: fp32}}"))
    board = run(path, store=tmp_path / "store", quiet=True)
    assert [row.error for row in board.rows] == [None]
    segment, similar = board.data.datasets[0].made
    assert segment.after["passages"] > segment.before["passages"] / 2
    assert similar.params["scorer"]["crossencoder"]["models"]
    queries = similar.after["queries"]
    assert similar.facts["pairs compared by the model"] == 3 * queries
    path.write_text(SUITE.replace("{PAIRS}", "{colbert: {model: ./pair}}"))
    with pytest.raises(HarnessError, match="'colbert' needs an index; name one that reads pairs"):
        run(path, store=tmp_path / "store", quiet=True)


def test_both_makers_name_their_models_while_planning():
    records = catalogue.load()
    maker = records.find("makers", "segment").record
    assert maker.libraries_by_param(SegmentParams(by="model", model="org/x"))["model"][0] == "torch"
    assert maker.libraries_by_param(SegmentParams()) == {"model": ()}
