"""A run says before its first step that the disk may be too small for what it writes."""

from collections import namedtuple

from harness.cli import main
from harness.leaderboard import run_space

SUITE = """
suite: small
datasets: {tour: {tour: {documents: 20}}}
systems: {bm25: {retriever: bm25}, ql: {retriever: ql}}
measures: [nDCG@10]
depth: 20
"""
Usage = namedtuple("Usage", "total used free")


def test_too_little_room_for_the_runs_is_said_before_the_first_step(tmp_path, monkeypatch, capsys):
    (tmp_path / "suite.yaml").write_text(SUITE)
    words = [
        "run",
        str(tmp_path / "suite.yaml"),
        "--out",
        str(tmp_path / "out"),
        "--store",
        str(tmp_path / "store"),
    ]
    assert main(words) == 0
    assert "are free" not in capsys.readouterr().err
    monkeypatch.setattr(run_space.shutil, "disk_usage", lambda folder: Usage(0, 0, 1000))
    assert main([*words, "--fresh"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("choose another folder with --out")
    assert "0.0 MB are free, and the runs may take up to 0.0" in lines[0]
