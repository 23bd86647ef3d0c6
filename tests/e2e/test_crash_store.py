"""Folders that are no store, stores of another version, and stores that may only be read."""

import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from running import Harness, results


def refused(harness: Harness, store: Path, code: int) -> str:
    """The one line that a run ends with."""
    ran = harness.run("suite.yaml", "--store", store)
    assert ran.code == code, ran.err
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1, ran.err
    return ran.err.strip()


def test_a_folder_with_other_files_is_refused_and_left_alone(everything: Harness) -> None:
    everything.store.mkdir()
    (everything.store / "thesis.tex").write_text("ten years of work")
    line = refused(everything, everything.store, 2)
    advice = "choose an empty or new folder with --store"
    assert line == f"{everything.store}: is not a store, and holds other files; {advice}"
    assert [path.name for path in everything.store.iterdir()] == ["thesis.tex"]


def test_a_store_of_another_version_is_refused(everything: Harness) -> None:
    everything.store.mkdir()
    for mark in (b"passage-harness store, layout 2\n", b"", b"\xff\x00"):
        (everything.store / "layout").write_bytes(mark)
        line = refused(everything, everything.store, 2)
        made = "was made by another version of passage-harness; choose another with --store"
        assert line == f"{everything.store}: {made}"


def test_a_file_in_the_place_of_a_store_or_of_its_folders_is_named(everything: Harness) -> None:
    everything.store.write_text("no folder")
    line = refused(everything, everything.store, 1)
    assert line == f"{everything.store}: file exists; choose another folder with --store or --out"
    below = everything.store / "deeper"
    line = refused(everything, below, 1)
    assert line.startswith(f"{below}: not a directory; ")
    everything.store.unlink()
    assert everything.run().code == 0
    for path in (everything.store / "partial").iterdir():
        path.unlink()
    (everything.store / "partial").rmdir()
    (everything.store / "partial").write_text("no folder")
    line = refused(everything, everything.store, 1)
    assert line.startswith(f"{everything.store}/partial: file exists; ")


def test_a_file_in_the_place_of_the_output_is_named(everything: Harness) -> None:
    everything.out.write_text("no folder")
    ran = everything.run()
    assert ran.code == 1
    assert ran.err.splitlines()[-1].startswith(f"{everything.out}: file exists; ")
    assert "Traceback" not in ran.err
    assert "[1/" not in ran.err  # it was tried before the first step


@pytest.fixture
def read_only(everything: Harness) -> Iterator[Path]:
    """A finished store, bound to a folder that nothing may be written to, not even by root."""
    assert everything.run().code == 0
    bound = everything.folder / "bound"
    bound.mkdir()
    for words in (
        ["mount", "--bind", str(everything.store), str(bound)],
        ["mount", "-o", "remount,ro,bind", str(bound)],
    ):
        done = subprocess.run(words, capture_output=True, check=False)
        if done.returncode:
            subprocess.run(["umount", "-l", str(bound)], capture_output=True, check=False)
            pytest.skip(f"may not mount here: {done.stderr.decode().strip()}")
    try:
        yield bound
    finally:
        subprocess.run(["umount", "-l", str(bound)], check=True)


def test_a_read_only_store_serves_what_it_has_and_refuses_the_rest_in_one_line(
    everything: Harness, read_only: Path, undisturbed: dict[str, bytes]
) -> None:
    second = everything.folder / "second"
    ran = everything.run("suite.yaml", "--store", read_only, "--out", second)
    assert ran.code == 0, ran.err
    assert results(second) == undisturbed
    everything.suite(
        {
            "suite": "more",
            "datasets": {"toy": {"toy": {"documents": 5}}},
            "systems": {"plain": {"retriever": "overlap"}},
            "measures": ["RR@5"],
            "depth": 5,
        }
    )
    ran = everything.run("suite.yaml", "--store", read_only, "--out", everything.folder / "third")
    assert ran.code == 1
    assert "Traceback" not in ran.err
    last = ran.err.splitlines()[-1]
    assert last.startswith(str(read_only))
    assert last.endswith("read-only file system; choose another folder with --store or --out")


@pytest.mark.extras
def test_a_read_only_disk_is_named_by_what_would_write_there(everything: Harness, read_only: Path) -> None:
    commands = [
        "inspect suite.yaml --write {} --store store",
        "export out --form trec --out {} --store store",
        "merge out --out {}",
        *(["report out --out {}.html --store store"] if find_spec("vl_convert") else []),
    ]
    for words in commands:
        ran = everything.command(*words.format(read_only / "deep").split())
        assert ran.code == 1, ran.err
        assert "Traceback" not in ran.err
        line = ran.err.splitlines()[-1]
        assert line.startswith(str(read_only))
        assert line.endswith("read-only file system; choose another folder with --store or --out")


def test_cache_gc_says_that_a_store_is_read_only_before_it_says_anything_else(
    everything: Harness, read_only: Path
) -> None:
    ran = everything.command("cache", "gc", "--store", read_only, "--unused-for", "0")
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err == f"{read_only}: is read-only, so that nothing can be removed; make it writable\n"
    assert everything.command("cache", "gc", "--store", read_only, "--dry-run").code == 0
