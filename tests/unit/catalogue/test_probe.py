"""A plugin whose import ends or hangs the process is named, and costs its child once."""

import sys

import pytest

from harness.catalogue import probe
from harness.catalogue.entry_points import EntryPoint


@pytest.fixture
def point(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))

    def written(text: str) -> EntryPoint:
        (tmp_path / "probed_plugin.py").write_text(text)
        return EntryPoint("probed", "probed_plugin", "probed", "1")

    yield written
    sys.modules.pop("probed_plugin", None)


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ends the process (SIGSEGV)"),
        ("import os; os._exit(0)", "ends the process (exit code 0)"),
        ("import time; time.sleep(600)", "takes longer than 3 s"),
    ],
    ids=["segfault", "exit", "hang"],
)
def test_an_import_that_would_take_the_process_along_is_named(point, text, how, monkeypatch):
    plugin = point(text)
    crash = probe.crash_of(plugin, seconds=3 if "sleep" in text else probe.SECONDS)
    assert how in crash
    monkeypatch.setattr(probe, "_tried", lambda *_: pytest.fail("it is remembered"))
    assert probe.crash_of(plugin) == crash


@pytest.mark.parametrize("text", ["x = 1", "raise SystemExit(3)", "print('loud')", "1 / 0"])
def test_an_import_that_only_fails_is_left_to_the_catalogue(point, text):
    assert probe.crash_of(point(text)) is None


def test_a_changed_plugin_is_tried_again(point):
    assert probe.crash_of(point("import os; os._exit(1)")) is not None
    assert probe.crash_of(point("mended = True")) is None


def test_a_kill_from_outside_is_told_and_not_remembered(point, tmp_path):
    plugin = point(f"import os; os.path.exists({str(tmp_path / 'mended')!r}) or os.kill(os.getpid(), 9)")
    assert probe.crash_of(plugin) == "its import ends the process (SIGKILL)"
    (tmp_path / "mended").touch()
    assert probe.crash_of(plugin) is None


def test_the_child_tries_no_more_than_the_plugin(point, tmp_path):
    marker = tmp_path / "marker"
    plugin = point(f"open({str(marker)!r}, 'a').write('x')")
    probe.crash_of(plugin)
    probe.crash_of(plugin)
    assert marker.read_text() == "x"
