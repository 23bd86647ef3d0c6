"""Vectors that were made elsewhere: searched as they are, whatever form they come in."""

import json

import numpy as np
import pytest

from harness import testing
from harness.errors import HarnessError
from harness.testing import retriever
from harness.testing.texts import QUERIES, texts
from harness_vectors import VectorsParams, embedding_files, ids
from harness_vectors.retriever import Vectors

PASSAGES = np.array([[1, 0], [0, 2], [3, 3]], np.float32)
ASKED = np.array([[1, 0], [0, 1]], np.float32)
# These hold the score of a text against the text; here it is the id that has a vector.
BY_TEXT = (retriever.scores_equal_texts_equally, retriever.returns_only_candidates)


def npy(folder, name, rows, ids):
    np.save(folder / f"{name}.npy", rows)
    (folder / f"{name}.ids").write_text("".join(f"{id}\n" for id in ids), encoding="utf-8")
    return folder / f"{name}.npy", folder / f"{name}.ids"


def jsonl(path, rows, ids, contents):
    lines = zip(ids, contents, rows.tolist(), strict=True)
    path.write_text(
        "".join(json.dumps({"id": id, "contents": text, "vector": row}) + "\n" for id, text, row in lines),
        encoding="utf-8",
    )
    return path


@pytest.fixture
def given(tmp_path):
    """Vectors of passages in another order than the corpus, and of two queries."""
    passages, passage_ids = npy(tmp_path, "passages", PASSAGES[[2, 0, 1]], "201")
    queries, query_ids = npy(tmp_path, "queries", ASKED, ["a", "b"])
    (tmp_path / "queries.tsv").write_text("a\tfirst\nb\tsecond\n", encoding="utf-8")
    return {
        "passages": passages,
        "passage_ids": passage_ids,
        "queries": queries,
        "query_ids": query_ids,
        "query_texts": tmp_path / "queries.tsv",
    }


def search(params, folder, queries, corpus=None, k=3):
    corpus = corpus or texts(["x", "y", "z"])
    method = Vectors(VectorsParams(**params))
    folder.mkdir(exist_ok=True)
    facts = method.index(corpus, folder)
    return method.open(corpus, folder).search(queries, k), facts


def test_vectors_are_found_by_the_ids_of_the_corpus(given, tmp_path):
    hits, facts = search(given, tmp_path / "index", ["second", "first"])
    assert hits.passages.tolist() == [[2, 1, 0], [2, 0, 1]]
    assert hits.scores.tolist() == [[3, 2, 0], [3, 1, 0]]
    assert facts["texts_without_a_vector"] == 0


def test_cosines_are_compared_where_they_are_asked_for(given, tmp_path):
    hits, _ = search({**given, "similarity": "cosine"}, tmp_path / "index", ["first"])
    assert hits.passages.tolist() == [[0, 2, 1]]
    assert hits.scores[0] == pytest.approx([1, 2**-0.5, 0])


@pytest.mark.extras
def test_every_form_gives_the_same_hits(given, tmp_path):
    faiss = pytest.importorskip("faiss")
    folder = tmp_path / "pyserini"
    folder.mkdir()
    index = faiss.IndexFlatIP(2)
    index.add(PASSAGES)
    faiss.write_index(index, str(folder / "index"))
    (folder / "docid").write_text("0\n1\n2\n", encoding="utf-8")
    queries = jsonl(tmp_path / "queries.jsonl", ASKED, ["a", "b"], ["first", "second"])
    passages = jsonl(tmp_path / "passages.jsonl", PASSAGES, "012", "xyz")
    expected, _ = search(given, tmp_path / "npy", ["first", "second"])
    for number, form in enumerate((folder, passages)):
        hits, _ = search({"passages": form, "queries": queries}, tmp_path / str(number), ["first", "second"])
        assert hits.passages.tolist() == expected.passages.tolist()
        assert hits.scores.tolist() == expected.scores.tolist()


def test_what_has_no_vector_is_refused_unless_it_is_to_be_skipped(given, tmp_path):
    corpus = texts(["x", "y", "z", "another"])
    with pytest.raises(
        HarnessError, match=r"no vector for the passage '3'; encode all, or say missing: skip"
    ):
        search(given, tmp_path / "refused", ["first"], corpus)
    with pytest.raises(HarnessError, match="no vector for the query 'third'"):
        search(given, tmp_path / "index", ["third"])
    hits, facts = search({**given, "missing": "skip"}, tmp_path / "skip", ["third", "first"], corpus, k=4)
    assert hits.passages.tolist() == [[-1] * 4, [2, 0, 1, -1]]
    assert facts["texts_without_a_vector"] == 1


def test_a_pickle_is_refused_with_the_line_that_converts_it(tmp_path):
    path = tmp_path / "corpus.pkl"
    path.write_bytes(b"\x80\x04N.")
    with pytest.raises(HarnessError, match=r"numpy\.save\('corpus\.npy', v\)"):
        embedding_files.read(path)


def test_the_line_that_converts_a_pickle_does_so(tmp_path):
    import pickle
    import subprocess

    with (tmp_path / "corpus.pkl").open("wb") as file:
        pickle.dump((PASSAGES, ["0", "1", "2"]), file)
    with pytest.raises(HarnessError) as refused:
        embedding_files.read(tmp_path / "corpus.pkl")
    command = str(refused.value).partition("convert it once: ")[2]
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    found = embedding_files.read(tmp_path / "corpus.npy", tmp_path / "corpus.ids")
    assert (found.ids.column.to_pylist(), found.rows.tolist()) == (["0", "1", "2"], PASSAGES.tolist())


@pytest.mark.parametrize("hashes", [None, lambda column: np.zeros(len(column), np.uint64)])
def test_ids_are_told_apart_even_if_their_hashes_are_equal(hashes, monkeypatch):
    if hashes is not None:
        monkeypatch.setattr(ids, "_hashes", hashes)
    column = ids.gathered([["b", "é"], [], ["a", "bb"]])
    assert column.rows(["a", "c", "bb", "", "b", "é", "a"]).tolist() == [2, -1, 3, -1, 0, 1, 2]
    assert column.rows([]).tolist() == []
    assert [column.at(row) for row in range(len(column))] == ["b", "é", "a", "bb"]
    assert column.repeated() is None
    assert ids.gathered([["b", "a"], ["c", "a", "b"]]).repeated() == (1, 3)
    assert ids.gathered([]).rows(["a"]).tolist() == [-1]
    assert ids.gathered([]).repeated() is None


@pytest.mark.parametrize(("name", "damage", "fault"), [
    ("passages.npy", lambda data: data[:-4], "passages.npy: .*cut"),
    ("passages.npy", lambda data: b"\x80\x04N.", "passages.npy: is a pickle"),
    ("passages.ids", lambda data: b"2\n0\n", "passages.npy: there are 3 vectors and 2 ids"),
    ("passages.ids", lambda data: b"2\n\n0\n2\n", "passages.ids:4: .*'2' .*line 1"),
    ("queries.tsv", lambda data: b"a\tfirst\nb\n", "queries.tsv:2: .*1 columns"),
    ("queries.tsv", lambda data: b"a\tone\nb\tone\n", "'a' and 'b' .*two vectors"),
])  # fmt: skip
def test_a_damaged_file_is_named(given, tmp_path, name, damage, fault):
    path = tmp_path / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(HarnessError, match=fault):
        search(given, tmp_path / "index", ["first"])


def test_blank_lines_of_json_are_skipped_however_many_there_are(tmp_path):
    line = json.dumps({"id": "a", "vector": [1.0, 2.0]})
    (tmp_path / "given.jsonl").write_text("\n" * 3_000_000 + line + "\n" * 3_000_000, encoding="utf-8")
    read = embedding_files.read(tmp_path / "given.jsonl")
    assert (read.ids.column.to_pylist(), read.rows.tolist()) == (["a"], [[1, 2]])
    (tmp_path / "given.jsonl").write_text("\n\n", encoding="utf-8")
    with pytest.raises(HarnessError, match=r"given\.jsonl: has no vectors"):
        embedding_files.read(tmp_path / "given.jsonl")


@pytest.mark.parametrize(
    ("names", "rows", "where"),
    [
        ("010", PASSAGES, "given.jsonl:3: .*'0' .*line 1;"),
        ("012", [[1, 0], [0, 2], [3]], "given.jsonl:3: .*1 numbers, others have 2"),
    ],
)
def test_a_wrong_line_of_json_is_named(tmp_path, names, rows, where):
    lines = [
        json.dumps({"id": id, "vector": list(map(float, row))}) for id, row in zip(names, rows, strict=True)
    ]
    (tmp_path / "given.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(HarnessError, match=where):
        embedding_files.read(tmp_path / "given.jsonl")


def test_vectors_of_two_models_are_refused(given, tmp_path):
    np.save(tmp_path / "queries.npy", np.ones((2, 5), np.float32))
    with pytest.raises(HarnessError, match=r"5 numbers .*passages 2"):
        search(given, tmp_path / "index", ["first"])


def test_python_objects_in_npy_are_not_loaded(given, tmp_path):
    np.save(tmp_path / "passages.npy", np.array([{}, {}, {}], object), allow_pickle=True)
    with pytest.raises(HarnessError, match="holds Python objects"):
        search(given, tmp_path / "index", ["first"])


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"passage_ids": None}, "'passage_ids'"),
        ({"query_texts": None}, "'query_texts'"),
        ({"queries": None}, "'query_ids'"),
    ],
)
def test_parameters_that_do_not_belong_together_are_refused(given, change, what):
    with pytest.raises(ValueError, match=what):
        VectorsParams(**{**given, **change})


@pytest.fixture(scope="module")
def contract(tmp_path_factory):
    folder = tmp_path_factory.mktemp("contract")
    chance = np.random.default_rng(3)
    passages, passage_ids = npy(folder, "p", chance.normal(size=(40, 8)).astype("f4"), map(str, range(40)))
    queries = jsonl(folder / "q.jsonl", chance.normal(size=(len(QUERIES), 8)), QUERIES, QUERIES)
    return {
        "passages": str(passages),
        "passage_ids": str(passage_ids),
        "queries": str(queries),
        "missing": "skip",
    }


@pytest.mark.parametrize("case", testing.cases("retriever", "vectors"), ids=lambda case: case.name)
def test_the_contract_of_retrievers(case, contract, tmp_path):
    import dataclasses

    if case.check in BY_TEXT:
        pytest.skip("a vector belongs to an id here, not to a text")
    dataclasses.replace(case, given=contract)(tmp_path)
