"""A plugin that fails in any way fails its own systems, with the reason in their rows; the rest goes on."""

import re
import sys
import time
from pathlib import Path

import orjson
import pytest
from running import FAULTS, Harness, finished, living, rows, until


def suite(timeout: float = 200, **systems: object) -> dict[str, object]:
    return {
        "suite": "bad",
        "datasets": {"toy": "toy"},
        "systems": {"good": {"retriever": "overlap"}, **systems},
        "measures": ["nDCG@10"],
        "depth": 10,
        "timeout": timeout,
    }


def toy(fault: str) -> object:
    return {"retriever": {"overlap": {"fault": fault}}}


def bad(how: str) -> object:
    return {"retriever": {"bad": {"how": how}}}


def logs_named(harness: Harness, err: str) -> list[str]:
    """The logs of failed steps that a run's output names."""
    return [log.read_text() for log in (harness.store / "failures").iterdir() if str(log) in err]


def test_each_fault_is_the_reason_of_its_own_row_and_a_rerun_tries_only_those_again(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_COUNTS", str(harness.folder / "counts"))
    expected = {
        "raise": "ValueError: the toy was asked to fail",
        "die": "its process was killed",
        "nan": "NaN",
        "twice": "twice",
        "range": "1000000000",
        "shape": "shape",
    }
    harness.suite(suite(**{name: toy(name) for name in expected}))
    first = harness.run("suite.yaml", "--jobs", "2")
    assert first.code == 1, first.err
    assert "Traceback" not in first.err
    by_system = rows(harness.out)
    assert by_system["good"]["status"] == "ok"
    assert by_system["good"]["measures"]
    for name, reason in expected.items():
        assert by_system[name]["status"] == "failed"
        assert reason.lower() in by_system[name]["error"].lower(), name
        assert f"{name}" in by_system[name]["error"]  # the step that failed is named
    counts = (harness.folder / "counts").read_text().split()
    (harness.folder / "counts").unlink()
    harness.suite(suite(**{name: toy(name) for name in expected if name != "die"}))
    second = harness.run("suite.yaml")
    assert second.code == 1
    again = (harness.folder / "counts").read_text().split()
    # the indexes of the four faulty searches are there; only `raise` builds one again
    assert (counts.count("index"), again.count("index")) == (7, 1)
    assert again.count("open") == 4  # the first run may open an index in each of its two processes
    assert rows(harness.out)["good"] == by_system["good"]


def test_a_process_that_ends_badly_fails_its_row_and_leaves_nothing_behind(harness: Harness) -> None:
    reasons = {
        "sys_exit": "SystemExit: 3",
        "os_exit": "its process ended with code 4 (the last words)",
        "interrupt": "KeyboardInterrupt",
        "flood": "ValueError: after five megabytes of output",
        "long_reason": "ValueError: \\udc80many words",
        "lines": "ValueError: the first line\nand what to do about it",
        "out_of_memory": "out of memory",
        "fork_and_die": "its process was killed",
        "segfault": "its process died of SIGSEGV",
        "close_pipes": "its process closed its pipe to the harness",
        "take_name": "broke its contract: it wrote a file 'manifest.json'",
        "remove_folder": "broke its contract: it removed the folder that it was given",
        "remove_folder_above": "broke its contract: it removed the folder that it was given",
        "link_folder": "broke its contract: it removed the folder that it was given",
        "full_device": "No space left on device (faults/bad_plugin.py:",
        "full_elsewhere": "No space left on device: '/a/disk/of/mine' (faults/bad_plugin.py:",
        "late_import": "ImportError: the plugin's library was asked to fail",
    }
    harness.suite(suite(**{how: bad(how) for how in reasons}))
    ran = harness.run("suite.yaml", "--jobs", "2", PYTHONPATH=FAULTS, A_RUN=str(harness.folder))
    assert ran.code == 1, ran.err
    assert "Traceback" not in ran.err
    by_system = rows(harness.out)
    assert by_system["good"]["status"] == "ok"
    for how, reason in reasons.items():
        assert reason in by_system[how]["error"]
        assert len(by_system[how]["error"]) < 2200
    assert living(f"A_RUN={harness.folder}") == []
    texts = logs_named(harness, ran.err)
    assert any("in segfault" in text for text in texts)  # the Python stack
    (text,) = [text for text in texts if "line 49999 of a hundred characters" in text]
    assert "ValueError: after five megabytes of output" in text
    assert len(text) < 25_000


def test_a_process_that_only_behaves_oddly_does_its_work(harness: Harness) -> None:
    ways = ("chatter", "read_stdin", "change_folder", "pipe_in_folder", "close_stdout")
    harness.suite(suite(**{how: bad(how) for how in ways}))
    ran = harness.run("suite.yaml", "--store", "here", PYTHONPATH=FAULTS)
    assert ran.code == 0, ran.err
    by_system = rows(harness.out)
    for how in ways:
        assert by_system[how]["measures"] == by_system["good"]["measures"]
    # what a step printed that succeeded: 100,000 times the bytes FF FE
    logs = [log.read_text() for log in (harness.folder / "here" / "logs").iterdir()]
    assert any("\ufffd" * 1000 in log for log in logs)


@pytest.mark.slow
def test_what_hangs_is_killed_with_all_that_it_started(harness: Harness) -> None:
    harness.suite(suite())
    assert harness.run().code == 0  # so that the timeout is of the faulty steps alone
    harness.suite(suite(5.0, hang=toy("hang"), children=bad("children"), stubborn=bad("stubborn")))
    ran = harness.run("suite.yaml", "--jobs", "3", PYTHONPATH=FAULTS, A_RUN=str(harness.folder))
    assert ran.code == 1, ran.err
    by_system = rows(harness.out)
    assert by_system["good"]["status"] == "ok"
    for how in ("hang", "children", "stubborn"):
        assert "took longer than the timeout of 5 s" in by_system[how]["error"]
    assert any("in children" in text for text in logs_named(harness, ran.err))  # the Python stack
    assert living(f"A_RUN={harness.folder}") == []


@pytest.mark.skipif(
    sys.platform != "linux", reason="other systems do not say which processes descend from one"
)
def test_processes_that_leave_their_session_and_ignore_sigterm_end_with_their_worker(
    harness: Harness,
) -> None:
    harness.suite(suite())
    assert harness.run().code == 0
    ways = ("leave_and_go_on", "leave_and_fail", "leave_and_hang", "leave_and_exit")
    harness.suite(suite(8.0, **{how: bad(how) for how in ways}))
    ran = harness.run(PYTHONPATH=FAULTS, TOY_LEFT=str(harness.folder / "left"))
    assert ran.code == 1, ran.err
    left = [Path(f"/proc/{number}") for number in (harness.folder / "left").read_text().split()]
    assert len(left) == 7
    until = time.monotonic() + 20  # whoever takes over the killed ones may be slow to wait for them
    while any(path.exists() for path in left) and time.monotonic() < until:
        time.sleep(0.1)
    assert [path.name for path in left if path.exists()] == []


def test_a_step_that_fails_over_what_a_killed_run_left_is_done_from_the_start(harness: Harness) -> None:
    harness.suite(suite(bad=bad("trust_leftovers")))
    killed = harness.start(*harness.run_arguments(), PYTHONPATH=FAULTS, TOY_HANG="1")
    until(lambda: list(harness.store.glob("partial/index-*/files/part")))
    killed.kill()
    finished(killed)
    ran = harness.run(PYTHONPATH=FAULTS)
    assert ran.code == 0, ran.err
    assert "it is done from the start" in ran.err
    by_system = rows(harness.out)
    assert by_system["bad"]["measures"] == by_system["good"]["measures"]


def test_plugins_that_do_not_load_stop_neither_the_list_nor_a_run(harness: Harness) -> None:
    harness.suite(suite())
    # a cache of its own, because crashes at import are remembered
    variables = {"PYTHONPATH": f"{FAULTS}/broken", "XDG_CACHE_HOME": str(harness.folder / "cache")}
    listed = harness.command("list", "retrievers", **variables)
    assert listed.code == 0, listed.err
    assert "overlap" in listed.out
    shown = harness.command("plugins", **variables)
    assert "RuntimeError: the plugin was asked to fail" in shown.out
    assert "SystemExit: 7" in shown.out
    assert re.search(r"^crashes .*its import ends the process \(SIGSEGV\)", shown.out, re.M)
    for command in (listed, shown):
        assert "welcome" not in command.out
    schema = harness.command("schema", "suite", **variables)
    assert orjson.loads(schema.out)["title"]
    assert harness.run(**variables).code == 0
