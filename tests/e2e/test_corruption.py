"""Whatever is changed in an artifact is found when a step or the scoring next reads it, named, and mended."""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import orjson
import pytest
from running import EVERYTHING, Harness, results


@pytest.fixture(scope="module")
def finished_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite, its store and its results."""
    place = Harness(tmp_path_factory.mktemp("finished"), here=True)
    place.suite(EVERYTHING)
    ran = place.run()
    assert ran.code == 0, ran.err
    return place.folder


@pytest.fixture
def copy(harness: Harness, finished_store: Path) -> Harness:
    shutil.copytree(finished_store, harness.folder, dirs_exist_ok=True)
    return harness


def flip(path: Path, place: float = 0.5) -> None:
    """Change one bit of a file; its inode, size and time stamps stay as they were."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(int((before.st_size - 1) * place))
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 0x10]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (
        before.st_ino,
        before.st_size,
        before.st_mtime_ns,
    )


def truncate(path: Path) -> None:
    before = path.stat()
    os.truncate(path, before.st_size // 2)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def remove(path: Path) -> None:
    path.unlink()


def add(path: Path) -> None:
    (path.parent / "added").write_text("something")


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: tuple[Callable[[Path], None], ...] = (flip, truncate, empty, remove, add, replace_by_folder)


def artifact_files(harness: Harness) -> list[Path]:
    return sorted(path for path in harness.store.glob("artifacts/*/*") if path.is_file())


def read_again(harness: Harness, kind: str) -> None:
    """Take away what was made from artifacts of that kind, so that a run reads them again."""
    readers = {
        "corpus": ("augment", "index", "search", "combine", "rerank"),
        "queries": ("search", "combine", "rerank"),
        "augment": ("index", "search", "combine", "rerank"),
        "index": ("search", "combine", "rerank"),
        "search": ("combine", "rerank"),
        "combine": ("rerank",),
    }
    for reader in readers.get(kind, ()):
        for folder in harness.store.glob(f"artifacts/{reader}-*"):
            shutil.rmtree(folder)


def check_mended(
    harness: Harness, damaged: Path, expected: dict[str, bytes], jobs: str = "1", named: bool = True
) -> None:
    """A run names the damaged artifact, by what is wrong and what it is, and gives the same results."""
    ran = harness.run("suite.yaml", "--jobs", jobs)
    assert ran.code == 0, ran.err
    assert results(harness.out) == expected
    assert "Traceback" not in ran.err
    kind = damaged.parent.name.partition("-")[0]
    told = [line for line in ran.err.splitlines() if line.endswith("; it is made again")]
    assert len(told) == named, ran.err
    if named:
        assert told[0].startswith(f"{kind} · toy")
        assert damaged.name in told[0] or "'added'" in told[0]
    verified = harness.command("cache", "verify", "--store", harness.store)
    assert verified.code == 0, verified.out


@pytest.mark.parametrize(
    "kind", ["index", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("corpus", "search"))]
)
def test_a_flipped_bit_is_found_by_the_step_that_reads_it(
    copy: Harness, undisturbed: dict[str, bytes], kind: str
) -> None:
    files = [path for path in artifact_files(copy) if path.parent.name.startswith(kind)]
    damaged = files[0]
    flip(damaged)
    read_again(copy, kind)
    check_mended(copy, damaged, undisturbed, jobs="2")


@pytest.mark.parametrize("name", ["corpus-*/manifest.json", "rerank-*/scores.npy"])
def test_a_flipped_bit_is_found_by_the_scoring_alone(
    copy: Harness, undisturbed: dict[str, bytes], name: str
) -> None:
    (damaged,) = copy.store.glob(f"artifacts/{name}")
    flip(damaged)
    check_mended(copy, damaged, undisturbed)


def test_a_damaged_manifest_of_a_step_that_only_its_cost_is_read_of_is_mended(
    copy: Harness, undisturbed: dict[str, bytes]
) -> None:
    damaged = sorted(copy.store.glob("artifacts/index-*/manifest.json"))[0]
    remove(damaged)
    check_mended(copy, damaged, undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES[1:])
def test_files_cut_emptied_removed_added_or_replaced_are_found(
    copy: Harness, undisturbed: dict[str, bytes], damage: Callable[[Path], None]
) -> None:
    (damaged,) = copy.store.glob("artifacts/rerank-*/passages.npy")
    damage(damaged)
    check_mended(copy, damaged, undisturbed)


def test_verify_names_every_damaged_artifact_and_fails(copy: Harness) -> None:
    damaged = artifact_files(copy)[::7]
    for path in damaged:
        flip(path)
    ran = copy.command("cache", "verify", "--store", copy.store)
    assert ran.code == 1
    for path in damaged:
        line = next(line for line in ran.out.splitlines() if line.startswith(path.parent.name))
        assert path.name in line


def test_everything_damaged_at_once_in_all_ways_is_all_mended(
    copy: Harness, undisturbed: dict[str, bytes]
) -> None:
    for i, path in enumerate(artifact_files(copy)):
        DAMAGES[i % len(DAMAGES)](path)
    ran = copy.run("suite.yaml", "--jobs", "2")
    assert ran.code == 0, ran.err
    assert "Traceback" not in ran.err
    assert results(copy.out) == undisturbed


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("damage", [flip, truncate, remove])
@pytest.mark.parametrize("scored_only", [False, True])
def test_a_bit_a_cut_or_a_deletion_in_any_file_is_mended(
    harness: Harness, finished_store: Path, undisturbed: dict[str, bytes], scored_only: bool,
    damage: Callable[..., None], exhaustive: bool,
) -> None:  # fmt: skip
    """Every file in every way with `--hypothesis-profile=exhaustive`, else every file in one way."""
    share = [flip, truncate, remove].index(damage)
    for i, path in enumerate(artifact_files(Harness(finished_store))):
        if not exhaustive and i % 3 != share:
            continue
        place = Harness(harness.folder / str(i))
        shutil.copytree(finished_store, place.folder)
        damaged = place.folder / path.relative_to(finished_store)
        kind = path.parent.name.partition("-")[0]
        damage(damaged, **({"place": (i * 0.37) % 1} if damage is flip else {}))
        if not scored_only:
            read_again(place, kind)
        by_a_step = not scored_only and kind not in ("judgements", "rerank")
        read = by_a_step or damaged.name == "manifest.json" or kind not in ("augment", "index")
        ran = place.run()
        assert ran.code == 0, ran.err
        assert results(place.out) == undisturbed
        assert ran.err.count("; it is made again") == int(read), f"{damaged}\n{ran.err}"
        if read:
            how = "is missing" if damage is remove else "was changed"
            assert f"'{damaged.name}' {how}" in ran.err or f"manifest.json {how}" in ran.err
        shutil.rmtree(place.folder)


NONSENSE = [
    b"",
    b"{}",
    b"null",
    b"5",
    b'"\\u0000"',
    b"[" * 100_000,
    b"\xff",
    b'{"step": 5}',
    b"[[]]",
    b"{" * 9,
]
VALUES = [None, {}, [], 5, -1, "", "\0", "../x", [[]], {"": []}, True, 1e300]


def sealed(body: bytes) -> bytes:
    return body + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n"


def nonsense(data: bytes, draw: Random) -> bytes:
    """A manifest that ends with its right digest and is none, or has other values in one or two places."""
    if draw.random() < 0.1:
        return sealed(draw.choice(NONSENSE))
    content = orjson.loads(data.rstrip(b"\n").rpartition(b"\n")[0])
    for _ in range(draw.randint(1, 2)):
        places = [(content, name) for name in content]
        places += [(part, name) for part in content.values() if isinstance(part, dict) for name in part]
        inside, name = draw.choice(places)
        if draw.random() < 0.4:
            inside.pop(name, None)
        else:
            inside[name] = draw.choice(VALUES)
    return sealed(orjson.dumps(content))


@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 20))]
)
def test_manifests_of_nonsense_with_right_digests_end_no_command_with_a_traceback(
    copy: Harness, undisturbed: dict[str, bytes], seed: int
) -> None:
    draw = Random(seed)
    manifests = sorted(copy.store.glob("artifacts/*/manifest.json"))
    for path in draw.sample(manifests, draw.choice((1, 3, len(manifests)))):
        path.write_bytes(nonsense(path.read_bytes(), draw))
    for words in (["cache", "ls"], ["cache", "verify"], ["run", "suite.yaml", "--dry-run", "--estimate"]):
        ran = copy.command(*words, "--store", copy.store)
        assert ran.code in (0, 1), ran.err
        assert "Traceback" not in ran.err
    ran = copy.run()
    assert ran.code == 0, ran.err
    assert results(copy.out) == undisturbed
