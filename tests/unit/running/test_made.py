"""The parameters of a stage of a made dataset, as leaderboards and cards of collections have them."""

from step_samples import DENSE, changed, step

from harness.running import made
from harness.steps import Make
from harness.steps.texts import Encoder


def test_a_stage_has_its_parameters_and_those_of_the_encoder_with_the_models_that_the_suite_makes() -> None:
    assert made.stage_params(step(changed(Make, encoder=None))) == {"k1": 0.9}
    dense = {"k": "tuned:trials-0/k", "models": ["m", "made:train-0/retriever"]}
    with_encoder = step(changed(Make, encoder=Encoder(DENSE)))
    assert made.stage_params(with_encoder) == {"k1": 0.9, "encoder": {"dense": dense}}
