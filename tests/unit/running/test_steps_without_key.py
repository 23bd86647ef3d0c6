"""Results that depend on more than their key holds are gone after a run, from the remote too."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from step_samples import COST, INDEX, step

from harness.running import suite_run
from harness.store.artifacts import Store
from harness.store.manifest import NOT_KEYED
from harness.store.remote import Remote


def test_what_a_cluster_s_node_has_pushed_is_removed_from_the_remote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store").open()
    store.remote = Remote((tmp_path / "shared").as_uri())
    made = step(INDEX, "x", "")
    with store.claim(made.id, lambda: None) as folder:
        assert folder is not None
        store.finish(made.id, INDEX.keyed, {"texts": 3, NOT_KEYED: ["reads files"]}, COST)
    assert store.remote.push(store, made.id)
    monkeypatch.setattr(suite_run, "_executed", lambda *_: None)
    prepared: Any = SimpleNamespace(plan=SimpleNamespace(steps={made.id: made}))
    reporter: Any = None
    suite_run.execute(prepared, store, tmp_path, reporter)
    assert not store.has(made.id)
    assert not store.remote.has(made.id)
