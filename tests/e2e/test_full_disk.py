"""Every command that writes files says on a full disk where, what and what to do, and leaves nothing half."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from running import EVERYTHING, Harness, Ran

from harness_forms.collection_forms import FORMS

ADVICE = "no space left on the device; free some and run again: finished steps are kept"
REPORT = [
    pytest.mark.extras,
    pytest.mark.skipif(find_spec("vl_convert") is None, reason="needs the extra report"),
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    place = Harness(tmp_path_factory.mktemp("full"), here=True)
    place.suite({**EVERYTHING, "systems": {"loud": EVERYTHING["systems"]["loud"]}})
    ran = place.run()
    assert ran.code == 0, ran.err
    (place.folder / "judgements.tsv").write_text("q0 0 d0-0 1\n")
    assert place.command("datasets", "show", "suite.yaml", "--store", "store").code == 0
    return place


@contextmanager
def no_room() -> Iterator[None]:
    """No file of this process can grow, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def ran_without_room(place: Harness, words: str) -> Ran:
    with no_room():
        return place.command(*words.split())


@pytest.mark.parametrize(("words", "named"), [
    pytest.param("report out --out page/report.html --store store", "page/report.html", marks=REPORT),
    pytest.param("pictures out", "out", marks=REPORT),
    ("inspect suite.yaml --write composed --store store", "composed/toy"),
    ("merge out --out merged", "merged"),
    ("site out --out pages", "pages"),
    ("eval overlap toy --out quick --store store", "quick"),
    ("run suite.yaml --out other --store store", "other"),
    *[(f"export out --form {form} --out exported --store store", "exported")
      for form in ("trec", "mteb", "csv", "ir-metadata", "msmarco")],
    *[(f"datasets export suite.yaml toy --form {form} --out data --store store", "data") for form in FORMS],
])  # fmt: skip
def test_a_full_disk_is_told_in_one_line_with_the_place(finished: Harness, words: str, named: str) -> None:
    before = contents(finished.folder)
    ran = ran_without_room(finished, words)
    assert ran.code == 1, ran.err
    assert "Traceback" not in ran.err
    assert ran.err.splitlines()[-1] == f"{named}: {ADVICE}"
    assert contents(finished.folder) == before


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder outside the store, with their bytes."""
    files = (path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith("store/")}


def test_a_new_plugin_that_found_no_room_can_be_asked_for_again(finished: Harness) -> None:
    ran = ran_without_room(finished, "new-plugin roomy --into made")
    assert ran.code == 2
    assert "harness-roomy: cannot be written (file too large); choose another --into" in ran.err
    assert finished.command("new-plugin", "roomy", "--into", "made").code == 0


def test_without_room_for_temporary_files_score_says_so(
    finished: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", None)  # looked for again, as in a new process
    [run] = (finished.out / "runs").rglob("loud*")
    ran = ran_without_room(finished, f"score --run {run} --qrels judgements.tsv --out scored")
    assert ran.code == 1, ran.err
    assert ran.err.startswith("the folder of temporary files: no usable temporary directory found")
