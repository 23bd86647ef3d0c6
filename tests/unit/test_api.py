"""The functions for notebooks, where they decide something themselves."""

from pathlib import Path

import pytest

from harness import api, user_cache
from harness.catalogue import probe
from harness.catalogue.entry_points import EntryPoint
from harness.errors import HarnessError


def test_the_default_store_can_be_opened_after_other_commands_used_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    probe.crash_of(EntryPoint("json", "json", "stranger", "1"))  # as `harness list` does
    user_cache.compiled_code().mkdir(parents=True)  # as a run with `--store` does
    assert api.opened_store(None).root.is_relative_to(tmp_path)


def test_rows_to_run_are_a_list_and_not_a_text_that_is_read_letter_by_letter():
    with pytest.raises(
        HarnessError, match=r"expected a list of names, got the text 'bm25'; write \['bm25'\]"
    ):
        api.run({"suite": "s"}, only="bm25")


@pytest.mark.parametrize("form", [str, Path])
def test_a_folder_without_a_leaderboard_is_a_problem(tmp_path, form):
    with pytest.raises(HarnessError, match="results: cannot be read"):
        api.read_leaderboard(form(tmp_path / "results"))
