"""A training in two processes: it equals that in one, and the end of either process ends it until it is run again."""

import dataclasses
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest
import tiny_models

from harness.errors import HarnessError
from harness.types import Training

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

pytestmark = pytest.mark.extras

from test_training_loop import digests, encoder, examples, trained  # noqa: E402

from harness_training import CrossEncoderParams, RocketQAv2Params, batches, loop, networks, processes  # noqa: E402
from harness_training.cross_encoder import CrossEncoder  # noqa: E402
from harness_training.dual_encoder import DualEncoder  # noqa: E402
from harness_training.processes import ALONE, Course, Group  # noqa: E402
from harness_training.rocketqav2 import RocketQAv2  # noqa: E402

PAIR = (Group(0, 2), Group(1, 2))


def given(folder, **more):
    """Five queries by twos, so that the last batch of an epoch has one query for two processes."""
    return encoder(folder, untied=True, epochs=3, similarity="cosine", temperature=0.1, **more)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder in which a model has been trained by two processes."""
    folder = tmp_path_factory.mktemp("two")
    trained(DualEncoder(given(folder, processes=2)), folder / "out")
    return folder


def test_two_processes_train_the_model_of_one(undisturbed, tmp_path):
    """To float error, with dropout, and with the vectors of both processes as negatives of each other."""
    _, alone = trained(DualEncoder(given(undisturbed)), tmp_path / "alone")
    lines = (undisturbed / "out" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["loss"] for line in lines] == pytest.approx(alone, abs=1e-5)
    for part in ("query", "passage"):
        one, two = (
            tiny_models.read_safetensors(folder / part / "model.safetensors")
            for folder in (tmp_path / "alone", undisturbed / "out")
        )
        start = tiny_models.read_safetensors(undisturbed / "init" / "model.safetensors")
        assert one.keys() == two.keys()
        for name, weights in one.items():
            if not name.endswith("key.bias"):  # its gradient is 0 but for rounding, which Adam makes large
                assert two[name] == pytest.approx(weights, abs=1e-5)
        moved = "encoder.layer.0.output.dense.weight"
        assert np.abs(one[moved] - start[moved]).max() > 1e-3


def others() -> list[BaseProcess]:
    """The processes of a training. Other tests and libraries may have started further ones, in other ways."""
    children = multiprocessing.active_children()
    return [child for child in children if child.daemon and child.name.startswith("SpawnProcess")]


def test_a_process_that_is_killed_ends_the_training_which_is_then_resumed(undisturbed, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "SHARE", 0)  # a state after every step
    trainer, folder = DualEncoder(given(undisturbed, processes=2)), tmp_path / "out"

    def kill(done, total, note):
        if done == 4:
            [other] = others()
            other.kill()

    with pytest.raises(HarnessError, match=r"process 2 of 2 was killed \(SIGKILL\); run again"):
        trained(trainer, folder, progress=kill)
    assert others() == []
    seen = []
    trainer.train(examples(), folder, Training(0, progress=lambda done, total, note: seen.append(done)))
    assert seen[0] == 5
    assert digests(folder) == digests(undisturbed / "out")


class Met(Exception):
    pass


class Recorded(Group):
    """The first of two processes. The other one begins at the step `others`."""

    others: int

    def summed(self, tensor):
        if tensor.dtype == torch.int64 and tensor.tolist() == [12, 0]:
            if self.others == 12:
                raise Met
            tensor[1] = self.others
        return tensor


def first_again(folder, params, others):
    """The first process of two does a segment again that was killed when all of its steps were done."""
    trainer, group = DualEncoder(params), Recorded(0, 2)
    group.others = others
    steps = batches.steps_of(5, params.batch, params.epochs)
    training = Training(0, segment=0, segments=2)
    trainer.learn(Course(steps, lambda step: pytest.fail("no step is left"), folder, training, group))


def test_a_killed_segment_without_steps_left_keeps_its_state_until_all_processes_have_read_it(tmp_path):
    """Otherwise, a process that comes late would begin at another step, and wait for a batch for ever."""
    params, folder = encoder(tmp_path, epochs=8), tmp_path / "out"
    trained(DualEncoder(params), folder, segment=0, segments=2)
    left = digests(folder / "state")
    assert list(left) == ["step-000000012.state"]
    with pytest.raises(Met):
        first_again(folder, params, others=12)
    assert digests(folder / "state") == left
    with pytest.raises(HarnessError, match="would begin after the steps 12, 0; run again with --fresh"):
        first_again(folder, params, others=0)
    assert digests(folder / "state") == left


@pytest.mark.slow
def test_two_processes_do_a_segment_again_that_was_killed_when_all_of_its_steps_were_done(tmp_path):
    trainer, folder = DualEncoder(given(tmp_path, processes=2)), tmp_path / "out"
    trained(trainer, folder, segment=0, segments=2)
    left = digests(folder)
    trainer.train(examples(), folder, Training(0, segment=0, segments=2))
    assert digests(folder) == left


class Eager:
    """Waits for a batch in every process but the first, which has none."""

    def __init__(self, params):
        pass

    def learn(self, course):
        if not course.group.first:
            course.batch(0)
        return {"steps": 0}


@pytest.mark.slow
def test_a_process_that_waits_for_a_further_batch_ends_with_the_first(tmp_path):
    course = Course(0, lambda step: None, tmp_path, Training(0))
    assert processes.learnt(Eager, given(tmp_path, processes=2), course) == {"steps": 0}
    assert others() == []


SCRIPT = """
import multiprocessing, os, pathlib, signal, sys
from test_training_loop import examples
from test_training_processes import given, others
from harness.types import Training
from harness_training import loop
from harness_training.dual_encoder import DualEncoder
loop.SHARE = 0
folder = pathlib.Path(sys.argv[1])
def kill(done, total, note):
    if done == 4:
        [other] = others()
        print(other.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    params = given(pathlib.Path(sys.argv[2]), processes=2)
    DualEncoder(params).train(examples(), folder, Training(0, progress=kill))
"""


@pytest.mark.slow
def test_the_other_process_does_not_outlive_the_first(undisturbed, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    path = os.pathsep.join([*filter(None, sys.path), str(Path(__file__).parent)])
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), str(undisturbed)],
        env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == -signal.SIGKILL
    other = Path("/proc") / ran.stdout.strip()
    until = time.monotonic() + 250
    while other.exists() and (other / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < until
        time.sleep(0.05)
    DualEncoder(given(undisturbed, processes=2)).train(examples(), folder, Training(0))
    assert digests(folder) == digests(undisturbed / "out")


class Unlucky:
    """Fails in every process but the first."""

    def __init__(self, params):
        pass

    def learn(self, course):
        if not course.group.first:
            raise ValueError("no luck")
        course.group.summed(torch.zeros(1))


def test_an_error_in_another_process_is_told_with_its_reason(tmp_path):
    course = Course(1, lambda step: None, tmp_path, Training(0))
    with pytest.raises(HarnessError, match=r"process 2 of 2 failed \(no luck\)"):
        processes.learnt(Unlucky, given(tmp_path, processes=2), course)
    assert others() == []
    assert not torch.distributed.is_initialized()
    assert processes.INTERFACE not in os.environ


# shares, without starting processes


def test_the_shares_of_all_processes_are_the_batch():
    for count in range(1, 8):
        for size in range(1, 5):
            shares = [Group(number, size).share(count) for number in range(size)]
            items = [item for first, end in shares for item in range(first, end)]
            assert items == list(range(count))
            owners = [Group(0, size).owner(item, count) for item in items]
            assert owners == [number for number, (first, end) in enumerate(shares) for _ in range(first, end)]
            places = [
                networks.by_length(["x" * (i % 3) for i in items], 2, Group(n, size)) for n in range(size)
            ]
            assert sorted(place for lots in places for lot in lots for place in lot) == items
            assert all(lot for lots in places for lot in lots)


def slopes(model):
    return [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]


@pytest.mark.parametrize("loss", ["two-classes", "listwise"])
def test_the_gradients_of_two_shares_of_a_cross_encoder_are_those_of_the_batch(tmp_path, loss):
    tiny_models.bert(tmp_path / "init")
    params = CrossEncoderParams(
        init=tmp_path / "init", loss=loss, micro=6, length=24, query_length=8, dtype="fp32", device="cpu"
    )
    batch = batches.batch_of(examples(), batches.each_query(np.arange(5)), 0, size=5, negatives=2, seed=0)
    trainer, found = CrossEncoder(params), []
    for groups in ((ALONE,), PAIR):
        scorer = networks.Scorer(params.init, 2 if loss == "two-classes" else 1, 0.1, "fp32", 0).train()
        total = sum(trainer._backward(scorer, batch, (0, 0), 6, group.share) for group in groups)
        found.append((total, slopes(scorer)))
    assert_alike(*found)


def test_the_gradients_of_two_shares_of_a_joint_training_are_those_of_the_batch(tmp_path):
    tiny_models.sentence_transformer(tmp_path / "de")
    tiny_models.bert(tmp_path / "ce")
    params = RocketQAv2Params(
        init=tmp_path / "de", init_reranker=tmp_path / "ce", query_length=8, passage_length=16, dtype="fp32",
        device="cpu",
    )  # fmt: skip
    batch = batches.batch_of(examples(), batches.each_query(np.arange(5)), 0, size=5, negatives=2, seed=0)
    trainer, found = RocketQAv2(params), []
    for groups in ((ALONE,), PAIR):
        tower = networks.Tower(params.init, "auto", False, 0.0, "fp32").train()
        scorer = networks.Scorer(params.init_reranker, 1, 0.1, "fp32", 0).train()
        towers = {"retriever": tower}
        total = sum(trainer._backward(towers, scorer, batch, (0, 0), 6, group.share) for group in groups)
        found.append((total, [*slopes(tower), *slopes(scorer)]))
    assert_alike(*found)


def assert_alike(first, second):
    assert first[0] == pytest.approx(second[0], abs=1e-6)
    assert len(first[1]) == len(second[1]) > 20
    largest = max(float(slope.abs().max()) for slope in first[1])
    apart = max(float((a - b).abs().max()) for a, b in zip(first[1], second[1], strict=True))
    assert apart < 1e-5 * largest


@pytest.mark.parametrize("cross_device", [True, False])
def test_negatives_of_other_processes_count_if_they_are_asked_for(tmp_path, cross_device):
    """Against a slow transcription, for five queries of which two belong to the first process."""
    trainer = DualEncoder(encoder(tmp_path, cross_device=cross_device, processes=2))
    batch = batches.batch_of(examples(), batches.each_query(np.arange(5)), 0, size=5, negatives=2, seed=0)
    chance = np.random.default_rng(0)
    queries, passages = chance.normal(size=(5, 4)), chance.normal(size=(len(batch.texts), 4))
    total = 0.0
    for query in range(5):
        mates = range(5) if cross_device else (range(2) if query < 2 else range(2, 5))
        held = {place for mate in mates for place in batch.lists[mate].tolist()}
        scores = [queries[query] @ passages[place] for place in held if batch.allowed[query, place]]
        positive = queries[query] @ passages[batch.lists[query, 0]]
        total -= positive - np.log(np.sum(np.exp(scores)))
    loss = trainer._loss(torch.from_numpy(queries), torch.from_numpy(passages), batch, Group(1, 2))
    assert float(loss) == pytest.approx(total / 5, abs=1e-12)


def test_more_processes_than_gpus_are_refused(tmp_path, monkeypatch):
    from harness.toolkit.neural import hardware
    from harness_training import resolve

    monkeypatch.setattr(hardware, "gpus", lambda: 1)
    params = dataclasses.replace(encoder(tmp_path, processes=2), device="cuda")
    with pytest.raises(HarnessError, match=r"processes: 2 .*1 GPUs"):
        resolve(params, None)
