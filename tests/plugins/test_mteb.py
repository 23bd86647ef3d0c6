"""Tasks of MTEB and BEIR are read in the layouts that they have on the hub, in folders and in zip files."""

import json
import os
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness import testing
from harness.catalogue import params
from harness.collection.corpus import write
from harness.errors import HarnessError
from harness.types import Document, Judgement, Passage, Query
from harness_mteb import MtebParams, harness_datasets, places
from harness_mteb.source import Mteb

pytestmark = pytest.mark.extras

RECORD = next(record for record in harness_datasets() if record.name == "mteb")
CORPUS = [
    {"_id": "p1", "title": "Tea", "text": "Tea has caffeine.\u2028More."},
    {"_id": "p2", "title": "", "text": "Water has none."},
]
QUERIES = [{"_id": "q1", "text": "what has caffeine"}, {"_id": "q2", "text": "asked in train"}]
TEST = [
    {"query-id": "q1", "corpus-id": "p1", "score": 2.0},
    {"query-id": "q1", "corpus-id": "p2", "score": 0.0},
]
TRAIN = [{"query-id": "q2", "corpus-id": "p2", "score": 1.0}]
README = """---
language:
- eng
license: cc-by-sa-4.0
configs:
- config_name: default
  data_files:
  - split: train
    path: qrels/train.jsonl
  - split: test
    path: qrels/test.jsonl
- config_name: corpus
  data_files:
  - split: corpus
    path: corpus.jsonl
- config_name: queries
  data_files:
  - split: queries
    path: queries.jsonl
---
# SciFact
"""
C_MTEB = """---
configs:
- config_name: default
  data_files:
  - split: corpus
    path: data/corpus-*
  - split: queries
    path: data/queries-*
---
"""
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def jsonl(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def parquet(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def on_the_hub(folder: Path) -> None:
    """As mteb/scifact is: JSON lines, and a README that says where they are."""
    jsonl(folder / "corpus.jsonl", CORPUS)
    jsonl(folder / "queries.jsonl", QUERIES)
    jsonl(folder / "qrels/test.jsonl", TEST)
    jsonl(folder / "qrels/train.jsonl", TRAIN)
    (folder / "README.md").write_text(README, encoding="utf-8")


def in_parquet(folder: Path) -> None:
    """As the hub's own conversion and newer tasks are: shards, `id` for `_id`."""
    named = [{"id": row["_id"], "title": row["title"], "text": row["text"]} for row in CORPUS]
    for number, row in enumerate(named):
        parquet(folder / f"corpus/corpus-0000{number}-of-00002.parquet", [row])
    parquet(
        folder / "queries/queries-00000-of-00001.parquet",
        [{"id": row["_id"], "text": row["text"]} for row in QUERIES],
    )
    parquet(folder / "qrels/test-00000-of-00001.parquet", TEST)
    parquet(folder / "qrels/train-00000-of-00001.parquet", TRAIN)


def of_beir(folder: Path) -> None:
    jsonl(folder / "corpus.jsonl", [{**row, "metadata": {}} for row in CORPUS])
    jsonl(folder / "queries.jsonl", QUERIES)
    for split, rows in (("test", TEST), ("train", TRAIN)):
        lines = [f"{row['query-id']}\t{row['corpus-id']}\t{int(row['score'])}\n" for row in rows]
        path = folder / f"qrels/{split}.tsv"
        path.parent.mkdir(exist_ok=True)
        path.write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))


LAYOUTS = [on_the_hub, in_parquet, of_beir]


def packed(folder: Path) -> Path:
    of_beir(folder / "scifact")
    path = folder / "scifact.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.mkdir("scifact")
        for file in sorted((folder / "scifact").rglob("*.*")):
            made.write(file, file.relative_to(folder))
    return path


def task(path, **given):
    return Mteb(MtebParams(path=path, **given))


def fault(path: Path, read="documents", **given) -> str:
    with pytest.raises(HarnessError) as caught:
        list(getattr(task(path, **given), read)())
    return str(caught.value).removeprefix(f"{path}/")


def check_content(read) -> None:
    assert list(read.documents()) == [
        Document("p1", "Tea", (Passage("p1", "Tea has caffeine.\u2028More."),)),
        Document("p2", "", (Passage("p2", "Water has none."),)),
    ]
    assert list(read.queries()) == [Query("q1", "what has caffeine")]
    assert list(read.judgements()) == [Judgement("q1", "p1", 2), Judgement("q1", "p2", 0)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", testing.cases("dataset", RECORD), ids=lambda case: case.name)
def test_it_keeps_the_contract_of_datasets(case, layout, tmp_path):
    layout(tmp_path / "data")
    testing.Case(case.kind, case.method, case.check, {"path": str(tmp_path / "data")})(tmp_path)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_folder_is_read_as_it_is_laid_out(layout, tmp_path):
    layout(tmp_path)
    check_content(task(tmp_path))
    assert [query.id for query in task(tmp_path, split="train").queries()] == ["q2"]


def test_a_zip_of_beir_is_read_without_unpacking_it(tmp_path):
    path = packed(tmp_path)
    read = task(path)
    check_content(read)
    assert [read.inputs(part).files for part in ("corpus", "judgements")] == [(path,), (path,)]
    assert read.locate(1) == f"{path}/corpus.jsonl:2"


def test_a_fault_within_a_zip_is_named_by_its_member(tmp_path):
    (tmp_path / "scifact").mkdir()
    of_beir(tmp_path / "scifact")
    (tmp_path / "scifact/corpus.jsonl").write_text('{"_id": "p1"}\n')
    path = tmp_path / "broken.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.write(tmp_path / "scifact/corpus.jsonl", "scifact/corpus.jsonl")
    with pytest.raises(HarnessError, match=rf"^{path}/corpus.jsonl:1: .*'text'"):
        list(task(path).documents())
    with pytest.raises(HarnessError, match=f"{path}.*no qrels/test"):
        list(task(path).judgements())
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(HarnessError, match=f"{path}.*zip"):
        list(task(path).documents())


def test_the_readme_says_language_and_licence(tmp_path):
    on_the_hub(tmp_path)
    card = task(tmp_path).card()
    assert (card.language, card.split, card.licence) == ("en", "test", "cc-by-sa-4.0")
    assert task(tmp_path, language="de").card().language == "de"
    (tmp_path / "README.md").write_text("---\nlanguage: [eng, deu]\n: broken\n---\n")
    assert task(tmp_path).card().language is None


def test_judgements_may_lie_in_a_dataset_of_their_own(tmp_path):
    """As C-MTEB has them, with its names of columns: cMedQA and cCOVID-News are such."""
    parquet(
        tmp_path / "task/data/corpus-00000-of-00001.parquet",
        [{"id": "1", "text": "多喝水"}, {"id": "2", "text": "早点睡"}],
    )
    parquet(tmp_path / "task/data/queries-00000-of-00001.parquet", [{"id": "7", "text": "感冒怎么办"}])
    (tmp_path / "task/README.md").write_text(C_MTEB)
    parquet(tmp_path / "judged/data/dev-00000-of-00001.parquet", [{"qid": "7", "pid": "1", "score": 1}])
    read = task(tmp_path / "task", qrels=tmp_path / "judged", split="dev", language="zh")
    assert [document.id for document in read.documents()] == ["1", "2"]
    assert list(read.queries()) == [Query("7", "感冒怎么办")]
    assert list(read.judgements()) == [Judgement("7", "1", 1)]


def test_a_subset_of_a_multilingual_task_is_chosen_by_name(tmp_path):
    for language, text in (("en", "tea"), ("de", "Tee")):
        jsonl(tmp_path / f"{language}-corpus/test.jsonl", [{"_id": "1", "text": text}])
        jsonl(tmp_path / f"{language}-queries/test.jsonl", [{"_id": "q", "text": text}])
        jsonl(tmp_path / f"{language}-qrels/test.jsonl", [{"query-id": "q", "corpus-id": "1", "score": 1}])
    read = task(tmp_path, subset="de", language="de")
    assert [passage.text for document in read.documents() for passage in document.passages] == ["Tee"]
    assert list(read.queries()) == [Query("q", "Tee")]


def test_a_changed_grade_changes_no_query(tmp_path):
    on_the_hub(tmp_path)
    before = [task(tmp_path).inputs(part) for part in ("corpus", "queries")]
    jsonl(tmp_path / "qrels/test.jsonl", [{**TEST[0], "score": 1}, TEST[1]])
    assert [task(tmp_path).inputs(part) for part in ("corpus", "queries")] == before
    jsonl(tmp_path / "qrels/test.jsonl", [*TEST, *TRAIN])
    assert task(tmp_path).inputs("queries") != before[1]


def test_a_plan_can_say_what_is_missing(tmp_path):
    parts = ("corpus", "queries", "judgements")
    named = [[path.name for path in task(tmp_path / "nowhere").inputs(part).files] for part in parts]
    assert named == [["corpus.jsonl"], ["queries.jsonl", "test.jsonl"], ["test.jsonl"]]


def test_a_duplicated_passage_is_named_by_both_lines(tmp_path):
    on_the_hub(tmp_path / "data")
    jsonl(tmp_path / "data/corpus.jsonl", [*CORPUS, CORPUS[0]])
    with pytest.raises(HarnessError) as caught:
        write(task(tmp_path / "data"), tmp_path / "corpus", lambda done, total: None)
    assert "corpus.jsonl:3: the id 'p1' is already at" in str(caught.value)
    assert "corpus.jsonl:1" in str(caught.value).partition("already at")[2]


@pytest.mark.parametrize(("name", "rows", "read", "place", "culprit"), [
    ("queries.jsonl", [*QUERIES, QUERIES[0]], "queries", "queries.jsonl:3: ", "'q1' is already at line 1"),
    ("queries.jsonl", QUERIES[1:], "queries", "queries.jsonl:1: ", "'q1' is judged (test.jsonl:1)"),
    ("qrels/test.jsonl", [*TEST, TEST[0]], "judgements", "qrels/test.jsonl:3: ", "'q1' and passage 'p1'"),
    ("qrels/test.jsonl", [{**TEST[0], "corpus-id": ""}], "judgements", "qrels/test.jsonl:1: ", "is empty"),
    ("qrels/test.jsonl", [{**TEST[0], "score": 0.5}], "judgements", "qrels/test.jsonl:1: ", "not whole"),
    ("corpus.jsonl", [{"id": "p1", "body": "x"}], "documents", "corpus.jsonl:1: ", "'text' is missing"),
])  # fmt: skip
def test_a_fault_is_named_by_file_and_line(tmp_path, name, rows, read, place, culprit):
    on_the_hub(tmp_path)
    jsonl(tmp_path / name, rows)
    message = fault(tmp_path, read)
    assert message.startswith(place)
    assert culprit in message


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The hub's local cache, with one dataset in it, and no network."""
    home = tmp_path / "hub/datasets--mteb--scifact"
    on_the_hub(home / "snapshots" / COMMIT)
    (home / "refs").mkdir()
    (home / "refs/main").write_text(COMMIT)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    constants = pytest.importorskip("huggingface_hub.constants", reason="needs huggingface-hub")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return home


def test_a_dataset_of_the_hub_is_read_from_its_cache_without_a_network(cache):
    read = task("mteb/scifact", revision="main")
    check_content(read)
    assert read.inputs("corpus").params["commit"] == COMMIT
    assert read.inputs("corpus").files == ()
    assert read.inputs("corpus") == task("mteb/scifact", revision=COMMIT).inputs("corpus")
    assert (read.card().language, read.card().url) == ("en", "https://huggingface.co/datasets/mteb/scifact")


def test_the_commit_that_was_planned_is_the_one_that_every_process_reads(cache, monkeypatch):
    class Api:
        def dataset_info(self, name, revision, timeout):
            asked.append((name, revision))
            return SimpleNamespace(sha=COMMIT)

    asked: list[tuple[str, str]] = []
    hub = SimpleNamespace(
        HfApi=Api,
        constants=SimpleNamespace(HF_HUB_OFFLINE=False),
        errors=SimpleNamespace(RepositoryNotFoundError=KeyError, RevisionNotFoundError=KeyError),
    )
    monkeypatch.setattr(places, "_client", lambda: hub)
    assert [task("mteb/nq", revision="dev").inputs("corpus").params["commit"] for _ in range(3)] == [
        COMMIT
    ] * 3
    assert asked == [("mteb/nq", "dev")]


def test_a_dataset_of_the_hub_that_is_not_here_is_told_with_the_command(cache):
    for name, commit in (("mteb/nq", "main"), ("mteb/nfcorpus", places.pinned("mteb/nfcorpus"))):
        read = task(name)
        assert read.inputs("corpus").files == (places._repository(name) / "snapshots" / commit,)
        with pytest.raises(
            HarnessError, match=f"`hf download --repo-type dataset {name} --revision {commit}`"
        ):
            list(read.documents())
    assert places.COMMIT.fullmatch(commit)


@pytest.mark.parametrize(
    ("layout", "where"),
    [
        (on_the_hub, "qrels/test.jsonl:2"),
        (in_parquet, "qrels/test-00000-of-00001.parquet:2"),
        (of_beir, "qrels/test.tsv:3"),
    ],
)
def test_a_judgement_is_found_again(layout, where, tmp_path):
    layout(tmp_path)
    assert task(tmp_path).locate_judgement("q1", "p2") == f"{tmp_path}/{where}"


@pytest.mark.real
def test_scifact_equals_itself_as_plain_files(tmp_path):
    if "HARNESS_REAL_DATA" not in os.environ:
        pytest.skip("HARNESS_REAL_DATA does not name the folder of the real collections")
    from harness_files.params import FilesParams
    from harness_files.source import Files

    path = Path(os.environ["HARNESS_REAL_DATA"]) / "scifact"
    mine, plain = task(path, language="en"), Files(FilesParams(path=path, language="en"))
    for part in ("documents", "queries", "judgements"):
        found = list(getattr(mine, part)())
        assert found == list(getattr(plain, part)())
        assert found


NAMED = {  # table 3 of Qiu et al. 2022
    "cmedqa": (3_999, 7_527, 1.88, 48.47, 100.58),
    "ccovid-news": (949, 964, 1.02, 25.93, 1430.93),
}


@pytest.mark.parametrize("name", NAMED)
def test_the_out_of_domain_sets_of_dureader_retrieval_are_read_by_name(tmp_path, name):
    for folder, row in (("corpus", CORPUS), ("queries", QUERIES)):
        (tmp_path / f"{folder}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in row))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "dev.jsonl").write_text("".join(json.dumps(each) + "\n" for each in TEST))
    (record,) = [record for record in harness_datasets() if record.name == name]
    values, problems = params.convert(record.params, {"path": "./", "qrels": None}, tmp_path)
    assert problems == []
    source = record.build(values)
    assert [query.id for query in source.queries()] == ["q1"]
    assert len(list(source.judgements())) == 2
    card = source.card()
    assert (card.language, card.split) == ("zh", "dev")
    printed = [number for official in card.official for number in official.counts.values()]
    assert tuple(printed) == NAMED[name]
    assert "that they are the same was not shown" in card.notes[0]


@pytest.mark.parametrize("name", NAMED)
def test_the_named_sets_keep_the_contract_of_datasets(tmp_path, name):
    test_the_out_of_domain_sets_of_dureader_retrieval_are_read_by_name(tmp_path, name)
    (record,) = [record for record in harness_datasets() if record.name == name]
    for number, case in enumerate(testing.cases("dataset", record)):
        folder = tmp_path / str(number)
        folder.mkdir()
        given = {"path": f"{tmp_path}/", "qrels": None}
        testing.Case(case.kind, case.method, case.check, given)(folder)


def test_the_defaults_of_the_named_sets_are_those_of_the_hub():
    for record in harness_datasets():
        if record.name in NAMED:
            values, _ = params.convert(record.params, {}, Path())
            assert values.path.startswith("C-MTEB/")
            assert values.qrels == f"{values.path}-qrels"
