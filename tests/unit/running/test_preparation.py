"""A run says before its first step that the disk may be too small for what it writes."""

from collections import namedtuple

from harness.cli import main
from harness.running import preparation

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
    monkeypatch.setattr(preparation.shutil, "disk_usage", lambda folder: Usage(0, 0, 1000))
    assert main([*words, "--fresh"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("choose another folder with --out")
    assert "0.0 MB are free, and the runs may take up to 0.0" in lines[0]


FILES = """
suite: files
datasets: {data: {files: {path: data, language: en}}}
systems: {bm25: {retriever: bm25}}
measures: [nDCG@10]
depth: 20
"""


def test_a_store_without_room_for_a_corpus_is_refused_before_the_first_step(tmp_path, monkeypatch, capsys):
    data = tmp_path / "data"
    (data / "qrels").mkdir(parents=True)
    texts = "".join(f'{{"_id": "p{i}", "title": "", "text": "{i} lanterns"}}\n' for i in range(200))
    (data / "corpus.jsonl").write_text(texts)
    (data / "queries.jsonl").write_text('{"_id": "q", "text": "lanterns"}\n')
    (data / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tp1\t1\n")
    (tmp_path / "suite.yaml").write_text(FILES)
    words = ["run", str(tmp_path / "suite.yaml"), "--store", str(tmp_path / "store")]
    real = preparation.shutil.disk_usage

    def has(free: int) -> None:
        usage = Usage(0, 0, free)
        monkeypatch.setattr(
            preparation.shutil, "disk_usage", lambda path: usage if path.name == "store" else real(path)
        )

    has(len(texts) // 20)
    assert main(words) == 1
    assert "and the files of the corpora (data) have 0.0 MB; make room" in capsys.readouterr().err
    assert not (tmp_path / "leaderboard.json").exists()
    has(len(texts) // 2)  # this may do: files hold more than texts
    assert main(words) == 0
    assert "if the disk is full, make room" in capsys.readouterr().err
    has(1)  # the corpus is in the store now
    assert main(words) == 0
    assert "are free, and the files" not in capsys.readouterr().err
