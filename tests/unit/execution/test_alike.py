"""Which steps cost alike for equal amounts of work: a trained model costs what the model that it starts from costs."""

from typing import Any

from msgspec import structs
from step_samples import METHOD, SAMPLES, TEXTS, changed, ref, step

from harness import steps
from harness.execution.alike import Alike, alike, record_in
from harness.plan.graph import Step
from harness.steps.record import Bound, Found, Model


def trained(*bound: Bound, **params: Any) -> Step:
    return step(
        changed(steps.Train, method=structs.replace(METHOD, name="dual-encoder", params=params, bound=bound))
    )


def index(model: Any, *bound: Bound) -> steps.Index:
    method = structs.replace(METHOD, name="dense", params={"model": model}, bound=bound)
    return steps.Index(method=method, texts=TEXTS)


def test_a_trained_model_costs_what_the_model_costs_from_which_it_started() -> None:
    first = trained(init={"sha256": "a"}, epochs=1)
    second = trained(Bound("init", Model(first.id, "model")), epochs=3)
    chosen = step(changed(steps.Validate, checkpoints=(ref(second.id),)))
    joint = trained(init={"sha256": "c"}, init_reranker={"sha256": "b"})
    record_of = record_in({item.id: item for item in (first, second, chosen, joint)})

    def made(name: str, part: str = "model") -> Alike:
        return alike(index(None, Bound("model", Model(name, part))), record_of)

    wanted = alike(index({"sha256": "a"}), record_of)
    assert made(first.id) == made(chosen.id) == wanted
    assert made(joint.id, "reranker") == alike(index({"sha256": "b"}), record_of) != wanted
    listed = index([None], Bound("model", Model(joint.id, "reranker"), 0))
    assert alike(listed, record_of) == alike(index([{"sha256": "b"}]), record_of)
    assert "train-9" in made("train-9").params


def test_a_value_that_is_tuned_costs_the_same_whichever_it_is() -> None:
    none = record_in({})
    tuned = [index("m", Bound("depth", Found(f"trials-{i}", "depth"))) for i in range(2)]
    assert alike(tuned[0], none) == alike(tuned[1], none) != alike(index("m"), none)


def test_steps_of_another_unit_or_kind_cost_otherwise() -> None:
    none = record_in({})
    passages = changed(steps.Index, texts=structs.replace(TEXTS, unit="passage"))
    assert alike(passages, none) != alike(SAMPLES[steps.Index], none)
    assert len({alike(record, none).kind for record in SAMPLES.values()}) == len(SAMPLES)
