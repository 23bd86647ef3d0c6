"""The identity card of a collection counts what is there, and says whether that is what its paper prints."""

import json
import statistics
from pathlib import Path

import numpy as np
import pytest

from harness import cli
from harness.collection import cards
from harness.collection.corpus import write
from harness.collection.queries import write_judgements, write_queries
from harness.types import Card, Document, Inputs, Judgement, Official, Passage, Query

DOCUMENTS = [
    Document(
        "d1",
        "A title",
        (Passage("p1", "one two three"), Passage("p2", " "), Passage("p3", "茶\u2028叶 x", False)),
    ),
    Document("d2", "", (Passage("p4", ""),)),
]
QUERIES = [Query("q1", "one two"), Query("q2", "three"), Query("q3", "not judged")]
JUDGED = [
    Judgement("q1", "p1", 2), Judgement("q1", "p2", 0), Judgement("q1", "gone", 1),
    Judgement("q2", "p1", 0), Judgement("unasked", "p1", 1),
]  # fmt: skip


class Toy:
    def card(self) -> Card:
        return Card("en", "test")

    def inputs(self, part) -> Inputs:
        return Inputs({})

    def documents(self):
        return iter(DOCUMENTS)


def made(folder: Path, language: str = "en", asked: str | None = None) -> dict:
    write(Toy(), folder / "corpus", lambda done, total: None)
    write_queries(QUERIES, folder / "queries")
    write_judgements(JUDGED, folder / "judgements")
    return cards.card(
        folder / "corpus", folder / "queries", folder / "judgements", Card(language, "test", asked)
    )


def test_it_counts_what_is_there(tmp_path):
    card = made(tmp_path)
    counts = {name: value for name, value in card.items() if isinstance(value, int)}
    assert counts == {
        "documents": 2, "titled_documents": 1, "passages": 4, "candidates": 3, "empty_passages": 2,
        "queries": 3, "judgements": 4, "judged_passages": 3, "positives": 2,
        "queries_without_judgement": 1, "queries_without_positive": 1,
        "judgements_of_unknown_passages": 1, "judgements_of_unknown_queries": 1,
    }  # fmt: skip
    assert card["levels"] == {"0": 2, "1": 1, "2": 1}


def test_lengths_are_in_characters_and_words(tmp_path):
    card = made(tmp_path)
    assert card["passages_per_document"]["mean"] == 2
    assert (card["passage_characters"]["max"], card["passage_characters"]["mean"]) == (13, (13 + 1 + 5) / 4)
    assert (card["passage_words"]["max"], card["passage_words"]["min"]) == (3, 0)
    assert card["query_words"]["mean"] == round(5 / 3, 4)
    assert (card["judgements_per_query"]["max"], card["positives_per_query"]["max"]) == (3, 2)


def test_words_are_not_counted_in_a_language_without_blanks(tmp_path):
    card = made(tmp_path, "zh", "en")
    assert card["passage_words"] is None
    assert card["query_words"]["max"] == 2


def test_a_spread_equals_the_statistics_of_the_values():
    values = np.random.default_rng(1).geometric(0.02, 5001)
    parts = cards.Spread()
    for part in np.array_split(values, 7):
        parts.add(part)
    found = parts.summary()
    assert found == cards.spread(values)
    assert found["mean"] == round(statistics.fmean(values.tolist()), 4)
    assert found["sd"] == round(statistics.pstdev(values.tolist()), 4)
    ordered = sorted(values.tolist())
    for q in cards.PERCENTILES:
        at = found[f"p{q}"]
        assert sum(value <= at for value in ordered) >= q / 100 * len(ordered)
        assert sum(value < at for value in ordered) < q / 100 * len(ordered)
    assert cards.Spread().summary() is None


def test_a_number_agrees_if_it_rounds_to_what_is_printed():
    found = {"queries": 10, "query_characters": {"mean": 9.2867, "max": 38}}
    official = Official(
        "a paper", {"queries": 10, "query_characters.mean": 9.29, "query_characters.max": 40, "passages": 3}
    )
    told = {check.name: (check.here, check.agrees) for check in cards.checks(found, [official])}
    assert told == {
        "queries": (10, True), "query_characters.mean": (9.2867, True),
        "query_characters.max": (38, False), "passages": (None, False),
    }  # fmt: skip


def test_a_number_in_another_unit_neither_agrees_nor_differs():
    official = Official("a paper", {"title_words.mean": 7.7}, comparable=False)
    (check,) = cards.checks({"title_words": {"mean": 6.1}}, [official])
    assert (check.printed, check.here, check.agrees) == (7.7, 6.1, None)


def test_the_share_is_of_passages_or_else_of_documents():
    found = {"passages": 5, "documents": 2}
    assert cards.share(found, [Official("a", {"queries": 1}), Official("b", {"passages": 20})]) == 0.25
    assert cards.share(found, [Official("a", {"documents": 4})]) == 0.5
    assert cards.share(found, []) is None


# the command


def folder(path: Path) -> Path:
    """A T2Ranking release of two passages."""
    path.mkdir()
    (path / "collection.tsv").write_text("pid\ttext\n0\t桂花\n1\t荷花开\n", encoding="utf-8")
    (path / "queries.test.tsv").write_text("qid\ttext\n7\t什么花\n", encoding="utf-8")
    (path / "qrels.test.tsv").write_text("qid\t-\tpid\trel\n7\t0\t1\t3\n")
    return path


def show(*arguments, store, capsys) -> tuple[int, str, str]:
    code = cli.main(["datasets", "show", *map(str, arguments), "--store", str(store)])
    printed = capsys.readouterr()
    return code, " ".join(printed.out.split()), printed.err


def test_a_dataset_is_shown_by_its_name_and_parameters(tmp_path, capsys):
    path = folder(tmp_path / "data")
    code, out, _ = show("t2ranking", f"path={path}", "split=test", store=tmp_path / "store", capsys=capsys)
    assert code == 0
    assert "split test, language zh" in out
    assert "2 passages" in out
    assert "judgements: 1 of grade 3" in out
    assert "0.00% of the official collection is here" in out
    assert "differs passages: 2,303,643 in Xie et al. 2023, table 3 and section 5, 2 here" in out
    assert "contents of the corpus: " in out


def test_a_suite_shows_its_datasets_or_the_one_that_is_named(tmp_path, capsys):
    folder(tmp_path / "data")
    given = {"path": "data", "split": "test"}
    suite = {
        "suite": "s",
        "datasets": {"t2": {"t2ranking": given}, "tour": {"tour": {"documents": 5}}},
        "systems": {"bm25": {"retriever": "bm25"}},
        "measures": ["RR@10"],
    }
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    both = show(tmp_path / "suite.yaml", store=tmp_path / "store", capsys=capsys)
    assert both[0] == 0
    assert "t2: " in both[1]
    assert "tour: " in both[1]
    code, out, _ = show(f"{tmp_path / 'suite.yaml'}#tour", store=tmp_path / "store", capsys=capsys)
    assert (code, "t2: " in out, "5 documents" in out) == (0, False, True)
    code, _, err = show(f"{tmp_path / 'suite.yaml'}#tor", store=tmp_path / "store", capsys=capsys)
    assert (code, "there is no dataset 'tor'; it has t2, tour" in err) == (2, True)


def test_what_is_not_here_is_told_with_all_that_is_known(tmp_path, capsys):
    code, out, _ = show(
        "dapr", f"path={tmp_path}/none", "dataset=nq-hard", store=tmp_path / "store", capsys=capsys
    )
    assert code == 1
    assert (
        "note: its queries are those on which BM25, DRAGON+, SPLADEv2 and ColBERTv2 all had an nDCG@10 of zero"
        in out
    )
    assert "nq-hard/test.parquet (not there)" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("t2ranking",), "t2ranking: the parameter 'path' is missing"),
        (("t2ranking", "path"), "'path': expected PARAMETER=VALUE"),
        (("t2rankin",), "did you mean 't2ranking'?"),
        (("t2ranking", "path=x", "split=1"), "t2ranking.split: expected a text, got 1"),
    ],
)
def test_what_is_asked_wrongly_is_told(tmp_path, capsys, arguments, message):
    code, _, err = show(*arguments, store=tmp_path / "store", capsys=capsys)
    assert code == 2
    assert message in err


def test_a_fault_of_the_data_is_told_with_file_and_line(tmp_path, capsys):
    path = folder(tmp_path / "data")
    (path / "qrels.test.tsv").write_text("qid\t-\tpid\trel\n7\t0\t1\t9\n")
    code, _, err = show("t2ranking", f"path={path}", "split=test", store=tmp_path / "store", capsys=capsys)
    assert code == 2
    assert f"{path}/qrels.test.tsv:2: expected a grade from 0 to 3, got '9'" in err


def test_fetching_says_what_came_and_what_is_here(tmp_path, capsys, monkeypatch):
    path = folder(tmp_path / "data")
    assert cli.main(["datasets", "fetch", "t2ranking", f"path={path}", "split=test"]) == 0
    assert capsys.readouterr().out == "t2ranking: everything is here\n"
    monkeypatch.setattr("harness_t2ranking.source.fetch", lambda url, to: to.write_text(url))
    assert cli.main(["datasets", "fetch", "t2ranking", f"path={path}", "split=dev"]) == 0
    assert [line.rpartition("/")[2] for line in capsys.readouterr().out.splitlines()] == [
        "queries.dev.tsv",
        "qrels.dev.tsv",
    ]
    assert cli.main(["datasets", "fetch", "tour"]) == 2
    assert "tour: 'tour' has nothing that can be fetched beforehand" in capsys.readouterr().err


def test_a_judgement_of_a_passage_that_is_not_there_is_named_by_file_and_line(tmp_path, capsys):
    path = folder(tmp_path / "data")
    (path / "qrels.test.tsv").write_text("qid\t-\tpid\trel\n7\t0\t0\t3\n7\t0\t99\t2\n")
    code, out, _ = show("t2ranking", f"path={path}", "split=test", store=tmp_path / "store", capsys=capsys)
    assert code == 0
    assert "1 of passages that are not there" in out
    assert (
        f"{path}/qrels.test.tsv:3: the passage '99' is judged for query '7', and is not in the corpus" in out
    )
