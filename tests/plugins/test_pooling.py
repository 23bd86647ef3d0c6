"""Pools equal a union by hand; judgements come back with their provenance; files with mistakes are refused."""

import hashlib
import json

import numpy as np
import pytest
from making_input import collection

from harness.errors import HarnessError
from harness.types import Document, Hits, Judgement, Passage, Query
from harness_pooling import JudgedParams, PoolParams, pairs
from harness_pooling.judged import Judged
from harness_pooling.pool import Pool

DOCUMENTS = [
    Document("d", "T", (Passage("p0", "zero"), Passage("p1", "one"))),
    Document("e", "", (Passage("p2", "two"), Passage("p3", "three", False))),
    Document("f", "", (Passage("p4", "four"),)),
]
QUERIES = [Query("q0", "first?", answers=("one",)), Query("q1", "second?")]
JUDGED = [Judgement("q0", "p0", 2), Judgement("q1", "p4", 0), Judgement("q1", "p1", 1)]


def hits(*rows):
    width = max(map(len, rows))
    passages = np.array([[*row, *[-1] * (width - len(row))] for row in rows], np.int64)
    scores = np.where(passages >= 0, np.arange(width, 0, -1)[None, :], -np.inf)
    return Hits(passages, scores.astype(np.float32))


RUNS = {"a": hits([0, 1, 2], [4]), "b": hits([2, 0], [1, 4]), "c": hits([2], [0, 1])}


def pooled(folder, **params):
    folder.mkdir(exist_ok=True)
    given = collection(folder, DOCUMENTS, QUERIES, JUDGED, runs=RUNS, licence="CC0")
    assert Pool(PoolParams(**params)).make(given) == (None, None, None)
    kept = given.folder / "kept"
    lines = {
        name: [json.loads(line) for line in (kept / f"{name}.jsonl").read_text().splitlines()]
        for name in ("queries", "documents", "pairs")
    }
    return json.loads((kept / "pool.json").read_text()), lines, given


def test_a_pool_is_the_union_with_every_rank_and_known_grade(tmp_path):
    header, lines, _ = pooled(tmp_path, of=("a", "b"), depth=2)
    assert [(row["query"], row["passage"], row["rank"], row["ranks"]) for row in lines["pairs"]] == [
        ("q0", "p0", 1, {"a": 1, "b": 2}),  # best rank 1, in two runs
        ("q0", "p2", 2, {"b": 1}),
        ("q0", "p1", 3, {"a": 2}),
        ("q1", "p4", 1, {"a": 1, "b": 2}),
        ("q1", "p1", 2, {"b": 1}),
    ]
    assert [row.get("grade") for row in lines["pairs"]] == [2, None, None, 0, 1]
    assert [row["id"] for row in lines["documents"]] == ["d", "e", "f"]
    assert lines["documents"][1]["passages"][1] == {"id": "p3", "text": "three", "candidate": False}
    assert lines["queries"][0] == {"id": "q0", "text": "first?", "answers": ["one"]}
    assert header["counts"] == {"queries": 2, "documents": 3, "pairs": 5, "judged": 3}
    assert header["licence"] == "CC0"


def test_the_digest_is_that_of_the_three_files(tmp_path):
    header, _, given = pooled(tmp_path, of=("a", "b"))
    files = [given.folder / "kept" / f"{name}.jsonl" for name in ("queries", "documents", "pairs")]
    assert header["digest"] == hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def test_another_systems_scores_order_the_pool_and_cut_it(tmp_path):
    _, lines, given = pooled(tmp_path, of=("a", "b"), scored_by="c", top=1)
    assert [(row["query"], row["passage"], row["score"]) for row in lines["pairs"]] == [
        ("q0", "p2", 2.0),
        ("q1", "p1", 1.0),
    ]
    dropped = {item.why: item.times for item in given.tally.dropped}
    assert dropped == {"not in the run of c": 3}


def test_pairs_that_are_judged_may_be_left_out(tmp_path):
    _, lines, given = pooled(tmp_path, of=("a", "b"), judged="leave-out")
    assert [(row["query"], row["passage"]) for row in lines["pairs"]] == [("q0", "p2"), ("q0", "p1")]
    assert {item.why: item.times for item in given.tally.dropped} == {"judged already": 3}


def test_a_pool_of_random_runs_equals_one_made_with_sets():
    generator = np.random.default_rng(1)
    runs = [
        Hits(np.stack([generator.permutation(40)[:12] for _ in range(30)]), np.zeros((30, 12), np.float32))
        for _ in range(5)
    ]
    runs[0].passages[3, 4:] = -1
    made = pairs.union(runs, 10)
    expected = {
        (query, int(passage))
        for run in runs for query in range(30) for passage in run.passages[query, :10] if passage >= 0
    }  # fmt: skip
    assert set(zip(made.query.tolist(), made.passage.tolist(), strict=True)) == expected
    assert len(made.query) == len(expected)
    for row in range(len(made.query)):
        for which, run in enumerate(runs):
            at = np.flatnonzero(run.passages[made.query[row], :10] == made.passage[row])
            assert made.ranks[row, which] == (at[0] + 1 if len(at) else 0)
    best = np.where(made.ranks > 0, made.ranks, 99).min(axis=1)
    assert (np.diff(made.query * 100 + best) >= 0).all()


def judged(folder, name, text, **params):
    (folder / name).write_text(text, encoding="utf-8")
    given = collection(folder, DOCUMENTS, QUERIES, JUDGED)
    made = Judged(JudgedParams(file=folder / name, **params)).make(given)
    return [tuple(item) for item in made.judgements], given.tally.facts()


LINES = """{"query": "q0", "passage": "p0", "grade": 3, "rule": "majority", "judgements": [
 {"judge": "ann", "kind": "person", "grade": 3, "time": "2026-03-01T09:12:44Z", "labels": ["entity"]}]}
{"query": "q0", "passage": "p1", "grade": 1, "kind": "machine"}
{"query": "q1", "passage": "p4", "grade": null}
{"query": "q1", "passage": "p2", "grade": 0, "scheme": "binary"}
{"query": "q9", "passage": "p2", "grade": 1}
{"query": "q1", "passage": "p9", "grade": 1}
""".replace("[\n", "[")


def test_decisions_by_people_replace_and_add_judgements(tmp_path):
    rows, facts = judged(tmp_path, "j.jsonl", LINES)
    assert rows == [
        ("q0", "p0", 3, ("entity",)), ("q1", "p4", 0, ()), ("q1", "p1", 1, ()), ("q1", "p2", 0, ())
    ]  # fmt: skip
    assert facts["facts"]["judged again, with another grade"] == 1
    assert facts["facts"]["judged for the first time"] == 1
    assert {item["why"] for item in facts["dropped"]} == {
        "decided by a machine", "without a decision", "of a query that is not asked",
        "of a passage that is not there",
    }  # fmt: skip
    assert facts["flags"] == [
        "of the 3 judgements in j.jsonl: 1 dropped, because the passage is not there; 2 not bound to the text "
        "that was judged"
    ]
    assert facts["judges"] == {"person": 2}


def test_a_judgement_counts_only_for_the_text_that_was_judged(tmp_path):
    rows = [  # passage, document, text that was judged, grade
        ("p0", "d", "zero", 3),
        ("p1", "d", "another text", 2),  # the id is there, its text has changed
        ("gone", "d", "one", 2),  # cut otherwise, and the same text has the id p1 now
        ("gone2", "d", "zero", 0),  # the same text as p0, which is judged under its own id
        ("gone3", "e", "four", 1),  # a text of another document
        ("p3", "e", "not three", 1),
        ("p4", "", None, 1),  # not bound
    ]
    lines = [
        {"query": "q0", "passage": passage, "document": document, "grade": grade}
        | ({} if text is None else {"sha256": hashlib.sha256(text.encode()).hexdigest()})
        for passage, document, text, grade in rows
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    taken, facts = judged(tmp_path, "j.jsonl", text, existing="drop")
    assert [row[:3] for row in taken] == [("q0", "p0", 3), ("q0", "p4", 1), ("q0", "p1", 2)]
    assert facts["flags"] == [
        "of the 7 judgements in j.jsonl: 2 refused, because the passage has another text now; 1 dropped, "
        "because the passage is not there; 1 carried to the same text under another id; 1 not bound to the "
        "text that was judged"
    ]
    dropped = {item["why"]: item["count"] for item in facts["dropped"]}
    assert dropped["of a text that is judged under another id too"] == 1

    columns = ("query", "passage", "document", "grade", "sha256")
    table = [columns, *([str(line.get(name, "")) for name in columns] for line in lines)]
    text = "".join("\t".join(row) + "\n" for row in table)
    (tmp_path / "table").mkdir()
    again, facts_of_table = judged(tmp_path / "table", "j.tsv", text, existing="drop")
    assert (again, facts_of_table["facts"]) == (taken, facts["facts"])


def test_a_file_of_a_machine_needs_take_machine(tmp_path):
    with pytest.raises(HarnessError, match="decisions in it are by a machine, and 'take' is 'person'; say"):
        judged(tmp_path, "j.jsonl", '{"query": "q0", "passage": "p0", "grade": 1, "kind": "machine"}\n')


def test_the_labels_of_the_decision_win_over_those_of_single_judgements(tmp_path):
    for labels, expected in (
        ('"labels": ["numeral"], ', ("numeral",)),
        ('"labels": [], ', ()),
        ("", ("entity",)),
    ):
        folder = tmp_path / f"{len(labels)}"
        folder.mkdir()
        rows, _ = judged(folder, "j.jsonl", LINES.replace('"rule"', f'{labels}"rule"'))
        assert rows[0][3] == expected


def test_judgements_by_a_machine_are_flagged_and_the_old_ones_may_go(tmp_path):
    rows, facts = judged(tmp_path, "j.jsonl", LINES, take="any", existing="drop")
    assert {row[:3] for row in rows} == {("q0", "p0", 3), ("q0", "p1", 1), ("q1", "p2", 0)}
    assert facts["flags"][1:] == ["1 of the 3 judgements that were taken in are by a machine"]
    assert facts["judges"] == {"person": 2, "machine": 1}


def test_a_table_is_decided_by_the_majority_of_its_lines(tmp_path):
    table = "query\tpassage\tgrade\tjudge\n" + "".join(
        f"{line}\n"
        for line in ("q0\tp1\t2\ta", "q0\tp1\t2\tb", "q0\tp1\t0\tc", "q1\tp2\t1\ta", "q1\tp2\t0\tb")
    )
    rows, facts = judged(tmp_path, "j.tsv", table, existing="drop")
    assert rows == [("q0", "p1", 2, ())]
    assert {item["why"]: item["count"] for item in facts["dropped"]}["without a decision"] == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("j.tsv", "query\tpassage\n", "j.tsv:1: the header lacks the column 'grade'"),
        ("j.tsv", "query\tpassage\tgrade\tmood\n", "the column 'mood' is unknown"),
        ("j.tsv", "query\tpassage\tgrade\nq0\tp0\n", "j.tsv:2: expected 3 columns between tabs, got 2"),
        (
            "j.tsv",
            "query\tpassage\tgrade\nq0\tp0\tgood\n",
            "j.tsv:2: the grade must be a whole number or empty, got 'good'",
        ),
        ("j.tsv", "query\tpassage\tgrade\tkind\nq0\tp0\t1\tcat\n", "neither person nor machine"),
        (
            "j.tsv",
            f"query\tpassage\tgrade\tsha256\nq0\tp0\t1\t{'a' * 64}\nq0\tp0\t1\t{'b' * 64}\n",
            "j.tsv:3: the sha256 of this passage is another one than in line 2",
        ),
        (
            "j.jsonl",
            '{"query": "q0", "passage": "p0", "grade": 2, "sha256": "A1"}\n',
            "the sha256 'A1' is not 64",
        ),
        ("j.tsv", "\n", "j.tsv:1: the table is empty"),
        (
            "j.jsonl",
            "",
            "j.jsonl:1: there is no decision in it; if `harness annotate --export` wrote it, nobody has",
        ),
        ("j.jsonl", '{"query": "q0", "passage": "p0"}\n', "'grade' is missing"),
        ("j.jsonl", '{"query": "q0", "passage": "p0", "grade": "2"}\n', "'grade' must be"),
        ("j.jsonl", '{"query": "", "passage": "p0", "grade": 2}\n', "is empty; give both"),
        ("j.jsonl", '{"query": "q0", "passage": "p0", "grade": 2}\n' * 2, "already decided at line 1"),
        (
            "j.jsonl",
            '{"query": "a", "passage": "b", "grade": 1, "judgements": '
            '[{"judge": "x", "kind": "person", "grade": 1, "time": "today"}]}\n',
            "the time 'today' is not like",
        ),
    ],
)
def test_a_mistake_in_a_file_of_judgements_is_named_with_its_line(name, text, message, tmp_path):
    with pytest.raises(HarnessError, match=None) as caught:
        judged(tmp_path, name, text)
    assert message in str(caught.value)
