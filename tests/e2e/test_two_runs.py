"""Several runs over one store at once: each step is done once in all, and all end with the same results."""

import os
import select
import subprocess
from collections import Counter

import pytest
from running import EVERYTHING, LONG, Harness, Ran, finished, results, until

WAITING = "another run is doing this; waiting for it"
SLOW = {
    **EVERYTHING,
    "systems": {**EVERYTHING["systems"], "waited for": {"retriever": {"overlap": {"seconds": 1.0}}}},
}


def at_once(
    harness: Harness, count: int, *options: str, own_output: bool = True, **variables: str
) -> list[Ran]:
    """So many runs, started at once."""
    return [
        finished(process) for process in started(harness, count, *options, own_output=own_output, **variables)
    ]


def started(
    harness: Harness, count: int, *options: str, own_output: bool = True, **variables: str
) -> list[subprocess.Popen[str]]:
    harness.suite(SLOW)
    runs = []
    for i in range(count):
        out = harness.folder / (f"out-{i}" if own_output else "out")
        arguments = harness.run_arguments("suite.yaml", "--out", out, *options)
        runs.append(harness.start(*arguments, TOY_COUNTS=str(harness.folder / "counts"), **variables))
    return runs


def until_one_waits(runs: list[subprocess.Popen[str]]) -> list[str]:
    """What each run has printed when one of them says that it waits for another."""
    printed = [b"" for _ in runs]
    streams = [run.stderr for run in runs if run.stderr is not None]
    while not any(WAITING.encode() in text for text in printed):
        ready = select.select(streams, [], [], LONG)[0]
        for number, stream in enumerate(streams):
            if stream in ready:
                data = os.read(stream.fileno(), 65536)
                assert data, printed  # it has ended
                printed[number] += data
        assert ready, printed
    return [text.decode("utf-8", "replace") for text in printed]


@pytest.mark.parametrize(
    ("count", "options"), [(2, ()), pytest.param(4, ("--jobs", "2"), marks=pytest.mark.slow)]
)
def test_runs_at_once_share_the_work_and_agree(
    harness: Harness, count: int, options: tuple[str, ...]
) -> None:
    gate = harness.folder / "gate"
    runs = started(harness, count, *options, OVERLAP_WAITS_FOR=str(gate))
    before = until_one_waits(runs)
    gate.touch()  # only now can an index be made
    ended = [finished(process) for process in runs]
    ran = [one._replace(err=first + one.err) for first, one in zip(before, ended, strict=True)]
    for one in ran:
        assert one.code == 0, one.err
        assert "Traceback" not in one.err
    of_each = [results(harness.folder / f"out-{i}") for i in range(count)]
    assert all(other == of_each[0] for other in of_each)
    counts = Counter((harness.folder / "counts").read_text().split())
    assert counts["index"] == 4  # plain, loud, whole, waited for: each once in all
    waited = [one for one in ran if WAITING in one.err]
    assert waited
    assert all("made by another run" in one.err for one in waited)
    assert list(harness.store.glob("partial/*")) == []


def test_two_runs_may_write_into_the_same_folder(harness: Harness) -> None:
    ran = at_once(harness, 2, own_output=False)
    assert [one.code for one in ran] == [0, 0], [one.err for one in ran]
    assert list(harness.out.rglob(".*")) == []
    alone = Harness(harness.folder / "alone")
    alone.folder.mkdir()
    alone.suite(SLOW)
    assert alone.run().code == 0
    assert results(harness.out) == results(alone.out)


def test_a_run_that_waits_does_the_step_itself_when_the_other_is_killed(harness: Harness) -> None:
    harness.suite({**SLOW, "systems": {"waited for": {"retriever": {"overlap": {"seconds": 0.1}}}}})
    first = harness.start(*harness.run_arguments(), OVERLAP_HANGS="1")
    until(lambda: list(harness.store.glob("partial/index-*")))
    second = harness.start(*harness.run_arguments("suite.yaml", "--out", harness.folder / "second"))
    assert second.stderr is not None
    assert any("waiting for it" in line for line in second.stderr)  # reads on until the line comes
    first.kill()
    finished(first)
    ran = finished(second)
    assert ran.code == 0, ran.err
    assert "made by another run" not in ran.err


@pytest.mark.slow
def test_runs_that_do_everything_afresh_do_not_hurt_each_other(harness: Harness) -> None:
    ran = at_once(harness, 3, "--fresh")
    assert [one.code for one in ran] == [0, 0, 0], [one.err for one in ran]
    of_each = [results(harness.folder / f"out-{i}") for i in range(3)]
    assert of_each[0] == of_each[1] == of_each[2]


@pytest.mark.slow
def test_two_runs_mend_a_damaged_store_together(harness: Harness) -> None:
    (alone,) = at_once(harness, 1)
    assert alone.code == 0
    expected = results(harness.folder / "out-0")
    for path in harness.store.glob("artifacts/*/*"):
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    ran = at_once(harness, 2, "--jobs", "2")
    assert [one.code for one in ran] == [0, 0], [one.err for one in ran]
    assert results(harness.folder / "out-0") == results(harness.folder / "out-1") == expected
