"""The user's cache folder is where the system has it, or where XDG_CACHE_HOME says."""

import sys
from pathlib import Path

import pytest

from harness import user_cache


def test_xdg_cache_home_is_used(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache.default_store() == tmp_path / "passage-harness" / "store"


@pytest.mark.parametrize(("platform", "folder"), [("linux", ".cache"), ("darwin", "Library/Caches")])
@pytest.mark.parametrize("variable", ["", "relative/path"])
def test_without_it_the_systems_folder_is_used(monkeypatch, tmp_path, platform, folder, variable):
    monkeypatch.setenv("XDG_CACHE_HOME", variable)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert user_cache.listings() == Path(tmp_path, folder, "passage-harness", "listings")
