"""A remote that lies harms nobody: no other file changes, and there is a right artifact or one message."""

import os
import resource
import shutil
from collections import Counter
from pathlib import Path

import lies
import pytest
from step_samples import COST, FACTS

from harness import cli
from harness.errors import HarnessError
from harness.store import remote as remotes
from harness.store import remote_cleaning
from harness.store.artifacts import Store
from harness.store.remote import Remote

STEP = "index-" + "0" * 64
MOST_MB = 150  # by which the peak of memory may grow over all attacks; one list may have 16 MB


@pytest.fixture(scope="module")
def true_remote(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A remote with one artifact: a file in a folder, an empty one, and one of three pieces."""
    folder = tmp_path_factory.mktemp("true")
    store = Store(folder / "store").open()
    with store.claim(STEP, lambda: None) as files, pytest.MonkeyPatch.context() as patch:
        patch.setattr(remotes, "PIECE", 2000)
        assert files is not None
        (files / "inner").mkdir()
        (files / "inner" / "file").write_text("contents")
        (files / "empty").touch()
        (files / "large").write_text(" ".join(map(str, range(1200))))
        store.finish(STEP, {"kind": "index"}, FACTS, COST)
        Remote((folder / "shared").as_uri()).push(store, STEP)
    return folder


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def attacked(lie: lies.Lie, true_remote: Path, folder: Path) -> str:
    """What a fetch makes of a lie: `right`, or `refused` with one message."""
    shared, outside = folder / "shared", folder / "outside"
    shutil.copytree(true_remote / "shared", shared)
    outside.mkdir()
    victim = outside / "victim.txt"
    victim.write_text("of the user")
    lie(shared, STEP, victim)
    store, remote, notes = Store(outside / "store").open(), Remote(shared.as_uri()), list[str]()
    remote.note = notes.append
    before = files_below(outside)
    try:
        is_fetched = STEP in remote.steps() and remote.fetch(store, STEP, notes.append)
    except HarnessError as error:  # what cannot be read ends the command
        notes.append(str(error))
        is_fetched = False
    assert victim.read_text() == "of the user"
    assert not list(store.partial.glob("*/copied"))
    if not is_fetched:
        assert files_below(outside) == before
        assert len(notes) <= 1, notes
        assert all(note.isprintable() for note in notes), notes
    else:
        right = files_below(true_remote / "store" / "artifacts" / STEP)
        mine = files_below(store.read(STEP).folder)
        assert {**mine, "manifest.json": b""} == {**right, "manifest.json": b""}
        assert notes == []
    os.utime(shared / "steps", (0, 0))
    for path in shared.rglob("*"):
        os.utime(path, (0, 0), follow_symlinks=False)
    old = remote_cleaning.time.time() - 30 * 86400
    remote_cleaning.remove(remote, remote_cleaning.unneeded(remote, old), old, lambda entry: None)
    assert victim.read_text() == "of the user"
    return "right" if is_fetched else "refused"


def outcomes(
    chosen: list[tuple[str, lies.Lie]], true_remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Counter[str]:
    monkeypatch.setattr(remotes, "PIECE", 2000)
    monkeypatch.setattr(remotes, "PAUSES", ())
    before, counts = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, Counter[str]()
    for i, (name, lie) in enumerate(chosen):
        folder = tmp_path / str(i)
        folder.mkdir()
        try:
            counts[attacked(lie, true_remote, folder)] += 1
        except Exception as error:
            raise AssertionError(f"the lie '{name}' led to {type(error).__name__}: {error}") from error
        shutil.rmtree(folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MB * 1024
    print(f"{len(chosen)} lies of a remote: {dict(counts)}")
    return counts


def test_each_lie_of_the_table_is_refused(true_remote, tmp_path, monkeypatch):
    chosen = list(lies.table())
    counts = outcomes(chosen, true_remote, tmp_path, monkeypatch)
    assert counts == {"refused": len(chosen)}


@pytest.mark.parametrize("number", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_mutations_of_a_true_remote_give_a_right_artifact_or_one_message(
    true_remote, tmp_path, monkeypatch, number
):
    chosen = [(f"seed {seed}", lies.mutation(seed)) for seed in range(number)]
    assert outcomes(chosen, true_remote, tmp_path, monkeypatch)["refused"] > number * 0.6


def test_a_list_with_control_characters_in_its_name_is_not_shown(true_remote, tmp_path, capsys):
    shared = tmp_path / "shared"
    shutil.copytree(true_remote / "shared", shared)
    (shared / "steps" / "index-\x1b[2J.json").write_bytes(b"{}")
    lies.list_of(shared, STEP).write_bytes(lies.seal(b"null"))
    assert cli.main(["cache", "ls", "--remote", shared.as_uri()]) == 0
    out = capsys.readouterr().out
    assert out.startswith("index-000000000000000000  damaged: the list of index-000000000000000000 holds no")
    assert "\x1b" not in out
