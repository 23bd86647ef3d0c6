"""`harness check --data` reads all data and tells every fault of every file at once."""

import json

from harness.cli import main

SUITE = """suite: s
datasets:
  one: {files: {path: one, language: en}}
  two: {files: {path: two, language: en}}
  dev: {files: {path: one, split: dev, language: en}, scored: false}
systems:
  bm25: {retriever: bm25}
  best: {retriever: {bm25: {k1: {tune: {on: dev/dev, measure: RR@10, values: [0.9, 1.2]}}}}}
measures: [RR@10]
"""


def lines(*values) -> str:
    return "".join((value if isinstance(value, str) else json.dumps(value)) + "\n" for value in values)


def passage(number: int, **more) -> dict[str, object]:
    return {"_id": f"p{number}", "text": f"text {number}", **more}


def write(folder, corpus: str, queries: str, qrels: str, dev: str = "") -> None:
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(corpus)
    (folder / "queries.jsonl").write_text(queries)
    header = "query-id\tcorpus-id\tscore\n"
    (folder / "qrels" / "test.tsv").write_text(header + qrels)
    (folder / "qrels" / "dev.tsv").write_text(header + (dev or qrels))


def checked(tmp_path, capsys, monkeypatch) -> tuple[int, str, str]:
    monkeypatch.chdir(tmp_path)
    code = main(["check", "suite.yaml", "--data", "--store", str(tmp_path / "store")])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


SOUND = lines(*map(passage, range(4)))
QUERIES = lines({"_id": "q1", "text": "one"}, {"_id": "q2", "text": "two"})


def test_sound_data_is_counted(tmp_path, capsys, monkeypatch):
    (tmp_path / "suite.yaml").write_text(SUITE)
    write(tmp_path / "one", SOUND, QUERIES, "q1\tp1\t1\nq1\tgone\t1\n", dev="q2\tp1\t1\n")
    write(tmp_path / "two", SOUND, QUERIES, "q1\tp1\t1\nq2\tp2\t1\n")
    code, out, _ = checked(tmp_path, capsys, monkeypatch)
    assert code == 0
    counted = "4 documents, 4 passages, 1 queries, 2 judgements (1 of passages that the corpus lacks)"
    assert f"read: one: {counted}" in out
    assert "read: two: 4 documents, 4 passages, 2 queries, 2 judgements\n" in out


def test_all_faults_of_all_files_are_told_at_once(tmp_path, capsys, monkeypatch):
    (tmp_path / "suite.yaml").write_text(SUITE.replace("retriever: bm25}", "retriever: bm52}"))
    corpus = lines("{", passage(1), passage(2, text=3), "[]", *(["nope"] * 12), passage(3), passage(1))
    queries = lines({"_id": "q1", "text": "one"}, {"_id": "q2"}, {"text": "x"})
    write(tmp_path / "one", corpus, queries, "q1\tp1\tmany\nq1\tp2\nq2\tp2\t1\n", "q1\n1\n")
    write(tmp_path / "two", SOUND + "{\n", QUERIES, "q1\tp1\t1\nq1\tp1\t1\nq9\tp1\t1\n")
    code, _, err = checked(tmp_path, capsys, monkeypatch)
    assert code == 2
    for place in (
        "suite.yaml:7: systems.bm25.retriever: unknown retriever",
        *(f"one/corpus.jsonl:{line}: " for line in (1, 3, 4, 5)),
        "one/corpus.jsonl: and 5 more",
        *(f"one/queries.jsonl:{line}: " for line in (2, 3)),
        *(f"one/qrels/test.tsv:{line}: " for line in (2, 3)),
        *(f"one/qrels/dev.tsv:{line}: " for line in (2, 3)),
        "two/corpus.jsonl:5: ",
        "two/qrels/test.tsv:4: query 'q9' is judged",
        "two/qrels/test.tsv:3: query 'q1' and passage 'p1' are already judged at line 2",
    ):
        assert place in err, place
    assert "one/corpus.jsonl:18: the id 'p" in err  # already there, beside the faults of lines
    assert "q2' is judged" not in err  # its line could not be read, so it may be there
    assert err.count("one/corpus.jsonl:1: ") == err.count("one/qrels/test.tsv:2: ") == 1


def test_a_row_of_several_lines_has_one_fault(tmp_path, capsys, monkeypatch):
    (tmp_path / "suite.yaml").write_text(
        "suite: s\n"
        "datasets:\n"
        "  one: {files: {corpus: corpus.csv, queries: queries.csv, qrels: qrels.txt, language: en}}\n"
        "systems: {bm25: {retriever: bm25}}\n"
        "measures: [RR@10]\n"
    )
    corpus = 'id,text\np0,a\np1,"b\nof three\nlines",more\np2,c,more\np3,d\n'
    (tmp_path / "corpus.csv").write_text(corpus)
    (tmp_path / "queries.csv").write_text("id,text\nq1,one\n")
    (tmp_path / "qrels.txt").write_text("q1 0 p0 1\n")
    code, _, err = checked(tmp_path, capsys, monkeypatch)
    assert code == 2
    faults = [line.partition(": ")[0].rpartition("/")[2] for line in err.splitlines() if "expected" in line]
    assert faults == ["corpus.csv:3", "corpus.csv:6"]
