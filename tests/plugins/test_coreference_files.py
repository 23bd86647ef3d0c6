"""Clusters and rewritten passages from files: read in any order, and matched to the corpus or refused."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness import testing
from harness.collection.composed_texts import edited
from harness.errors import HarnessError
from harness.types import Document, Edit, Passage
from harness_coreference import ClustersParams, RewrittenParams
from harness_coreference.clusters import Clusters
from harness_coreference.rewritten import Rewritten, difference

A = ("Ann Hill came.", "She left.")
B = ("The firm paid.", "", "It failed.")
DOCUMENTS = [
    Document(id, "", tuple(Passage(f"{id}#{n}", text) for n, text in enumerate(texts)))
    for id, texts in (("a", A), ("b", B))
]
LINES = [
    {"id": "b", "text": "\n\n".join(B), "clusters": [[[0, 8], [18, 20]]]},
    {"id": "a", "clusters": [[[0, 8], [15, 18]]]},
]


def rows(tmp_path, lines, name="file.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def clusters(path, **params):
    return Clusters(ClustersParams(path=path, **params))


def rewritten(path, **params):
    return Rewritten(RewrittenParams(path=path, **params))


def texts(stage, documents=DOCUMENTS):
    return [
        [edited(passage.text, edits) for passage, edits in zip(document.passages, row, strict=True)]
        for document, row in zip(
            documents,
            (
                added.edits or ((),) * len(d.passages)
                for d, added in zip(documents, stage.augment(documents), strict=True)
            ),
            strict=True,
        )
    ]


def matching(stage, documents=DOCUMENTS):
    return stage.match([d.id for d in documents], [p.id for d in documents for p in d.passages])


def test_offsets_count_the_documents_text_or_its_passages_joined_by_newlines(tmp_path):
    assert texts(clusters(rows(tmp_path, LINES))) == [
        ["Ann Hill came.", "She (Ann Hill) left."],
        ["The firm paid.", "", "It (The firm) failed."],
    ]


def test_a_mention_may_name_its_passage(tmp_path):
    lines = [{"id": "a", "clusters": [[[0, 0, 8], [1, 0, 3]]]}]
    assert texts(clusters(rows(tmp_path, lines)), DOCUMENTS[:1]) == [
        ["Ann Hill came.", "She (Ann Hill) left."]
    ]


def test_a_mention_that_spans_passages_is_left_out(tmp_path):
    lines = [{"id": "a", "clusters": [[[9, 18], [0, 8], [15, 18]], [[0, 18], [15, 18]]]}]
    assert texts(clusters(rows(tmp_path, lines)), DOCUMENTS[:1]) == [
        ["Ann Hill came.", "She (Ann Hill) left."]
    ]


def test_what_the_file_and_the_corpus_lack_of_one_another_is_counted(tmp_path):
    lines = [LINES[1], {"id": "gone", "clusters": []}]
    stage = clusters(rows(tmp_path, lines), missing="skip", unknown="skip")
    assert matching(stage) == {
        "documents_in_file": 2,
        "documents_not_in_file": 1,
        "documents_not_in_corpus": 1,
        "first_documents_not_in_file": ["b"],
        "first_documents_not_in_corpus": ["gone"],
    }
    assert texts(stage)[1] == list(B)


@pytest.mark.parametrize(("lines", "fault"), [
    (LINES[:1], "document 'a' is missing"),
    ([*LINES, {"id": "gone", "clusters": []}], "file.jsonl:3: .*'gone'"),
    ([*LINES, LINES[0]], "file.jsonl:3: .*'b' stands in line 1 too"),
    ([{"id": "x", "clusters": []}], "such as 'a'"),
    ([{"id": "a"}], "file.jsonl:1: .*'clusters' is missing"),
    ([{"id": 1, "clusters": []}], "file.jsonl:1: 'id'"),
])  # fmt: skip
def test_a_clusters_file_that_does_not_match_is_refused(tmp_path, lines, fault):
    with pytest.raises(HarnessError, match=fault):
        matching(clusters(rows(tmp_path, lines)))


def test_a_file_without_any_document_of_the_corpus_is_of_another_one(tmp_path):
    stage = clusters(rows(tmp_path, [{"id": "x", "clusters": []}]), missing="skip", unknown="skip")
    with pytest.raises(HarnessError, match=r"file\.jsonl: it has no document"):
        matching(stage)


@pytest.mark.parametrize(
    "line",
    [
        {"id": "a", "text": "Ann Hill came. He left.", "clusters": []},
        {"id": "a", "text": "Ann Hill came. And She left.", "clusters": []},
        {"id": "a", "text": "Ann Hill came. She left. More.", "clusters": []},
        {"id": "a", "clusters": [[[0, 8], [15, 99]]]},
        {"id": "a", "clusters": [[[8, 8], [15, 18]]]},
        {"id": "a", "clusters": [[[2, 0, 3], [0, 0, 8]]]},
        {"id": "a", "clusters": [[[1]]]},
    ],
)
def test_a_document_that_is_not_the_files_is_refused_or_left_as_it_is(tmp_path, line):
    path = rows(tmp_path, [line])
    with pytest.raises(HarnessError, match=r"file\.jsonl:1: its text or its offsets are not those"):
        texts(clusters(path), DOCUMENTS[:1])
    assert texts(clusters(path, differs="skip"), DOCUMENTS[:1]) == [list(A)]


REWRITTEN = [
    {"_id": "b#2", "text": "It (The firm) failed."},
    {"_id": "a#0", "text": "Ann Hill came."},
    {"_id": "b#1", "text": ""},
    {"_id": "a#1", "text": "Ann Hill left."},
    {"_id": "b#0", "text": "The firm paid."},
]


def test_rewritten_passages_are_what_the_method_reads(tmp_path):
    assert texts(rewritten(rows(tmp_path, REWRITTEN))) == [
        ["Ann Hill came.", "Ann Hill left."],
        ["The firm paid.", "", "It (The firm) failed."],
    ]


def test_rewritten_passages_may_lie_in_parquet_files_of_a_folder(tmp_path):
    for number, part in enumerate((REWRITTEN[:2], REWRITTEN[2:])):
        table = pa.table({key: [row[key] for row in part] for key in ("_id", "text")})
        pq.write_table(table, tmp_path / f"test-{number:05d}-of-00002.parquet")
    assert texts(rewritten(tmp_path))[0] == ["Ann Hill came.", "Ann Hill left."]
    assert matching(rewritten(tmp_path))["passages_not_in_file"] == 0


@pytest.mark.parametrize(("differs", "text"), [("replace", "Ann Hill left."), ("skip", "She left.")])
def test_a_passage_that_is_more_than_insertions_is_a_choice(tmp_path, differs, text):
    found = texts(rewritten(rows(tmp_path, REWRITTEN), differs=differs))
    assert found == [["Ann Hill came.", text], ["The firm paid.", "", "It (The firm) failed."]]


def test_a_passage_that_is_more_than_insertions_can_be_refused(tmp_path):
    with pytest.raises(HarnessError, match=r"file\.jsonl:4: .*'a#1'"):
        texts(rewritten(rows(tmp_path, REWRITTEN), differs="refuse"))


@pytest.mark.parametrize(("lines", "fault"), [
    (REWRITTEN[1:], "passage 'b#2'"),
    ([*REWRITTEN, {"_id": "c#0", "text": "x"}], "file.jsonl:6: .*'c#0'"),
    ([*REWRITTEN, REWRITTEN[2]], "file.jsonl:6: .*'b#1' stands in line 3 too"),
    ([{"_id": "a#0"}], "file.jsonl:1: .*'text' is missing"),
])  # fmt: skip
def test_a_rewritten_file_that_does_not_match_is_refused(tmp_path, lines, fault):
    with pytest.raises(HarnessError, match=fault):
        matching(rewritten(rows(tmp_path, lines)))


def test_a_folder_without_rows_and_a_table_without_the_columns_are_named(tmp_path):
    with pytest.raises(HarnessError, match="no file of rows"):
        matching(rewritten(tmp_path))
    pq.write_table(pa.table({"id": ["a#0"]}), tmp_path / "x.parquet")
    with pytest.raises(HarnessError, match=r"x\.parquet:1: .*'_id' is missing"):
        matching(rewritten(tmp_path))


@pytest.mark.parametrize(
    ("text", "changed", "insertions"),
    [
        ("She left.", "She (Ann Hill) left.", True),
        ("She left.", "She left. (x)", True),
        ("x", "(a) x", True),
        ("a b a", "a (a) b a (a b)", True),
        ("", "all new", True),
        ("她离开了。", "她 (史佩伯)离开了。", True),
        ("She left.", "Ann left.", False),
        ("She left.", "", False),
        ("a  b\n", "a b", False),
        ("same", "same", True),
    ],
)
def test_a_difference_makes_the_rewritten_text_by_insertions_where_it_can(text, changed, insertions):
    found = difference(text, changed)
    assert edited(text, found) == changed
    assert all(edit.start == edit.end for edit in found) == insertions


def test_texts_too_long_to_compare_are_replaced_whole():
    old, new = "a b " * 2000, "b c " * 2000
    assert difference(old, new) == (Edit(0, len(old), new),)
    assert edited(old, difference(old, old + "(c)")) == old + "(c)"


def cases():
    for name, key in (("coreference-clusters", "id"), ("coreference-rewritten", "_id")):
        for case in testing.cases("context", name, {"path": "FILE", "missing": "skip"}):
            yield pytest.param(name, key, case.name, id=f"{name}-{case.name}")


@pytest.mark.parametrize(("name", "key", "case"), list(cases()))
def test_the_stages_keep_the_contract_of_every_context(tmp_path, name, key, case):
    path = rows(tmp_path, [{key: "d0#0", "text": "rewritten", "clusters": []}])
    given = {"path": str(path), "missing": "skip", "differs": "skip"}
    [check] = [found for found in testing.cases("context", name, given) if found.name == case]
    check(tmp_path)
