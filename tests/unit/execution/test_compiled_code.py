"""Stores share compiled code, so that a new store does not wait for the compiler."""

from pathlib import Path

import pytest

from harness import user_cache
from harness.execution import worker_handle
from harness.store.artifacts import Store


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Store]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return [Store(tmp_path / name).open() for name in ("one", "two")]


def compiled(store: Store) -> str:
    return worker_handle._environment(store, threads=1)["NUMBA_CACHE_DIR"]


def test_workers_of_all_stores_keep_it_in_the_users_cache(stores: list[Store]) -> None:
    assert {compiled(store) for store in stores} == {str(user_cache.compiled_code())}


def test_a_store_keeps_it_where_the_users_cache_cannot_be_written(stores: list[Store]) -> None:
    user_cache.compiled_code().parent.mkdir(parents=True)
    user_cache.compiled_code().write_text("no folder")
    assert [compiled(store) for store in stores] == [str(store.compiled) for store in stores]


def test_a_folder_that_the_user_names_is_taken(stores: list[Store], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "named")
    assert {compiled(store) for store in stores} == {"named"}
