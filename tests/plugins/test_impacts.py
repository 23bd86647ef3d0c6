"""Weights of terms that were made elsewhere: summed exactly, in any order of the file, damaged lines by name."""

import dataclasses
import json
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from harness import testing
from harness.errors import HarnessError
from harness.testing import retriever as contract
from harness.testing.texts import sentences
from harness_splade import ImpactsParams
from harness_splade.impacts import Impacts

VECTORS = {
    "2": {"river": 3, "castle": 1.5},
    "0": {"castle": 2, "island": 0.25},
    "9": {"castle": 100},  # of no passage of the corpus
    "1": {"island": 1, "zero": 0},
    "3": {},
}
QUERIES = {"the Castle of the island": {"castle": 2, "island": 4, "unknown": 7}, "river": {"river": 0.5}}


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def passages(tmp_path):
    rows = [{"id": id, "contents": "", "vector": vector} for id, vector in VECTORS.items()]
    return lines(tmp_path / "passages.jsonl", rows)


@pytest.fixture
def queries(tmp_path):
    rows = [{"id": "q", "contents": text, "vector": vector} for text, vector in QUERIES.items()]
    return lines(tmp_path / "queries.jsonl", rows)


def opened(folder, count=4, **given):
    folder.mkdir(exist_ok=True)
    method, texts = Impacts(ImpactsParams(**given)), testing.texts([f"text {i}" for i in range(count)])
    facts = method.index(texts, folder)
    return method.open(texts, folder), facts


def best(search, query, k=4):
    hits = search.search([query], k)
    rows = zip(hits.passages[0].tolist(), hits.scores[0].tolist(), strict=True)
    return [row for row in rows if row[0] >= 0]


def test_a_score_is_the_sum_over_terms_of_both_weights(tmp_path, passages, queries):
    search, facts = opened(tmp_path / "index", passages=passages, queries=queries)
    assert best(search, "the Castle of the island") == [(0, 5.0), (1, 4.0), (2, 3.0)]
    assert best(search, "river") == [(2, 1.5)]
    assert (facts["texts_without_a_vector"], facts["vectors_of_no_text"]) == (0, 1)


def test_without_weights_each_word_of_a_query_counts_once(tmp_path, passages):
    search, _ = opened(tmp_path / "index", passages=passages)
    assert best(search, "Castle, castle... island?") == [(0, 2.25), (2, 1.5), (1, 1.0)]


def test_passages_that_are_no_candidates_need_no_weights_and_are_not_found(tmp_path, passages):
    texts = testing.texts(["a"] * 6, candidates=[True, False, True, True, False, False])
    method = Impacts(ImpactsParams(passages=passages))
    (tmp_path / "index").mkdir()
    method.index(texts, tmp_path / "index")
    assert best(method.open(texts, tmp_path / "index"), "castle island") == [(0, 2.25), (2, 1.5)]


def test_named_passages_are_scored_alone(tmp_path, passages):
    search, _ = opened(tmp_path / "index", passages=passages)
    hits = search.search(["castle"], 2, np.array([[3, 2]]))
    assert (hits.passages.tolist(), hits.scores.tolist()) == ([[2, 3]], [[1.5, 0.0]])


def test_a_folder_of_files_in_another_order_gives_the_same_index(tmp_path, passages, queries):
    folder = tmp_path / "parts"
    folder.mkdir()
    rows = [json.loads(line) for line in passages.read_text().splitlines()]
    lines(folder / "docs00.jsonl", rows[3:])
    lines(folder / "docs01.jsonl", rows[:3])
    one, _ = opened(tmp_path / "one", passages=passages, queries=queries)
    many, _ = opened(tmp_path / "many", passages=folder, queries=queries)
    for query in QUERIES:
        assert best(one, query) == best(many, query)


def test_whole_impacts_are_rounded_in_passages_and_queries(tmp_path, passages, queries):
    search, _ = opened(tmp_path / "index", passages=passages, queries=queries, quantise=2)
    assert best(search, "the Castle of the island") == [
        (0, 16.0),
        (1, 16.0),
        (2, 12.0),
    ]  # 4*4 + 0*8, 2*8, 3*4


def test_a_passage_without_weights_is_refused_or_never_found(tmp_path, passages):
    with pytest.raises(HarnessError, match=r"passages\.jsonl: has no vector for the passage '4'; weigh all"):
        opened(tmp_path / "refused", count=5, passages=passages)
    search, facts = opened(tmp_path / "index", count=5, passages=passages, missing="skip")
    assert facts["texts_without_a_vector"] == 1
    assert {position for position, _ in best(search, "castle island river", 5)} == {0, 1, 2}


def test_a_query_that_the_file_lacks_is_refused(tmp_path, passages, queries):
    search, _ = opened(tmp_path / "index", passages=passages, queries=queries)
    with pytest.raises(HarnessError, match="'unweighed'"):
        search.search(["unweighed"], 1)


@pytest.mark.parametrize(("line", "fault"), [
    ('{"id": "0", "vector": {"a": 1}}', "'0' .*already"),
    ('{"id": "1", "vector": {"a": -1}}', "below 0"),
    ('{"id": "1", "vector": {"a": "b"}}', "does not fit"),
    ('{"id": "1"}', "'vector' is missing"),
    ('{"id": "1", "vector": {', "JSON"),
])  # fmt: skip
def test_a_damaged_line_is_named(tmp_path, line, fault):
    path = tmp_path / "passages.jsonl"
    path.write_text('{"id": "0", "vector": {"a": 1}}\n' + line + "\n")
    with pytest.raises(HarnessError, match=f"passages.jsonl:2: .*{fault}"):
        opened(tmp_path / "index", count=2, passages=path)


# It knows texts by id alone; these two compare corpora in which one text has two ids.
BY_TEXT = (contract.scores_equal_texts_equally, contract.returns_only_candidates)
CASES = [case for case in testing.cases("retriever", "impacts") if case.check not in BY_TEXT]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_keeps_the_contract(case, tmp_path):
    """A text of the contract's corpus has its words with their counts."""
    rows = [
        {"id": str(i), "vector": Counter(re.findall(r"\w+", text.lower()))}
        for i, text in enumerate(sentences(40))
    ]
    given = {"passages": str(lines(tmp_path / "contract.jsonl", rows)), "missing": "skip"}
    dataclasses.replace(case, given=given)(tmp_path)


def test_no_torch_is_loaded():
    code = "import harness_splade.impacts, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
