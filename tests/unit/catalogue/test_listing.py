"""What a list shows is remembered by the plugins' files, and read again when one of them changes."""

import sys

import pytest

from harness.catalogue import entry_points, listing
from harness.catalogue.entry_points import EntryPoint

PLUGIN = """
from harness.hookspecs import hookimpl
from harness.records import Measure

@hookimpl
def harness_measures():
    yield Measure(name="Mine", summary="{summary}", build=lambda: None)
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Writes the only plugin that is installed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(
        entry_points, "find", lambda group: [EntryPoint("mine", "listed_plugin", "passage-harness", "1")]
    )
    folder = tmp_path / "listed_plugin"
    folder.mkdir()

    def write(text):
        (folder / "__init__.py").write_text(text)
        sys.modules.pop("listed_plugin", None)

    yield write
    sys.modules.pop("listed_plugin", None)


def test_a_listing_is_remembered_until_a_file_of_the_plugin_changes(plugin):
    plugin(PLUGIN.format(summary="first"))
    first = listing.load()
    assert [row.summary for row in first[0]] == ["first"]
    sys.modules.pop("listed_plugin")
    assert listing.load() == first
    assert "listed_plugin" not in sys.modules  # remembered
    plugin(PLUGIN.format(summary="the second"))
    assert [row.summary for row in listing.load()[0]] == ["the second"]


def test_a_plugin_that_does_not_load_is_tried_each_time(plugin):
    plugin("raise ImportError('no such thing')")
    for _ in range(2):
        rows, broken = listing.load()
        assert rows == []
        assert broken == ["not loaded: mine (passage-harness): ImportError: no such thing"]


def test_a_damaged_memory_is_made_again(plugin, tmp_path):
    plugin(PLUGIN.format(summary="first"))
    first = listing.load()
    (memory,) = (tmp_path / "cache" / "passage-harness" / "listings").iterdir()
    memory.write_text("[[1, 2")
    assert listing.load() == first
