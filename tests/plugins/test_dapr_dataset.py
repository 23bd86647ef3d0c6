"""DAPR is read from the hub's configurations and from its dump, and every fault is named by file and line."""

import gzip
import json
import os
import re
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness import testing
from harness.collection.corpus import Corpus, write
from harness.errors import HarnessError
from harness.types import Document, Judgement, Passage, Query
from harness_dapr import DaprParams, harness_datasets
from harness_dapr.source import Dapr

RECORD = next(iter(harness_datasets()))
CORPUS = [
    {
        "_id": "a-0",
        "text": "The mill was built in 1802.\u2028",
        "title": "Mill",
        "doc_id": "a",
        "paragraph_no": 0,
    },
    {"_id": "a-1", "text": "It burnt down twice.", "title": "Mill", "doc_id": "a", "paragraph_no": 1},
    {"_id": "b-0", "text": "", "title": None, "doc_id": "b", "paragraph_no": 0},
]
for _row in CORPUS:
    _row |= {"total_paragraphs": 2 if _row["doc_id"] == "a" else 1, "is_candidate": _row["_id"] != "a-0"}
COREF = [{**row, "text": row["text"].replace("It ", "The mill ")} for row in CORPUS]
QUERIES = [{"_id": "q1", "text": "when did the mill burn"}, {"_id": "q2", "text": "unjudged"}]
QRELS = [
    {"query_id": "q1", "corpus_id": "a-1", "score": 1},
    {"query_id": "q1", "corpus_id": "gone", "score": 0},
    {"query_id": "q1", "corpus_id": "a-1", "score": 2},
]
HARD = [
    {"query_id": "h1", "corpus_id": "a-1", "query": "how often", "score": 1, "categories": ["coreference"]},
    {"query_id": "h2", "corpus_id": "b-0", "query": "which", "score": 1, "categories": None},
    {
        "query_id": "h1",
        "corpus_id": "b-0",
        "query": "how often",
        "score": 1,
        "categories": ["acronym", "coreference"],
    },
]
KEYPHRASES = [
    {"doc_id": "b", "doc_summary": ""},
    {"doc_id": "other", "doc_summary": "x"},
    {"doc_id": "a", "doc_summary": "old mill; river"},
]
DOCUMENTS = [
    Document("a", "Mill", (Passage("a-0", CORPUS[0]["text"], False), Passage("a-1", CORPUS[1]["text"]))),
    Document("b", "", (Passage("b-0", ""),)),
]
DUMP = [
    {
        "id": "a",
        "title": "Mill",
        "chunks": [{"id": row["_id"], "text": row["text"]} for row in CORPUS[:2]],
        "candidate_chunk_ids": ["a-1"],
    },
    {"id": "empty", "title": "No chunks", "chunks": []},
    {"id": "b", "title": None, "chunks": [{"id": "b-0", "text": ""}]},
]


def labelled(query: str, text: str, *judged: tuple[str, int]) -> dict:
    """A line of the dump: every judged chunk has its whole document beside it."""
    rows = [
        {"chunk": {"id": id, "text": "x"}, "judgement": grade, "belonging_doc": DUMP[0]}
        for id, grade in judged
    ]
    return {"query": {"id": query, "text": text}, "judged_chunks": rows}


LABELLED = [
    labelled("q1", "when did the mill burn", ("a-1", 1), ("gone", 0)),
    labelled("q2", "unjudged"),
    labelled("q1", "when did the mill burn", ("a-1", 2)),
]
LAYOUTS = {  # where the files of a configuration lie -> their names, for passages and for a split
    "hub": ("NaturalQuestions/{name}", "0000.parquet", "test.parquet"),
    "shards": ("NaturalQuestions/{name}", "test-00000-of-00001.parquet", "test-00000-of-00001.parquet"),
    "converted": ("NaturalQuestions-{name}", "test/0000.parquet", "test/0000.parquet"),
    "one dataset": ("{name}", "test.parquet", "test.parquet"),
    "json lines": ("NaturalQuestions-{name}", "test.jsonl", "test.jsonl"),
    "compressed": ("NaturalQuestions-{name}", "test.jsonl.gz", "test.jsonl.gz"),
}
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"


def lines(rows: list[dict]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def put(path: Path, rows: list[dict] | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(rows, bytes):
        path.write_bytes(rows)
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_bytes(gzip.compress(lines(rows)) if path.suffix == ".gz" else lines(rows))


def hub(path: Path, layout: str = "hub", dataset: str = "NaturalQuestions", **contents) -> DaprParams:
    given = {"corpus": CORPUS, "corpus_coref": COREF, "queries": QUERIES, "qrels": QRELS, "nq-hard": HARD}
    given |= {name.replace("_hard", "-hard"): rows for name, rows in contents.items()}
    folder, whole, split = LAYOUTS[layout]
    for name, rows in given.items():
        put(path / folder.format(name=name) / (split if name in ("queries", "qrels") else whole), rows)
    return DaprParams(path=path, dataset=dataset)


def dump(path: Path, corpus=DUMP, test=LABELLED) -> DaprParams:
    put(path / "corpus.jsonl", corpus)
    put(path / "test.jsonl", test)
    return DaprParams(path=path, dataset="Genomics")


def read(source, target: Path) -> list[Document]:
    write(source, target, lambda done, total: None)
    corpus = Corpus(target)
    return list(corpus.documents_in(0, corpus.documents))


def fault(values: DaprParams, part: str) -> str:
    with pytest.raises(HarnessError) as caught:
        list(getattr(Dapr(values), part)())
    return str(caught.value).removeprefix(f"{values.path}/")


@pytest.mark.parametrize("form", ["hub", "dump", "nq-hard"])
@pytest.mark.parametrize("case", testing.cases("dataset", RECORD), ids=lambda case: case.name)
def test_it_keeps_the_contract_of_datasets(case, form, tmp_path):
    values = dump(tmp_path / "data") if form == "dump" else hub(tmp_path / "data")
    given = {"path": str(values.path), "dataset": "nq-hard" if form == "nq-hard" else values.dataset}
    testing.Case(case.kind, case.method, case.check, given)(tmp_path)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_hubs_configurations_are_read(tmp_path, layout):
    source = Dapr(hub(tmp_path / "data", layout))
    assert list(source.documents()) == DOCUMENTS
    assert read(source, tmp_path / "corpus") == DOCUMENTS
    assert list(source.queries()) == [Query("q1", "when did the mill burn"), Query("q2", "unjudged")]
    assert list(source.judgements()) == [Judgement("q1", "a-1", 2), Judgement("q1", "gone", 0)]


@pytest.mark.parametrize("folder", ["", "Genomics"])
def test_the_dump_is_read(tmp_path, folder):
    dump(tmp_path / "data" / folder)
    source = Dapr(DaprParams(path=tmp_path / "data", dataset="Genomics"))
    assert list(source.documents()) == DOCUMENTS
    assert read(source, tmp_path / "corpus") == DOCUMENTS
    assert list(source.queries()) == [Query("q1", "when did the mill burn"), Query("q2", "unjudged")]
    assert list(source.judgements()) == [Judgement("q1", "a-1", 2), Judgement("q1", "gone", 0)]


@pytest.mark.parametrize(
    ("dataset", "text"),
    [("ConditionalQA", "Pay five per cent"), ("Genomics", "<p>Pay five per <b>cent</b></p> ")],
)
def test_conditionalqa_is_read_without_its_tags(tmp_path, dataset, text):
    tagged = [
        {"id": "a", "title": "Fees", "chunks": [{"id": "a-0", "text": "<p>Pay five per <b>cent</b></p> "}]}
    ]
    values = replace(dump(tmp_path, corpus=tagged), dataset=dataset)
    assert list(Dapr(values).documents()) == [Document("a", "Fees", (Passage("a-0", text),))]


def test_scattered_passages_of_several_shards_come_together_in_order(tmp_path):
    values = hub(tmp_path / "data", "shards")
    home = tmp_path / "data" / "NaturalQuestions" / "corpus"
    (home / "test-00000-of-00001.parquet").unlink()
    put(home / "test-00000-of-00002.parquet", [CORPUS[1], CORPUS[2]])
    put(home / "test-00001-of-00002.parquet", [CORPUS[0]])
    assert read(Dapr(values), tmp_path / "corpus") == DOCUMENTS


def test_a_shard_that_is_missing_is_named_while_planning(tmp_path):
    values = hub(tmp_path, "shards")
    home = tmp_path / "NaturalQuestions" / "corpus"
    (home / "test-00000-of-00001.parquet").rename(home / "test-00001-of-00002.parquet")
    assert [path.name for path in Dapr(values).inputs("corpus").files if not path.exists()] == [
        "test-00000-of-00002.parquet"
    ]


def test_the_categories_of_nq_hard_are_slices_of_queries_and_labels_of_pairs(tmp_path):
    source = Dapr(hub(tmp_path, dataset="nq-hard"))
    assert list(source.documents()) == DOCUMENTS
    assert list(source.queries()) == [
        Query("h1", "how often", ("coreference", "acronym")),
        Query("h2", "which"),
    ]
    assert list(source.judgements()) == [
        Judgement("h1", "a-1", 1, ("coreference",)),
        Judgement("h2", "b-0", 1),
        Judgement("h1", "b-0", 1, ("acronym", "coreference")),
    ]


@pytest.mark.parametrize("dataset", ["NaturalQuestions", "nq-hard"])
@pytest.mark.parametrize(
    ("id", "phrases"), [("doc_id", "doc_summary"), ("_id", "title"), ("id", "keyphrases")]
)
def test_the_authors_keyphrases_stand_in_place_of_titles(tmp_path, dataset, id, phrases):
    rows = [{id: row["doc_id"], phrases: row["doc_summary"]} for row in KEYPHRASES]
    values = hub(tmp_path, dataset=dataset, keyphrases=rows)
    plain, source = Dapr(values), Dapr(replace(values, titles="keyphrases"))
    assert [document.title for document in source.documents()] == ["old mill; river", ""]
    assert [document.passages for document in source.documents()] == [d.passages for d in DOCUMENTS]
    assert source.locate(2) == plain.locate(2)
    assert set(source.inputs("corpus").files) - set(plain.inputs("corpus").files) == {
        tmp_path / "NaturalQuestions/keyphrases/0000.parquet"
    }
    assert source.inputs("queries") == plain.inputs("queries")
    assert source.inputs("judgements") == plain.inputs("judgements")


def test_keyphrases_that_lack_a_document_or_have_it_twice_are_refused(tmp_path):
    fewer = replace(hub(tmp_path / "fewer", keyphrases=KEYPHRASES[1:]), titles="keyphrases")
    assert fault(fewer, "documents").startswith(
        "NaturalQuestions/keyphrases/0000.parquet:1: there are no keyphrases of the document 'b'"
    )
    twice = replace(hub(tmp_path / "twice", keyphrases=KEYPHRASES * 2), titles="keyphrases")
    assert fault(twice, "documents").startswith(
        "NaturalQuestions/keyphrases/0000.parquet:4: the document 'b' stands in line 1 too"
    )
    with pytest.raises(HarnessError, match="the dump has no keyphrases; take the hub's files"):
        Dapr(replace(dump(tmp_path / "dump"), titles="keyphrases"))


def test_nq_hard_is_read_without_its_categories(tmp_path):
    without = [{key: value for key, value in row.items() if key != "categories"} for row in HARD]
    source = Dapr(hub(tmp_path, dataset="nq-hard", nq_hard=without))
    assert [query.slices for query in source.queries()] == [(), ()]
    assert [judgement.labels for judgement in source.judgements()] == [(), (), ()]


def test_coreferences_resolved_by_the_authors_are_another_corpus(tmp_path):
    values = hub(tmp_path)
    source = Dapr(DaprParams(path=tmp_path, dataset="NaturalQuestions", text="corpus_coref"))
    assert [passage.text for d in source.documents() for passage in d.passages][
        1
    ] == "The mill burnt down twice."
    assert source.inputs("corpus") != Dapr(values).inputs("corpus")
    assert source.inputs("queries") == Dapr(values).inputs("queries")


def test_what_a_part_is_made_from_is_kept_apart(tmp_path):
    parts = ("corpus", "queries", "judgements")
    named = [[path.parent.name for path in Dapr(hub(tmp_path)).inputs(part).files] for part in parts]
    assert named == [["corpus"], ["queries"], ["qrels", "queries"]]
    before = Dapr(dump(tmp_path / "dump"))
    queries, judged = before.inputs("queries"), before.inputs("judgements")
    assert [path.name for path in before.inputs("corpus").files] == ["corpus.jsonl"]
    assert [path.name for path in judged.files] == ["test.jsonl"]
    after = Dapr(dump(tmp_path / "dump", test=[*LABELLED, labelled("q2", "unjudged", ("b-0", 1))]))
    assert after.inputs("queries") == queries
    other = Dapr(dump(tmp_path / "dump", test=[*LABELLED, labelled("q3", "new", ("b-0", 1))]))
    assert other.inputs("queries") != queries


def test_a_plan_can_say_what_is_missing(tmp_path):
    source = Dapr(DaprParams(path=tmp_path, dataset="MSMARCO", split="dev"))
    files = [path for part in ("corpus", "queries", "judgements") for path in source.inputs(part).files]
    assert [path.relative_to(tmp_path).as_posix() for path in files] == [
        "MSMARCO/corpus/test.parquet",
        "MSMARCO/queries/dev.parquet",
        "MSMARCO/qrels/dev.parquet",
        "MSMARCO/queries/dev.parquet",
    ]


def test_the_licence_is_the_datasets_own(tmp_path):
    card = Dapr(DaprParams(path=tmp_path, dataset="ConditionalQA")).card()
    assert (card.language, card.split, card.licence) == ("en", "test", "CC BY-SA 4.0")


@pytest.mark.parametrize("given", [{"dataset": "nq-hard"}, {"dataset": "Genomics", "text": "corpus_coref"}])
def test_what_the_dump_does_not_have_is_refused(tmp_path, given):
    values = dump(tmp_path)
    with pytest.raises(HarnessError, match=given.get("text", given["dataset"])):
        Dapr(DaprParams(path=values.path, **given))


def test_nq_hard_has_one_split():
    with pytest.raises(ValueError, match="its one split is test"):
        DaprParams(path=Path(), dataset="nq-hard", split="dev")
    with pytest.raises(ValueError, match="no plain name"):
        DaprParams(path=Path(), dataset="MIRACL", split="../dev")


@pytest.mark.parametrize("form", ["hub", "json lines", "dump"])
def test_a_duplicated_passage_is_named_by_its_lines(tmp_path, form):
    if form == "dump":
        again = {"id": "c", "title": "C", "chunks": [{"id": "a-1", "text": "again"}]}
        values, first, second = dump(tmp_path / "data", [*DUMP, again]), "corpus.jsonl:1", "corpus.jsonl:4"
    else:
        values = hub(tmp_path / "data", form, corpus=[*CORPUS, {**CORPUS[1], "doc_id": "c"}])
        name = "0000.parquet" if form == "hub" else "test.jsonl"
        first, second = f"{name}:2", f"{name}:4"
    with pytest.raises(HarnessError) as caught:
        write(Dapr(values), tmp_path / "corpus", lambda done, total: None)
    assert first in str(caught.value)
    assert second in str(caught.value)


def without(rows: list[dict], column: str) -> list[dict]:
    return [{key: value for key, value in row.items() if key != column} for row in rows]


@pytest.mark.parametrize(("layout", "rows", "line", "culprit"), [
    ("hub", without(CORPUS, "doc_id"), 1, "'doc_id' is missing"),
    ("hub", [*CORPUS, {**CORPUS[2], "text": None}], 4, "'text' is null"),
    ("hub", [{**row, "paragraph_no": "first"} for row in CORPUS], 1, "'paragraph_no'"),
    ("hub", [{**row, "text": ["x"]} for row in CORPUS], 1, "'text'"),
    ("hub", b"PAR1 and no more", 1, "Parquet"),
    ("hub", b"", 1, "Parquet"),
    ("hub", POINTER, 1, "Git LFS"),
    ("json lines", without(CORPUS, "doc_id"), 1, "'doc_id' is missing"),
    ("json lines", [CORPUS[0], {**CORPUS[1], "text": None}], 2, "'text' must be a text, got null"),
    ("json lines", [{**CORPUS[0], "paragraph_no": 2**31}], 1, "number"),
    ("json lines", lines(CORPUS)[:-9], 3, "JSON"),
    ("json lines", b"", 1, "empty"),
    ("json lines", b"\n", 1, "no row"),
    ("json lines", POINTER, 1, "Git LFS"),
    ("compressed", gzip.compress(lines(CORPUS), mtime=0)[:-9], 4, "ends early"),
])  # fmt: skip
def test_a_fault_of_the_hubs_passages_is_named_by_file_and_line(tmp_path, layout, rows, line, culprit):
    file = {"hub": "0000.parquet", "json lines": "test.jsonl", "compressed": "test.jsonl.gz"}[layout]
    message = fault(hub(tmp_path, layout, corpus=rows), "rows")
    assert message.split("corpus/")[1].startswith(f"{file}:{line}: ")
    assert culprit in message


def test_a_parquet_file_that_cannot_be_read_is_named(tmp_path):
    values = hub(tmp_path)
    path = tmp_path / "NaturalQuestions" / "corpus" / "0000.parquet"
    table = pq.read_table(path)
    wrong = pa.array([b"one", b"\xff", b"three"]).view(pa.string())
    pq.write_table(table.set_column(table.schema.get_field_index("text"), "text", wrong), path)
    assert "0000.parquet:1: the column 'text'" in fault(values, "rows")
    path.write_bytes(path.read_bytes()[:-9])
    assert "0000.parquet:1: " in fault(values, "rows")


def test_a_parquet_file_that_is_damaged_within_is_refused(tmp_path):
    values = hub(tmp_path)
    path = tmp_path / "NaturalQuestions" / "corpus" / "0000.parquet"
    data = bytearray(path.read_bytes())
    data[4:60] = b"\xff" * 56
    path.write_bytes(data)
    assert "0000.parquet:1: " in fault(values, "rows")


@pytest.mark.parametrize(("contents", "part", "place", "culprit"), [
    ({"queries": without(QUERIES, "text")}, "queries", "test.parquet:1: ", "'text' is missing"),
    ({"queries": [*QUERIES, {"_id": "q1", "text": "other"}]}, "queries", "test.parquet:3: ", "'q1' has another"),
    ({"queries": [{"_id": "", "text": "x"}]}, "queries", "test.parquet:1: ", "empty id"),
    ({"qrels": [*QRELS, QRELS[0] | {"query_id": "q9"}]}, "judgements", "test.parquet:4: ", "'q9' is judged"),
    ({"qrels": [QRELS[0] | {"corpus_id": ""}]}, "judgements", "test.parquet:1: ", "is empty"),
    ({"qrels": [QRELS[0] | {"score": 0.5}]}, "judgements", "test.parquet:1: ", "'score'"),
])  # fmt: skip
def test_a_fault_of_the_hubs_queries_and_judgements_is_named(tmp_path, contents, part, place, culprit):
    message = fault(hub(tmp_path, **contents), part)
    assert place in message
    assert culprit in message


@pytest.mark.parametrize(("contents", "part", "place", "culprit"), [
    ({"corpus": [DUMP[0], {"id": "b"}]}, "rows", "corpus.jsonl:2: ", "'chunks' is missing"),
    ({"corpus": [{**DUMP[0], "id": 1}]}, "rows", "corpus.jsonl:1: ", "'id' must be a text"),
    ({"corpus": [{**DUMP[0], "id": ""}]}, "rows", "corpus.jsonl:1: ", "empty id"),
    ({"corpus": [{**DUMP[0], "candidate_chunk_ids": ["a-9"]}]}, "rows", "corpus.jsonl:1: ", "'a-9'"),
    ({"corpus": [{"id": "a", "chunks": [{"id": "a-0"}]}]}, "rows", "corpus.jsonl:1: ", "does not fit"),
    ({"corpus": POINTER}, "rows", "corpus.jsonl:1: ", "Git LFS"),
    ({"test": [LABELLED[0], labelled("q1", "other")]}, "queries", "test.jsonl:2: ", "'q1' has another"),
    ({"test": [{"query": {"id": "q1", "text": "x"}}]}, "queries", "test.jsonl:1: ", "'judged_chunks'"),
    ({"test": lines(LABELLED)[:-9]}, "judgements", "test.jsonl:3: ", "JSON"),
])  # fmt: skip
def test_a_fault_of_the_dump_is_named_by_file_and_line(tmp_path, contents, part, place, culprit):
    message = fault(dump(tmp_path, **contents), part)
    assert message.startswith(place)
    assert culprit in message


COUNTS = {  # dataset, split -> queries, judgements
    ("ConditionalQA", "train"): (3, 12),
    ("ConditionalQA", "dev"): (3, 17),
    ("ConditionalQA", "test"): (3, 5),
    ("Genomics", "test"): (1, 3),
    ("MIRACL", "train"): (3, 7),
    ("MIRACL", "dev"): (3, 7),
    ("MIRACL", "test"): (3, 11),
    ("NaturalQuestions", "train"): (3, 3),
    ("NaturalQuestions", "dev"): (3, 3),
    ("NaturalQuestions", "test"): (3, 4),
}


def stand_in(monkeypatch, files: dict[str, list[dict]]) -> list[dict]:
    """The hub's client, which gives these files."""
    asked: list[dict] = []

    def snapshot_download(name, **options):
        asked.append({"name": name, **options})
        for path, rows in files.items():
            if any(fnmatch(path, pattern) for pattern in options["allow_patterns"]):
                put(Path(options["local_dir"]) / path, rows)

    monkeypatch.setattr(pytest.importorskip("huggingface_hub"), "snapshot_download", snapshot_download)
    return asked


def test_what_is_missing_is_fetched_from_the_hub_and_nothing_else(tmp_path, monkeypatch):
    files = {
        "NaturalQuestions/corpus/test-00000-of-00001.parquet": CORPUS,
        "NaturalQuestions/docs/test.parquet": CORPUS,
        "NaturalQuestions/keyphrases/0000.parquet": KEYPHRASES,
        "NaturalQuestions/qrels/test.parquet": QRELS,
        "NaturalQuestions/queries/test.parquet": QUERIES,
        "nq-hard/test.parquet": HARD,
    }
    asked = stand_in(monkeypatch, files)
    source = Dapr(DaprParams(path=tmp_path, dataset="NaturalQuestions"))
    names = [path.relative_to(tmp_path).as_posix() for path in source.fetch()]
    assert names == [
        "NaturalQuestions/corpus/test-00000-of-00001.parquet",
        "NaturalQuestions/queries/test.parquet",
        "NaturalQuestions/qrels/test.parquet",
    ]
    assert list(source.documents()) == DOCUMENTS
    assert list(source.fetch()) == []
    assert not (tmp_path / "NaturalQuestions" / "keyphrases").exists()
    hard = Dapr(DaprParams(path=tmp_path, dataset="nq-hard", titles="keyphrases"))
    list(hard.fetch())
    assert len(list(hard.judgements())) == len(HARD)
    assert [document.title for document in hard.documents()] == ["old mill; river", ""]
    assert [call["name"] for call in asked] == ["UKPLab/dapr", "UKPLab/dapr"]
    assert not (tmp_path / "NaturalQuestions" / "docs").exists()


def test_a_hub_that_has_nothing_to_give_is_told(tmp_path, monkeypatch):
    stand_in(monkeypatch, {})
    with pytest.raises(HarnessError, match="MIRACL/corpus"):
        list(Dapr(DaprParams(path=tmp_path, dataset="MIRACL")).fetch())


def test_a_judgement_is_found_again(tmp_path):
    for values in (hub(tmp_path / "hub"), dump(tmp_path / "dump")):
        source = Dapr(values)
        judged = list(source.judgements())
        assert source.locate_judgement(*judged[-1][:2]).rpartition(":")[0].startswith(str(values.path))
        assert source.locate_judgement(*judged[0][:2]).endswith(":1")


def test_the_card_of_nq_hard_says_how_its_queries_were_chosen(tmp_path):
    card = Dapr(DaprParams(path=tmp_path, dataset="nq-hard")).card()
    assert "BM25, DRAGON+, SPLADEv2 and ColBERTv2 all had an nDCG@10 of zero" in card.notes[0]
    assert card.official[1].counts == {"queries": 479, "judgements": 516}
    assert Dapr(DaprParams(path=tmp_path, dataset="Genomics")).card().notes == ()


@pytest.mark.real
@pytest.mark.parametrize(("dataset", "split"), COUNTS)
def test_the_samples_of_the_dump_are_read_whole(tmp_path, dataset, split):
    if "HARNESS_REAL_DATA" not in os.environ:
        pytest.skip("HARNESS_REAL_DATA does not name the folder of the real collections")
    folder = Path(os.environ["HARNESS_REAL_DATA"]) / "dapr-dump-samples"
    source = Dapr(DaprParams(path=folder, dataset=dataset, split=split))
    plain = [
        json.loads(line) for line in (folder / dataset / "corpus.jsonl").read_bytes().split(b"\n") if line
    ]
    assert read(source, tmp_path) == [
        Document(
            row["id"],
            row["title"],
            tuple(Passage(chunk["id"], re.sub(r"</?\w+>", "", chunk["text"])) for chunk in row["chunks"]),
        )
        for row in plain
    ]
    assert (len(list(source.queries())), len(list(source.judgements()))) == COUNTS[dataset, split]
