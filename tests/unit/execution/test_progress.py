"""Long work says how far it is, how fast, and how long it will take."""

import io
import time

import pytest
from step_samples import INDEX, step

from harness.execution import progress
from harness.execution.progress import Lines

STEP = step(INDEX, "x", "")


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_speed_and_time_left_are_of_what_was_done_here(clock):
    out = io.StringIO()
    lines = Lines(out)
    lines.started(STEP)
    clock[0] += 60  # a model is loaded
    lines.progress(STEP, 500, 10_000)  # a killed run left 500
    clock[0] += 20
    lines.progress(STEP, 900, 10_000)
    assert (
        out.getvalue().splitlines()[-1] == "        index · x: 900 of 10,000 (9 %), 20 a second, 8 min left"
    )


def test_without_a_total_there_is_no_time_left(clock):
    out = io.StringIO()
    lines = Lines(out)
    lines.started(STEP)
    lines.progress(STEP, 0, None)
    clock[0] += 60
    lines.progress(STEP, 120, None)
    assert out.getvalue().splitlines()[-1] == "        index · x: 120, 2 a second"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (89, "89 s"), (180, "3 min"), (7800, "2 h 10 min")]
)
def test_a_duration_in_words(seconds, words):
    assert progress._duration(seconds) == words


def test_a_slow_step_has_its_speed_by_the_minute(clock):
    out = io.StringIO()
    lines = Lines(out)
    lines.started(STEP)
    lines.progress(STEP, 0, 20, "pairs")
    clock[0] += 60
    lines.progress(STEP, 5, 20, "pairs")
    assert out.getvalue().splitlines()[-1].endswith(" 5 of 20 (25 %), 5.0 a minute, 3 min left, pairs")


def test_a_step_that_reports_nothing_has_a_line_every_ten_seconds_all_the_same(monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.1)
    out = io.StringIO()
    lines = Lines(out)
    lines.started(STEP)
    time.sleep(1)
    lines.done(STEP, reused=False)
    *waiting, last = out.getvalue().splitlines()
    assert len(waiting) > 3
    assert set(waiting) <= {f"        index · x: at work for {n} s" for n in range(3)}
    assert last.startswith("[1/1] index · x: ")
    lines.ticker.join(5) if lines.ticker else None
    assert lines.ticker is None  # the thread ends with the last step


def test_no_line_follows_when_an_interrupted_run_has_closed_its_reporter(monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.1)
    out = io.StringIO()
    lines = Lines(out)
    lines.started(STEP)
    ticker = lines.ticker
    lines.close()
    ticker.join(10)
    assert not ticker.is_alive()
    assert not out.getvalue()
