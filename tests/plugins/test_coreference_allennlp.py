"""AllenNLP's resolver: what it is given, and its output as clusters in the passages of the collection."""

import json

import pytest

from harness.collection.composed_texts import edited
from harness.types import Document, Passage
from harness_coreference import ClustersParams, allennlp
from harness_coreference.clusters import Clusters

SUITE = """
suite: small
datasets: {small: {files: {path: data, language: en}}}
systems: {bm25: {retriever: bm25}}
measures: [nDCG@10]
"""
PASSAGES = ["Ann Hill's firm opened.", "It  failed, and she left.", "   "]
# as the predictor prints it for one document: words, and spans of words with their last word included
RESOLVED = {
    "top_spans": [[0, 1], [0, 3], [6, 6], [10, 10]],
    "antecedent_indices": [[0, 1], [1, 0]],
    "predicted_antecedents": [-1, -1, 1, 0],
    "document": ["Ann", "Hill", "'s", "firm", "opened", ".", "\n", "It", " ", "failed", ",", "and", "she", "left", ".", "\n   "],
    "clusters": [[[0, 1], [12, 12]], [[0, 3], [7, 7]]],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "data" / "qrels").mkdir(parents=True)
    rows = [
        {"_id": f"d{i}", "title": "", "text": text, "doc_id": "d", "paragraph_no": i}
        for i, text in enumerate(PASSAGES)
    ]
    rows.append({"_id": "e0", "title": "", "text": " ", "doc_id": "e", "paragraph_no": 0})
    (tmp_path / "data/corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "data/queries.jsonl").write_text('{"_id": "q", "text": "who"}\n')
    (tmp_path / "data/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td1\t1\n")
    return tmp_path


def run(capsys, *arguments):
    code = allennlp.main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def resolved(folder, capsys, *lines, target="suite.yaml#small"):
    code, out, _ = run(capsys, "documents", f"{folder}/{target}")
    assert code == 0
    (folder / "documents.jsonl").write_text(out)
    (folder / "resolved.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run(capsys, "clusters", folder / "documents.jsonl", folder / "resolved.jsonl")


def test_a_document_goes_out_whole_and_comes_back_as_annotated_passages(folder, capsys):
    code, out, _ = resolved(folder, capsys, RESOLVED)
    assert code == 0
    given = json.loads((folder / "documents.jsonl").read_text())
    assert given == {"id": "d", "document": "\n".join(PASSAGES)}
    (folder / "clusters.jsonl").write_text(out)
    document = Document("d", "", tuple(Passage(f"d{i}", text) for i, text in enumerate(PASSAGES)))
    stage = Clusters(ClustersParams(path=folder / "clusters.jsonl", missing="skip"))
    (added,) = stage.augment([document])
    texts = [edited(text, edits) for text, edits in zip(PASSAGES, added.edits, strict=True)]
    assert texts == [PASSAGES[0], "It (Ann Hill's firm)  failed, and she (Ann Hill) left.", PASSAGES[2]]


@pytest.mark.parametrize(
    ("lines", "where", "what"),
    [
        ([], "resolved.jsonl:1", "the file is empty"),
        ([RESOLVED, RESOLVED], "resolved.jsonl:2", "documents.jsonl ends before this line"),
        ([{**RESOLVED, "document": ["Ann", "Mill"]}], "resolved.jsonl:1", "'Mill' is not the next"),
        ([{**RESOLVED, "document": ["Ann", "Hill"]}], "resolved.jsonl:1", "its words end before the text"),
        ([{**RESOLVED, "clusters": [[[0, 99]]]}], "resolved.jsonl:1", "[0, 99] is no [first, last] of 16"),
        ([{"document": ["Ann"]}], "resolved.jsonl:1", "the key 'clusters' is missing"),
    ],
)
def test_output_that_is_not_of_these_documents_is_refused_by_line(folder, capsys, lines, where, what):
    code, _, err = resolved(folder, capsys, *lines)
    assert code == 2
    assert where in err
    assert what in err


def test_output_that_ends_early_is_refused_by_the_line_that_it_lacks(folder, capsys):
    resolved(folder, capsys, RESOLVED)
    with (folder / "documents.jsonl").open("a") as file:
        file.write('{"id": "e", "document": "more"}\n')
    code, _, err = run(capsys, "clusters", folder / "documents.jsonl", folder / "resolved.jsonl")
    assert code == 2
    assert "documents.jsonl:2: " in err
    assert "resolved.jsonl ends before this line" in err


def test_a_dataset_that_the_suite_lacks_is_told(folder, capsys):
    code, _, err = run(capsys, "documents", f"{folder}/suite.yaml#smal")
    assert code == 2
    assert "did you mean 'small'" in err
