"""`run({...})`: suites as dicts with Python functions as methods, and what a notebook does with the board."""

import codecs
import configparser
import csv
import random as chance
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from xmlrpc.client import Transport

import pytest

from harness import run
from harness.api import read_leaderboard
from harness.errors import HarnessError
from harness.notebook import cell_progress

STOP = ["the", "of"]


def terms(text):
    return {word for word in re.findall(r"\w+", text.lower()) if word not in STOP}


def overlap(queries, corpus, k):
    rows = []
    for query in queries:
        scores = [len(terms(query) & terms(text)) for text in corpus.texts]
        rows.append(sorted(enumerate(scores), key=lambda pair: (-pair[1], pair[0]))[:k])
    return rows


def by_id(queries, corpus, k):
    return [
        {id: len(terms(query) & terms(text)) for id, text in zip(corpus.ids, corpus.texts, strict=True)}
        for query in queries
    ]


def longest(query, texts):
    return [len(text) for text in texts]


def titled(document):
    return f"{document.title}. "


class Model:
    """Not plain: it counts its calls."""

    def __init__(self):
        self.calls = 0

    def __call__(self, query, texts):
        self.calls += 1
        return [-len(text) for text in texts]


def suite(**systems):
    return {
        "suite": "cell",
        "datasets": {"tour": {"tour": {"documents": 12}}},
        "systems": {"bm25": {"retriever": "bm25"}, **systems},
        "measures": ["nDCG@10", "R@100"],
    }


@pytest.fixture
def cell(tmp_path, monkeypatch):
    """Runs a suite as a cell does, in a store and with boards of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda content, **options: run(content, store=tmp_path / "store", quiet=True, **options)


def means(board):
    return {row.system: row.measures["nDCG@10"].mean for row in board.rows}


def test_functions_are_methods(cell):
    board = cell(
        suite(
            mine={"retriever": overlap},
            ids={"retriever": by_id},
            long={"of": "bm25", "rerank": {"python": longest, "depth": 10}},
            context={"context": [titled], "retriever": "bm25"},
            titles={"context": ["titles"], "retriever": "bm25"},
        )
    )
    assert [row.error for row in board.rows if row.error] == []
    by_row = means(board)
    assert by_row["mine"] == by_row["ids"] > 0
    assert by_row["context"] > by_row["bm25"]
    assert not any(row.flags for row in board.rows)
    (step,) = [
        step
        for row in board.rows
        if row.system == "mine"
        for step in row.provenance.steps
        if step.step == "search"
    ]
    assert step.params["source"].startswith("def terms(text)")


def test_a_function_is_keyed_by_its_source_and_its_data(cell, monkeypatch):
    first = cell(suite(mine={"retriever": overlap}))
    fingerprint = first.rows[1].provenance.fingerprint
    assert cell(suite(mine={"retriever": overlap})).rows[1].provenance.fingerprint == fingerprint
    monkeypatch.setitem(globals(), "STOP", ["the"])
    assert cell(suite(mine={"retriever": overlap})).rows[1].provenance.fingerprint != fingerprint


def test_an_object_runs_every_time_and_is_marked(cell, tmp_path):
    model = Model()
    content = suite(short={"of": "bm25", "rerank": {"python": model, "depth": 10}})
    board = cell(content)
    calls = model.calls
    assert [row.error for row in board.rows] == [None, None]
    assert board.rows[1].flags == (
        "Model: a Python object without a source of its own, so it runs every time",
    )
    assert calls > 0
    again = cell(content)
    assert model.calls == 2 * calls
    assert means(again) == means(board)
    assert not list((tmp_path / "store" / "artifacts").glob("rerank-*"))


class Service(BaseHTTPRequestHandler):
    """Counts the requests, and answers with their number."""

    asked: ClassVar[list[str]] = []

    def do_GET(self):
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(len(self.asked)).encode())

    def log_message(self, *args):
        pass


@pytest.fixture
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_function_that_asks_a_service_asks_again_in_the_next_run_and_says_so(cell, address, tmp_path):
    def ask(query, texts):
        connection = Transport().make_connection(address)  # its source shows no client
        connection.request("GET", "/")
        count = float(connection.getresponse().read())
        connection.close()
        return [count + len(text) for text in texts]

    content = suite(
        asked={"of": "bm25", "rerank": {"python": ask, "depth": 10}}, long={"of": "asked", "rerank": longest}
    )
    asked = []
    for _ in range(2):
        board = cell(content)
        assert [row.error for row in board.rows] == [None] * 3
        flag = ("ask: it asks a service, so it runs every time",)
        assert [row.flags for row in board.rows] == [(), flag, flag]
        asked.append(len(Service.asked))
    assert asked[1] == 2 * asked[0] > 0
    assert not list((tmp_path / "store" / "artifacts").glob("rerank-*"))
    assert list((tmp_path / "store" / "artifacts").glob("search-*"))


def test_a_function_that_draws_at_random_or_reads_a_file_runs_every_time(cell, tmp_path):
    (tmp_path / "weight.txt").write_text("[all]\nweight = 1\n")
    path, calls = str(tmp_path / "weight.txt"), str(tmp_path / "calls")

    def drawn(query, texts):
        generator = chance
        return [generator.random() for _ in texts]

    def weighted(query, texts):
        with codecs.open(calls, "a") as log:
            log.write("x")
        settings = configparser.ConfigParser()
        settings.read(path)
        return [float(settings["all"]["weight"]) * len(text) for text in texts]

    def timed(document):
        return f"{time.time_ns()} "

    board = cell(
        suite(
            drawn={"of": "bm25", "rerank": drawn},
            weighted={"of": "bm25", "rerank": weighted},
            timed={"context": [timed], "retriever": "bm25"},
        )
    )
    flags = {row.system: row.flags for row in board.rows if row.flags}
    assert flags == {
        "drawn": ("drawn: it draws random numbers, so it runs every time",),
        "timed": ("timed: it reads the clock, so it runs every time",),
        "weighted": ("weighted: it reads files, so it runs every time",),
    }


def test_an_object_may_be_a_retriever_or_a_context(cell):
    class Searcher:
        def search(self, queries, corpus, k):
            return overlap(queries, corpus, k)

        def title(self, document):
            return [f"{document.title}. " for _ in document.passages]

    mine = Searcher()
    board = cell(
        suite(
            object={"retriever": mine.search},
            function={"retriever": overlap},
            context={"context": [mine.title], "retriever": "bm25"},
            titles={"context": [titled], "retriever": "bm25"},
        )
    )
    assert [row.error for row in board.rows if row.error] == []
    by_row = means(board)
    assert by_row["object"] == by_row["function"]
    assert by_row["context"] == by_row["titles"]


def test_a_function_that_fails_fails_its_row_alone(cell):
    def broken(query, texts):
        return [1 / (len(texts) - len(texts)) for _ in texts]

    def short(query, texts):
        return [1.0]

    board = cell(suite(broken={"of": "bm25", "rerank": broken}, short={"of": "bm25", "rerank": short}))
    errors = {row.system: row.error for row in board.rows}
    assert errors["bm25"] is None
    assert "ZeroDivisionError: division by zero" in errors["broken"]
    assert "the function returned 1 scores for" in errors["short"]


def test_problems_of_a_dict_are_told_all_at_once(cell):
    content = suite(mine={"retriever": object()}, other={"retriever": {"bm25": {"k1": 1j}}})
    with pytest.raises(HarnessError) as error:
        cell(content)
    assert [line.partition(" is ")[0] for line in str(error.value).splitlines()] == [
        "suite.systems.mine.retriever: a object", "suite.systems.other.retriever.bm25.k1: a complex"
    ]  # fmt: skip
    with pytest.raises(HarnessError, match="'k'; did you mean 'k1'"):
        cell(suite(x={"retriever": {"bm25": {"k": 1}}}))


def test_a_board_shows_itself_compares_and_looks_into_queries(cell):
    before = cell(suite(mine={"retriever": overlap}))
    board = cell(suite(mine={"retriever": longest_first}))
    assert re.fullmatch(r"<Board cell: 1 dataset, 2 systems, best nDCG@10 0\.\d{4} by bm25>", repr(board))
    page = board._repr_html_()
    assert "<caption" in page
    assert re.search(r"0\.\d{4}</b><sup>a</sup>", page)
    assert "cannot be told apart" in page
    assert "mine - bm25" in str(board.compare(baseline="bm25"))
    differences = board.compare(before)
    assert "python: source" in repr(differences) or "python: name" in repr(differences)
    assert differences.data.moved
    with (board.folder / board.rows[0].files["per_query"].path).open() as file:
        query = next(csv.DictReader(file, delimiter="\t"))["query"]
    text = str(board.query(query, top=3))
    assert f"tour · query {query}" in text
    assert "relevant passages:" in text
    with pytest.raises(HarnessError, match="query 'nothing': no such query in tour"):
        board.query("nothing")
    assert repr(read_leaderboard(str(board.folder))) == repr(board)


def longest_first(queries, corpus, k):
    order = sorted(range(len(corpus.texts)), key=lambda i: -len(corpus.texts[i]))[:k]
    return [[(i, float(len(corpus.texts[i]))) for i in order] for _ in queries]


def test_a_dict_takes_trials_and_settings(cell):
    board = cell(suite(), limit=3, set=["systems.bm25.retriever.bm25.k1=2"])
    assert board.data.datasets[0].counts["queries"] == 3
    assert board.rows[0].provenance.steps[-1].params["k1"] == 2.0
    assert "a trial" in board._repr_html_()


class Display:
    def __init__(self):
        self.shown = []

    def update(self, item):
        self.shown.append(item._repr_html_())


def test_a_cell_shows_a_bar_and_keeps_notes_only():
    display = Display()
    bar = cell_progress.Cell(display)
    bar.planned(5, 2)
    assert (
        "<progress max='3' value='0' aria-label='steps'></progress> 0 of 3 steps, 2 reused"
        in display.shown[-1]
    )
    bar.note("<b> is escaped")
    assert "&lt;b&gt; is escaped" in display.shown[-1]
    bar.close()
    assert "<progress" not in display.shown[-1]
    assert not cell_progress.in_notebook()
