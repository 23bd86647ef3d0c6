"""A re-ranker with two classes goes on as one with one logit, and the other way round, with the same scores."""

import pytest
import tiny_models

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

pytestmark = pytest.mark.extras

from harness_training import heads, networks  # noqa: E402

QUERIES, PASSAGES = ["who wrote it", "a river"], ["she wrote it in a year", "the river is long"]


@pytest.mark.parametrize("family", [tiny_models.bert, tiny_models.roberta])
@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2), (1, 1)])
def test_a_reranker_keeps_its_scores_with_another_number_of_classes(tmp_path, family, before, after):
    family(tmp_path / "init")
    assert heads.classes_of(tmp_path / "init") is None
    first = networks.Scorer(tmp_path / "init", before, 0.0, "fp32", seed=1).eval()
    first.save(tmp_path / "saved", 16)
    assert heads.classes_of(tmp_path / "saved") == before
    second = networks.Scorer(tmp_path / "saved", after, 0.0, "fp32", seed=2).eval()
    second.save(tmp_path / "again", 16)
    assert heads.classes_of(tmp_path / "again") == after
    with torch.no_grad():
        scores = [score_of(scorer(QUERIES, PASSAGES, 16, 8)) for scorer in (first, second)]
    assert scores[1].tolist() == pytest.approx(scores[0].tolist(), abs=1e-6)
    assert scores[0][0] != scores[0][1]


def test_the_converted_head_is_trained(tmp_path):
    tiny_models.bert(tmp_path / "init")
    networks.Scorer(tmp_path / "init", 2, 0.0, "fp32", seed=1).save(tmp_path / "saved", 16)
    scorer = networks.Scorer(tmp_path / "saved", 1, 0.0, "fp32", seed=2).train()
    scorer(QUERIES, PASSAGES, 16, 8).sum().backward()
    assert float(scorer.network.classifier.weight.grad.abs().sum()) > 0


def score_of(logits):
    return logits[:, -1] - logits[:, 0] if logits.shape[1] == 2 else logits[:, 0]
