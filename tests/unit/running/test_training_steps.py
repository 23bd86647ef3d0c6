"""The steps of a recipe beside those of the publication that it follows."""

from pathlib import Path

import pytest

from harness import catalogue, suite
from harness.running.training_steps import steps_of

BOARDS = Path(__file__).parents[3] / "leaderboards"
FOLLOWING = [path for path in sorted(BOARDS.glob("*/suite.yaml")) if "    paper: " in path.read_text()]


@pytest.mark.parametrize("path", FOLLOWING, ids=lambda path: path.parent.name)
def test_a_committed_recipe_takes_the_steps_of_its_paper(path):
    """The last batch of an epoch may be smaller here; there it is left out."""
    found = [spec for spec in suite.load(path, catalogue.load()).models if spec.paper and spec.paper.steps]
    assert found
    for spec in found:
        count = steps_of(spec, spec.paper.queries, spec.paper.positives)
        assert 0 <= count - spec.paper.steps <= spec.train.params.epochs, spec.name


def test_an_instance_is_a_query_or_a_positive_or_a_pair_and_undenoised_lists_count_too(tmp_path):
    def steps(trainer, unit, undenoised=0.0):
        text = f"""
suite: s
datasets: {{d: {{tour: {{language: en, split: test}}}}}}
systems: {{bm25: {{retriever: bm25}}, a: {{retriever: {{dense: {{model: {{made: m}}}}}}}}}}
models:
  m:
    train: {{{trainer}: {{init: ./x, epochs: 2, batch: 10, instance: {unit}}}}}
    on: d/dev
    negatives: {{of: bm25, take: 3, undenoised: {undenoised}}}
measures: [RR@10]
"""
        (tmp_path / "suite.yaml").write_text(text)
        [spec] = suite.load(tmp_path / "suite.yaml", catalogue.load()).models
        return steps_of(spec, 100, 205)

    assert [steps("dual-encoder", unit) for unit in ("query", "positive", "pair")] == [20, 42, 124]
    assert [steps("cross-encoder", unit) for unit in ("query", "positive", "pair")] == [20, 42, 164]
    assert steps("dual-encoder", "query", "lists") == 40
