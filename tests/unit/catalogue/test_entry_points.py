"""Entry points are read from the files that installers write."""

import importlib.metadata
from pathlib import Path

from harness.catalogue import entry_points
from harness.hookspecs import PROJECT


def installed(folder: Path, name: str, text: str, metadata: str | None = None) -> None:
    place = folder / f"{name}-1.0.dist-info"
    place.mkdir(parents=True)
    (place / "entry_points.txt").write_text(text)
    (place / "METADATA").write_text(
        metadata or f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n\nVersion: 9\n"
    )


def test_they_are_those_that_importlib_finds():
    slow = importlib.metadata.entry_points(group=PROJECT)
    expected = {(point.name, point.value, point.dist.name, point.dist.version) for point in slow}
    assert {tuple(point) for point in entry_points.find(PROJECT)} == expected


def test_only_the_group_is_read(tmp_path):
    installed(tmp_path, "one", "[other]\na = x\n\n[group]\n# no\nb = y:z [extra]\n[more]\nc = z\n")
    assert entry_points.find("group", [str(tmp_path)]) == [("b", "y:z [extra]", "one", "1.0")]


def test_the_first_distribution_of_a_name_hides_the_others(tmp_path):
    installed(tmp_path / "a", "My_Plugin", "[group]\na = first\n")
    installed(tmp_path / "b", "my_plugin", "[group]\na = second\n")
    folders = [str(tmp_path / "none"), str(tmp_path / "a"), str(tmp_path / "b")]
    assert [point.value for point in entry_points.find("group", folders)] == ["first"]


def test_an_attribute_is_loaded_from_its_module():
    assert entry_points.EntryPoint("x", "os:path.join", "d", "1").load() is __import__("os").path.join
