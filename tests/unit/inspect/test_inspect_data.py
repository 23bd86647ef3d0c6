"""Looking at a query, at differences, failures and context: the same from the store and from run files."""

import numpy as np
import orjson
import pytest
from rich.console import Console

from harness import run
from harness.collection.corpus import Corpus
from harness.errors import HarnessError
from harness.inspect import lists, material, passage, query, query_groups, rankings, terminal
from harness.inspect.material import Variant
from harness.inspect.passage import Chain
from harness.store.artifacts import Store

SUITE = """
suite: first
datasets: {tour: {tour: {documents: 20}}}
systems:
  bm25: {retriever: bm25}
  titles: {context: [titles], retriever: bm25}
  documents: {retriever: bm25, unit: document}
  fused: {of: [documents, titles], combine: rrf}
  reranked: {of: fused, rerank: {sdm: {}, depth: 5}}
measures: [nDCG@10, R@100]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspect")
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    board = run(folder / "suite.yaml", store=folder / "store", quiet=True)
    assert board.ok
    return board, Store(folder / "store").open()


def opened(made, queries, systems=(), store=None):
    board, own = made
    ((dataset, rows),) = query.chosen_rows(board, None, systems)
    return query.opened(board, dataset, rows, store or own, queries)


@pytest.fixture(scope="module")
def ids(made):
    board, store = made
    return material.opened(board, board.data.datasets[0], store).queries.ids


def test_a_query_is_shown_with_its_judgements_and_where_the_positives_sit(made, ids):
    board, _ = made
    views = opened(made, ids)
    for name in ids:
        view = views.query(name, 10)
        assert view.text
        for ranking in view.rankings:
            assert [hit.rank for hit in ranking.hits] == list(range(1, len(ranking.hits) + 1))
            grades = {hit.id: hit.grade for hit in ranking.hits if (hit.grade or 0) > 0}
            placed = {item.id: item.rank for item in ranking.positives if item.rank and item.rank <= 10}
            assert {hit.id: hit.rank for hit in ranking.hits if hit.id in grades} == placed
    means = {
        row.system: np.mean([views.query(name, 1).rankings[i].values.get("nDCG@10", 0) for name in ids])
        for i, row in enumerate(views.rows)
    }
    for row in board.rows:
        if "nDCG@10" in row.measures:
            assert means[row.system] == pytest.approx(row.measures["nDCG@10"].mean, abs=1e-6)


def test_the_run_files_show_the_same_rankings_as_the_store(made, ids, tmp_path):
    chosen = ids[:5]
    here = opened(made, chosen)
    bare = opened(made, chosen, store=Store(tmp_path / "empty").open())
    assert bare.material is None
    assert "the store has no corpus" in bare.notes[0]
    for name in chosen:
        assert bare.knows(name)
        views = zip(here.query(name, 7).rankings, bare.query(name, 7).rankings, strict=True)
        for stored, filed in views:
            assert [(hit.id, hit.score) for hit in stored.hits] == [
                (hit.id, np.float32(hit.score)) for hit in filed.hits
            ]
            assert filed.length == stored.length
            assert {hit.grade for hit in filed.hits} <= {None}
        assert bare.query(name, 7).text is None


def test_a_system_is_shown_with_the_text_that_it_read(made, ids):
    views = opened(made, ids[:1])
    variants = dict(zip((row.system for row in views.rows), views.variants, strict=True))
    assert variants["bm25"] == Variant((), "passage")
    assert variants["documents"] == Variant((), "document")
    assert variants["titles"].stages
    # a combiner reads nothing itself: its first passage input's context, as a re-ranker above it
    assert variants["fused"].stages == variants["reranked"].stages == variants["titles"].stages
    name = views.query(ids[0], 1).rankings[1].hits[0].id
    plain, seen = (views.texts([name], variants[system])[name] for system in ("bm25", "titles"))
    assert [piece.added for piece in plain] == [False]
    assert [piece.added for piece in seen] == [True, False]
    assert seen[1] == plain[0]


def test_what_differs_most_comes_first(made):
    board, _ = made
    one, two = (next(row for row in board.rows if row.system == name) for name in ("titles", "bm25"))
    found = lists.differing(lists.values_of_both(board, one, two, "nDCG@10"))
    sizes = [abs(item.size) for item in found]
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) > 0
    total = sum(item.size for item in found) / one.measures["nDCG@10"].queries
    assert total == pytest.approx(one.measures["nDCG@10"].mean - two.measures["nDCG@10"].mean, abs=2e-6)
    back = lists.differing(lists.values_of_both(board, two, one, "nDCG@10"))
    assert [(item.query, -item.size) for item in back] == [(item.query, item.size) for item in found]


def test_failures_are_grouped_the_worst_group_first(made):
    board, store = made
    row = board.rows[0]
    at_hand = material.opened(board, board.data.datasets[0], store)
    slices = {
        label: names
        for label, names in query_groups.of(at_hand, at_hand.queries.ids, None, "en").items()
        if label[0] == "slice"
    }
    whole, *groups = lists.failing(board, row, "nDCG@10", slices)
    assert whole.name == "all queries"
    assert sum(len(group.failed) for group in groups) == len(whole.failed)  # here slices do not overlap
    assert sum(group.queries for group in groups) == whole.queries
    shares = [len(group.failed) / group.queries for group in groups]
    assert shares == sorted(shares, reverse=True)
    assert len(lists.failing(board, row, "nDCG@10", {})) == 1


def test_queries_are_grouped_by_what_they_are_and_each_group_has_an_interval(made):
    board, store = made
    one, two = (next(row for row in board.rows if row.system == name) for name in ("titles", "bm25"))
    at_hand = material.opened(board, board.data.datasets[0], store)
    values = lists.values_of_both(board, one, two, "nDCG@10")
    grouped = query_groups.of(at_hand, values, rankings.Rankings(board, two, at_hand, store, values), "en")
    by_kind = {}
    for (kind, _), names in grouped.items():
        by_kind.setdefault(kind, []).extend(names)
    assert {"length", "shared words", "first relevant", "slice"} <= by_kind.keys()
    for kind in by_kind.keys() - {"slice"}:
        assert len(set(by_kind[kind])) == len(by_kind[kind]) <= len(values)  # groups of a kind do not overlap
    assert all(values[name][1] == 1 for name in grouped["first relevant", "at 1"])
    table = query_groups.compared(grouped, values, 7)
    assert table
    for row in table:
        assert row.difference == pytest.approx(row.first - row.second, abs=2e-6)
        assert row.low <= row.difference <= row.high
        assert row.queries >= query_groups.SMALLEST


@pytest.mark.parametrize(("text", "question", "script"), [
    ("Who painted it?", "who", "Latin"), ("painters of boats", "none", "Latin"), ("护照为什么有效", "为什么", "Cjk"),
    ("где 12", "none", "Cyrillic"), ("2024", "none", "None"),
])  # fmt: skip
def test_a_question_word_and_a_script_are_found(text, question, script):
    assert (query_groups._question(text), query_groups._script(text)) == (question, script)


def test_a_name_that_is_not_there_gets_a_hint(made):
    board, _ = made
    with pytest.raises(HarnessError, match=r"^system 'bm52': .* did you mean 'bm25'"):
        list(query.chosen_rows(board, None, ["bm52"]))
    with pytest.raises(HarnessError, match=r"^dataset 'x': .* there are tour"):
        list(query.chosen_rows(board, "x", []))
    with pytest.raises(HarnessError, match=r"--measure 'AP': .* it has nDCG@10"):
        lists.label_of(board, board.rows, "AP")
    with pytest.raises(HarnessError, match=r"--measure 'ndcg@10': .* did you mean 'nDCG@10'\? it has nDCG"):
        lists.label_of(board, board.rows, "ndcg@10")
    documents = next(row for row in board.rows if row.system == "documents")
    assert lists.label_of(board, [documents], None) == "document nDCG@10"


def test_a_passage_is_shown_before_and_after_each_stage(made):
    board, store = made
    corpus = Corpus(store.read(f"corpus-{board.data.datasets[0].digests['corpus']}").folder)
    step = next(step for step in store.steps() if step.startswith("augment-"))
    at = passage.position(corpus, corpus.ids(np.array([3]))[0])
    assert at == 3
    before, after = passage.stages(store, corpus, Chain((step,), ("titles",)), at)
    assert (before.name, after.name) == ("as it was read", "titles")
    assert after.text == f"{corpus.titles(corpus.document_of[3:4])[0]} {before.text}"
    assert [piece.added for piece in before.pieces] == [False]
    assert [piece.added for piece in after.pieces] == [True, False]
    assert passage.position(corpus, "nowhere") is None


def test_composed_passages_are_written_as_json_lines(made, tmp_path):
    board, store = made
    corpus = Corpus(store.read(f"corpus-{board.data.datasets[0].digests['corpus']}").folder)
    step = next(step for step in store.steps() if step.startswith("augment-"))
    count = passage.write(store, corpus, Chain((step,), ("titles",)), tmp_path / "a" / "titles.jsonl")
    lines = [orjson.loads(line) for line in (tmp_path / "a" / "titles.jsonl").read_bytes().splitlines()]
    assert len(lines) == count == corpus.passages
    assert all(line["text"] == f"{line['prefix']} {line['read']}" for line in lines)


def test_files_of_two_chains_with_the_same_methods_are_told_apart():
    found = [Chain(("augment-aa",), ("titles",)), Chain(("augment-b1", "augment-b2"), ("titles", "x (n=1)")),
             Chain(("augment-b1", "augment-c2"), ("titles", "x (n=2)"))]  # fmt: skip
    assert passage.file_names(found) == ["titles.jsonl", "titles+x-b2.jsonl", "titles+x-c2.jsonl"]


def test_values_are_narrowed_to_one_measure(made, ids):
    views = opened(made, ids[:1])
    for ranking in views.query(ids[0], 1, "nDCG@10").rankings:
        assert list(ranking.values) == ([] if ranking.system == "documents" else ["nDCG@10"])
    assert all(len(ranking.values) > 1 for ranking in views.query(ids[0], 1).rankings)


def test_a_run_file_is_put_in_the_order_of_trec_eval(tmp_path):
    path = tmp_path / "x.run"
    path.write_text("q Q0 a 9 0.5 t\nq Q0 b 8 0.5 t\nother Q0 a 1 1 t\nq Q0 c 1 0.7 t\n", encoding="utf-8")
    assert [name for name, _ in rankings._lines(path, ["q"])["q"]] == ["c", "b", "a"]
    path.write_text("q Q0 a 1\n", encoding="utf-8")
    with pytest.raises(HarnessError, match=r"x\.run:1: is no line of a run"):
        rankings._lines(path, ["q"])


def test_the_terminal_shows_texts_ranks_and_what_is_not_at_hand(made, ids, tmp_path):
    views = opened(made, ids[:1], ["titles", "documents"])
    text = printed(views, ids[0])
    view = views.query(ids[0], 3)
    assert view.text.split()[0] in text
    assert "relevant passages:" in text
    assert "relevant documents:" in text
    assert "as titles read it" in text
    assert "⟦" in text
    bare = opened(made, ids[:1], ["titles"], Store(tmp_path / "empty").open())
    assert "not at hand: tour: the store has no corpus" in printed(bare, ids[0])


def printed(found, name):
    console = Console(width=160, highlight=False, color_system=None)
    with console.capture() as captured:
        terminal.show_query(console, found.query(name, 3), found)
    return captured.get()


def test_the_ids_of_a_large_corpus_are_read_through_once(made, ids, monkeypatch):
    views = opened(made, ids)
    reads = []
    monkeypatch.setattr(Corpus, "positions", counted(Corpus.positions, reads))
    monkeypatch.setattr(Corpus, "document_positions", counted(Corpus.document_positions, reads))
    for name in ids:
        for ranking in views.query(name, 10).rankings:
            views.texts([hit.id for hit in ranking.hits], Variant((), ranking.unit))
    assert len(reads) == 1  # of all that is judged


def counted(function, calls):
    def wrapped(*arguments):
        calls.append(function.__name__)
        return function(*arguments)

    return wrapped
