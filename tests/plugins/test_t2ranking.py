"""T2Ranking is read in the files of its release, and every fault is named by file and line."""

import gzip
import re
from pathlib import Path

import pytest
import zstandard

from harness import testing
from harness.collection.corpus import write
from harness.errors import HarnessError
from harness.types import Document, Judgement, Passage, Query
from harness_t2ranking import T2RankingParams, harness_datasets
from harness_t2ranking.source import T2Ranking

RECORD = next(iter(harness_datasets()))
CORPUS = 'pid\ttext\n0\t"桂花"在秋天开放。\u2028\x1e第二行\n1\t\n2\t荷花在夏天开放。\n'
QUERIES = "qid\ttext\n11\t桂花什么时候开\u0085放\n10\t荷花几月开\n12\t没有人判断\n"
GRADES = "qid\t-\tpid\trel\n11\t0\t0\t3\n11\t0\t2\t1\n10\t0\t2\t2\n10\t0\t99\t0\n"
POSITIVES = "qid\tpid\n11\t0\n10\t2\n10\t99\n"
NAMES = {
    "corpus": "collection.tsv",
    "queries": "queries.dev.tsv",
    "grades": "qrels.dev.tsv",
    "positives": "qrels.retrieval.dev.tsv",
}
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"


def release(path: Path, folder: str = "", **contents: str | bytes) -> T2RankingParams:
    given = {"corpus": CORPUS, "queries": QUERIES, "grades": GRADES, "positives": POSITIVES, **contents}
    (path / folder).mkdir(parents=True, exist_ok=True)
    for key, content in given.items():
        target = path / folder / NAMES[key]
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return T2RankingParams(path=path)


def fault(values: T2RankingParams, part: str) -> str:
    with pytest.raises(HarnessError) as caught:
        list(getattr(T2Ranking(values), part)())
    return str(caught.value).removeprefix(f"{values.path}/")


def test_a_table_of_domains_gives_the_queries_their_slices(tmp_path):
    release(tmp_path)
    labels = tmp_path / "domains.tsv"
    labels.write_text("11\t植物\n99\tof another split\n11\t季节\n10\t植物\n", encoding="utf-8")
    source = T2Ranking(T2RankingParams(path=tmp_path, slices=labels))
    slices = {query.id: query.slices for query in source.queries()}
    assert slices == {"11": ("植物", "季节"), "10": ("植物",), "12": ()}
    assert labels in source.inputs("queries").files
    assert labels not in source.inputs("judgements").files


@pytest.mark.parametrize(("text", "line", "culprit"), [
    ("11\ta\n10\n", 2, "got 1 columns"),
    ("11\t\n", 1, "an empty"),
    ("11\ta\n11\ta\n", 2, "'11' is already in the slice 'a'"),
    ("99\ta\n", 1, "no query"),
])  # fmt: skip
def test_a_damaged_table_of_slices_is_named_by_its_line(tmp_path, text, line, culprit):
    (tmp_path / "domains.tsv").write_text(text)
    release(tmp_path)
    values = T2RankingParams(path=tmp_path, slices=tmp_path / "domains.tsv")
    assert re.match(f"domains.tsv:{line}: .*{culprit}", fault(values, "queries"))


@pytest.mark.parametrize("judgements", ["graded", "retrieval"])
@pytest.mark.parametrize("case", testing.cases("dataset", RECORD), ids=lambda case: case.name)
def test_it_keeps_the_contract_of_datasets(case, judgements, tmp_path):
    release(tmp_path / "data")
    given = {"path": str(tmp_path / "data"), "judgements": judgements}
    testing.Case(case.kind, case.method, case.check, given)(tmp_path)


@pytest.mark.parametrize("folder", ["", "data"], ids=["beside each other", "as on the hub"])
def test_the_release_is_read(tmp_path, folder):
    source = T2Ranking(release(tmp_path, folder))
    assert list(source.documents()) == [
        Document("0", "", (Passage("0", '"桂花"在秋天开放。\u2028\x1e第二行'),)),
        Document("1", "", (Passage("1", ""),)),
        Document("2", "", (Passage("2", "荷花在夏天开放。"),)),
    ]
    assert list(source.queries()) == [
        Query("11", "桂花什么时候开\u0085放"),
        Query("10", "荷花几月开"),
        Query("12", "没有人判断"),
    ]


def test_graded_judgements_keep_their_grades_and_missing_passages(tmp_path):
    assert list(T2Ranking(release(tmp_path)).judgements()) == [
        Judgement("11", "0", 3),
        Judgement("11", "2", 1),
        Judgement("10", "2", 2),
        Judgement("10", "99", 0),
    ]


def test_retrieval_judgements_are_positives_of_grade_one(tmp_path):
    release(tmp_path)
    source = T2Ranking(T2RankingParams(path=tmp_path, judgements="retrieval"))
    assert list(source.judgements()) == [
        Judgement("11", "0", 1),
        Judgement("10", "2", 1),
        Judgement("10", "99", 1),
    ]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_files_are_read(tmp_path, suffix):
    compress = gzip.compress if suffix == ".gz" else zstandard.ZstdCompressor().compress
    values = release(tmp_path)
    for path in sorted(tmp_path.iterdir()):
        path.with_name(path.name + suffix).write_bytes(compress(path.read_bytes()))
        path.unlink()
    source = T2Ranking(values)
    assert len(list(source.documents())) == 3
    assert len(list(source.queries())) == 3
    assert len(list(source.judgements())) == 4


def test_each_part_names_the_files_that_it_reads(tmp_path):
    source = T2Ranking(release(tmp_path))
    parts = ("corpus", "queries", "judgements")
    named = [[path.name for path in source.inputs(part).files] for part in parts]
    assert named == [["collection.tsv"], ["queries.dev.tsv"], ["qrels.dev.tsv", "queries.dev.tsv"]]
    other = T2Ranking(T2RankingParams(path=tmp_path, judgements="retrieval"))
    assert [source.inputs(part) == other.inputs(part) for part in parts] == [True, True, False]


def test_the_card_says_what_the_release_says(tmp_path):
    card = T2Ranking(T2RankingParams(path=tmp_path, split="train")).card()
    assert (card.language, card.split, card.licence) == ("zh", "train", "Apache-2.0")


def test_a_duplicated_pid_is_named_by_both_lines(tmp_path):
    values = release(tmp_path / "data", corpus=CORPUS + "\n1\t又一次\n")
    with pytest.raises(HarnessError) as caught:
        write(T2Ranking(values), tmp_path / "corpus", lambda done, total: None)
    assert "collection.tsv:3" in str(caught.value)
    assert "collection.tsv:6" in str(caught.value)


@pytest.mark.parametrize(("contents", "part", "line", "culprit"), [
    ({"corpus": "0\t桂花\n"}, "rows", 1, "header is missing"),
    ({"corpus": "pid\tpassage\n0\t桂花\n"}, "rows", 1, "header must be: pid, text"),
    ({"corpus": "pid\ttitle\ttext\n0\tT\t桂花\n"}, "rows", 1, "header must be: pid, text"),
    ({"corpus": CORPUS + "pid\ttext\n"}, "rows", 5, "header .*again"),
    ({"corpus": CORPUS + "3\t一\t二\n"}, "rows", 5, r"2 columns .*\(pid, text\), got 3"),
    ({"corpus": CORPUS + "3\n"}, "rows", 5, "2 columns .*got 1"),
    ({"corpus": CORPUS + "3 四\u2028\t五\t六\n"}, "rows", 5, "2 columns .*got 3"),
    ({"corpus": CORPUS + "\t五\n"}, "rows", 5, "'pid' is empty"),
    ({"corpus": CORPUS.encode() + b"3\t\xff\n"}, "rows", 5, "byte 3 "),
    ({"corpus": "pid\ttext\n"}, "rows", 1, "no passage"),
    ({"corpus": ""}, "rows", 1, "empty"),
    ({"corpus": "\n\n"}, "rows", 1, "only blank lines"),
    ({"corpus": POINTER}, "rows", 1, "Git LFS"),
    ({"corpus": gzip.compress(CORPUS.encode(), mtime=0)}, "rows", 1, "compressed; .*[.]gz"),
    ({"queries": QUERIES + "11\t又一次\n"}, "queries", 5, "'11' is already at line 2"),
    ({"queries": "11\t桂花\n"}, "queries", 1, "header is missing"),
    ({"queries": CORPUS}, "queries", 1, "header must be: qid, text"),
    ({"grades": POSITIVES}, "judgements", 1, "header must be: qid, -, pid, rel"),
    ({"grades": GRADES + "11\t0\t0\t1\n"}, "judgements", 6, "'11' and passage '0' .*line 2"),
    ({"grades": GRADES + "11\t0\t1\t4\n"}, "judgements", 6, "0 to 3, got '4'"),
    ({"grades": GRADES + "11\t0\t1\tx\n"}, "judgements", 6, "0 to 3, got 'x'"),
    ({"grades": GRADES + "11\t0\t\t1\n"}, "judgements", 6, "'pid' is empty"),
    ({"grades": GRADES + "13\t0\t1\t1\n"}, "judgements", 6, "'13' is judged"),
    ({"grades": GRADES.replace("\t", " ")}, "judgements", 1, "header must be"),
    ({"grades": "qid\t-\tpid\trel\n"}, "judgements", 1, "no judgement"),
])  # fmt: skip
def test_a_fault_of_the_release_is_named_by_file_and_line(tmp_path, contents, part, line, culprit):
    file = {"rows": "collection.tsv", "queries": "queries.dev.tsv", "judgements": "qrels.dev.tsv"}[part]
    assert re.match(f"{file}:{line}: .*{culprit}", fault(release(tmp_path, **contents), part))


def test_truncated_data_is_named_by_its_line(tmp_path):
    values = release(tmp_path)
    (tmp_path / "collection.tsv").unlink()
    (tmp_path / "collection.tsv.gz").write_bytes(gzip.compress(CORPUS.encode(), mtime=0)[:-9])
    message = fault(values, "rows")
    assert message.startswith("collection.tsv.gz:")
    assert "the gzip data ends early" in message


def test_a_split_without_published_judgements_says_which_file_is_missing(tmp_path):
    release(tmp_path)
    (tmp_path / "queries.test.tsv").write_text(QUERIES, encoding="utf-8")
    values = T2RankingParams(path=tmp_path, split="test")
    assert len(list(T2Ranking(values).queries())) == 3
    assert fault(values, "judgements").startswith("qrels.test.tsv: there is no such file")


def test_a_split_is_a_plain_name():
    with pytest.raises(ValueError, match="no plain name"):
        T2RankingParams(path=Path(), split="../dev")


def test_the_card_holds_what_the_paper_prints():
    printed = T2Ranking(T2RankingParams(path=Path(), split="test")).card().official[0].counts
    assert (printed["passages"], printed["queries"], printed["query_characters.mean"]) == (
        2_303_643,
        49_662,
        10.99,
    )
    assert T2Ranking(T2RankingParams(path=Path(), judgements="retrieval")).card().official == ()


def test_what_is_missing_is_fetched_from_the_hub_to_where_it_is_read(tmp_path, monkeypatch):
    release(tmp_path, "data")
    asked = []
    monkeypatch.setattr("harness_t2ranking.source.fetch", lambda url, to: asked.append((url, to)))
    source = T2Ranking(T2RankingParams(path=tmp_path, split="train"))
    base = "https://huggingface.co/datasets/THUIR/T2Ranking/resolve/main/data"
    names = ("queries.train.tsv", "qrels.train.tsv")
    assert list(source.fetch()) == [tmp_path / name for name in names]
    assert asked == [(f"{base}/{name}", tmp_path / name) for name in names]
