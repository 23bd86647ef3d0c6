"""A made collection is written in five forms and read back equal; a pool is written for those who judge."""

import json

import pytest

from harness import catalogue, cli
from harness.catalogue import params

DOCUMENTS = [
    {"_id": "p1", "text": "护照有效期是十年。", "title": "", "doc_id": "d1", "paragraph_no": 0},
    {"_id": "p2", "text": "A passport lasts ten years.", "title": "", "doc_id": "d1", "paragraph_no": 1},
    {"_id": "p3", "text": 'Quotes " and \\ stay.', "title": "", "doc_id": "d2", "paragraph_no": 0},
]
SUITE = """
suite: export
datasets:
  raw: {files: {path: raw, split: dev, slices: slices.tsv, language: en, licence: CC0, citation: Ann 2026}, scored: false}
  mine: {of: raw, make: [strip-titles, {pool: {of: [bm25], depth: 2}}]}
systems:
  bm25: {retriever: bm25}
measures: [nDCG@10]
depth: 10
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    (folder / "raw" / "qrels").mkdir(parents=True)
    lines = "".join(f"{json.dumps(row)}\n" for row in DOCUMENTS)
    (folder / "raw" / "corpus.jsonl").write_text(lines, encoding="utf-8")
    queries = "".join(
        f'{{"_id": "q{i}", "text": "how long {i}", "answers": ["{i} years", "{i}"]}}\n' for i in (1, 2)
    )
    (folder / "slices.tsv").write_text("q1\tlong\nq2\tshort\nq1\tEnglish\n", encoding="utf-8")
    (folder / "raw" / "queries.jsonl").write_text(queries, encoding="utf-8")
    (folder / "raw" / "qrels" / "dev.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\tp1\t1\nq1\tp3\t1\nq2\tp2\t1\n", encoding="utf-8"
    )
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    return folder


def written(folder, form, *more):
    arguments = ["--form", form, "--out", str(folder / form), "--store", str(folder / "store"), *more]
    return cli.main(["datasets", "export", str(folder / "suite.yaml"), "mine", *arguments])


def read(plugin, given, folder):
    record = catalogue.load().find("datasets", plugin).record
    values, problems = params.convert(record.params, given, folder)
    assert problems == []
    source = record.build(values)
    passages = {p.id: (d.title, p.text) for d in source.documents() for p in d.passages}
    documents = [(d.id, [p.id for p in d.passages]) for d in source.documents()]
    return passages, documents, list(source.queries()), {tuple(j)[:3] for j in source.judgements()}, source


FORMS = {
    "beir": ("files", {"path": "beir", "split": "dev", "slices": "beir/slices.dev.tsv"}),
    "trec": (
        "files",
        {
            "corpus": "trec/corpus.jsonl", "queries": "trec/topics.{split}.tsv",
            "qrels": "trec/qrels.{split}.txt", "split": "dev",
            "slices": "trec/slices.dev.tsv",
        },
    ),
    "dureader": ("dureader-retrieval", {"path": "dureader", "split": "dev"}),
    "t2ranking": ("t2ranking", {
        "path": "t2ranking", "split": "dev", "judgements": "graded", "slices": "t2ranking/slices.dev.tsv",
    }),
    "mteb": ("mteb", {"path": "./mteb", "split": "dev"}),
}  # fmt: skip


@pytest.mark.parametrize("form", list(FORMS))
def test_what_is_written_is_read_back_equal(form, exported, capsys):
    assert written(exported, form) == 0
    plugin, given = FORMS[form]
    passages, documents, queries, judgements, source = read(plugin, given, exported)
    assert passages == {row["_id"]: ("", row["text"]) for row in DOCUMENTS}
    assert [(query.id, query.text) for query in queries] == [("q1", "how long 1"), ("q2", "how long 2")]
    assert judgements == {("q1", "p1", 1), ("q1", "p3", 1), ("q2", "p2", 1)}
    assert [query.answers for query in queries] == (
        [("1 years", "1"), ("2 years", "2")] if form == "beir" else [(), ()]
    )
    without = form in ("dureader", "mteb")
    assert [query.slices for query in queries] == ([(), ()] if without else [("long", "English"), ("short",)])
    if form in ("beir", "trec"):
        assert documents == [("d1", ["p1", "p2"]), ("d2", ["p3"])]
    else:
        assert "every passage stands alone" in capsys.readouterr().out
    if form == "mteb":
        assert (source.card().language, source.card().licence) == ("en", "CC0")
    page = (exported / form / "README.md").read_text(encoding="utf-8")
    assert ("answers of queries are left out" in page, "slices of queries are left out" in page) == (
        form != "beir", without
    )  # fmt: skip
    assert "Cite: Ann 2026" in page
    assert "| strip-titles |" in page
    card = json.loads((exported / form / "card.json").read_text(encoding="utf-8"))
    assert (card["licence"], card["citation"], card["language"]) == ("CC0", "Ann 2026", "en")
    assert (card["counts"]["passages"], card["counts"]["levels"]) == (3, {"1": 3})
    assert [stage["maker"] for stage in card["stages"]] == ["strip-titles", "pool"]
    if form == "beir":  # the card of the folder says what the suite does not
        assert source.card()[:5] == ("en", "dev", None, "CC0", "Ann 2026")


def test_the_pool_of_a_stage_is_written_for_those_who_judge(exported):
    assert written(exported, "pool") == 0
    header = json.loads((exported / "pool" / "pool.json").read_text())
    assert header["name"] == "mine"
    assert header["counts"]["pairs"] == len((exported / "pool" / "pairs.jsonl").read_text().splitlines())


def test_a_folder_with_files_is_left_alone(exported, capsys):
    (exported / "full").mkdir()
    (exported / "full" / "mine.txt").write_text("x")
    assert written(exported, "beir", "--out", str(exported / "full")) == 2
    assert "name another folder" in capsys.readouterr().err
    assert [path.name for path in (exported / "full").iterdir()] == ["mine.txt"]


def test_a_tab_in_a_text_is_refused_by_a_table(exported, capsys):
    path = exported / "raw" / "corpus.jsonl"
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace("ten years", "ten\\tyears"), encoding="utf-8")
    try:
        assert written(exported, "t2ranking", "--out", str(exported / "tab")) == 2
    finally:
        path.write_text(before, encoding="utf-8")
    assert "the passage 'p2' has a tab or a line end" in capsys.readouterr().err
    assert not (exported / "tab").exists()


def test_the_rows_of_a_folder_with_a_machines_judgements_are_flagged(exported, tmp_path):
    (tmp_path / "machine.tsv").write_text(
        "query\tpassage\tgrade\tkind\nq1\tp2\t1\tmachine\n", encoding="utf-8"
    )
    stage = "{judged: {file: machine.tsv, take: machine}}"
    text = SUITE.replace("path: raw", f"path: {exported}/raw").replace(
        "slices: ", f"slices: {exported}/raw/../"
    )
    text = text.replace("strip-titles, {pool: {of: [bm25], depth: 2}}", stage)
    (tmp_path / "suite.yaml").write_text(text, encoding="utf-8")
    store = ["--store", str(tmp_path / "store")]
    out = ["--form", "beir", "--out", str(tmp_path / "beir")]
    assert cli.main(["datasets", "export", str(tmp_path / "suite.yaml"), "mine", *out, *store]) == 0
    flag = "1 of the 1 judgements that were taken in are by a machine"
    assert f"- {flag}\n" in (tmp_path / "beir" / "README.md").read_text(encoding="utf-8")
    use = (
        "datasets: {mine: {files: {path: beir, split: dev}}}\nsystems: {a: {retriever: bm25}}\nmeasures: [AP]"
    )
    (tmp_path / "use.yaml").write_text(use, encoding="utf-8")
    assert cli.main(["run", str(tmp_path / "use.yaml"), "--out", str(tmp_path / "used"), *store]) == 0
    row = json.loads((tmp_path / "used" / "leaderboard.json").read_text(encoding="utf-8"))["rows"][0]
    assert flag in row["flags"]
