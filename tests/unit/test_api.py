"""The functions for notebooks, where they decide something themselves."""

from harness import api, user_cache
from harness.catalogue import probe
from harness.catalogue.entry_points import EntryPoint


def test_the_default_store_can_be_opened_after_other_commands_used_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    probe.crash_of(EntryPoint("json", "json", "stranger", "1"))  # as `harness list` does
    user_cache.compiled_code().mkdir(parents=True)  # as a run with `--store` does
    assert api.opened_store(None).root.is_relative_to(tmp_path)
