"""Reading pools: what fits docs/pools.md is read, and what does not is named with its line."""

import orjson
import pytest
from pools import ZH, make_project, pairs, write_pool

from harness.errors import HarnessError
from harness_annotate import pool_files, views


def test_a_pool_is_read_with_the_document_around_a_passage(tmp_path):
    pool = pool_files.Pool(
        write_pool(tmp_path, pairs(2), queries=[{"id": "q0", "text": ZH}, {"id": "q1", "text": "b"}])
    )
    assert (len(pool.pairs), pool.queries["q0"].text) == (10, ZH)
    before, text, after = views.around(pool.document("d1"), "d1-1")
    assert (before, text) == (["What comes before.", "The text of d1-0."], "The text of d1-1.")
    assert len(after) == 4


def test_of_a_long_document_only_what_is_near_is_sent():
    passages = tuple(pool_files.Passage(str(number), "x" * 15_000) for number in range(20))
    before, text, after = views.around(pool_files.Document("d", passages), "10")
    assert (len(before), len(text), len(after)) == (2, 15_000, 2)


def test_a_changed_file_is_refused(tmp_path):
    folder = write_pool(tmp_path, pairs(1))
    (folder / "queries.jsonl").write_text('{"id": "q0", "text": "another"}\n')
    with pytest.raises(HarnessError, match=r"not those that pool.json describes; make the pool again"):
        pool_files.Pool(folder)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"query": "q9"}, "pairs.jsonl:2: the query 'q9' is not in the pool"),
        ({"document": "d9"}, "pairs.jsonl:2: the document 'd9' is not in the pool"),
        ({"passage": "d0-0"}, "pairs.jsonl:2: this pair stands in line 1 already"),
        ({"passage": 3}, "pairs.jsonl:2: expected `str`, got `int`"),
    ],
)
def test_a_wrong_pair_is_named_with_its_line(tmp_path, change, problem):
    rows = pairs(1, 3)
    documents = [{"id": "d0", "title": "", "passages": [{"id": row["passage"], "text": "a"} for row in rows]}]
    rows[1] |= change
    with pytest.raises(HarnessError, match=problem):
        pool_files.Pool(write_pool(tmp_path, rows, [{"id": "q0", "text": "a"}], documents))


def test_a_passage_that_its_document_lacks_is_refused(tmp_path):
    documents = [{"id": "d0", "title": "", "passages": [{"id": "other", "text": "a"}]}]
    with pytest.raises(HarnessError, match=r"documents\.jsonl: the document 'd0' lacks the passage 'd0-0'"):
        pool_files.Pool(write_pool(tmp_path, pairs(1, 1), documents=documents))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "gold.tsv:1: the header is missing"),
        ("q0\td0-0\t3\n", "gold.tsv:1: the header is missing"),
        ("query\tpassage\tgrade\nq0\td0-0\n", "gold.tsv:2: expected query, passage and grade"),
        ("query\tpassage\tgrade\nq0\tnone\t3\n", "gold.tsv:2: the pair q0, none is not in the pool"),
        ("query\tpassage\tgrade\nq0\td0-0\t7\n", "gold.tsv:2: grade: 7 is not one of the scheme"),
        ("query\tpassage\tgrade\nq0\td0-0\t³\n", "gold.tsv:2: grade: '³' is not one"),
    ],
)
def test_a_wrong_file_of_gold_questions_is_named_with_its_line(tmp_path, text, problem):
    (tmp_path / "gold.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(HarnessError, match=problem):
        make_project(tmp_path, gold=tmp_path / "gold.tsv")


def test_a_folder_that_is_no_pool_is_refused(tmp_path):
    with pytest.raises(HarnessError, match="is no pool"):
        pool_files.Pool(tmp_path)
    write_pool(tmp_path, pairs(1))
    about = orjson.loads((tmp_path / "pool.json").read_bytes())
    (tmp_path / "pool.json").write_bytes(orjson.dumps({**about, "form": "harness pool 2"}))
    with pytest.raises(HarnessError, match="its form is 'harness pool 2', not 'harness pool 1'"):
        pool_files.Pool(tmp_path)
