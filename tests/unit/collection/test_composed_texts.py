"""A corpus as a system sees it: context composed in the order written, only candidates, by unit."""

import numpy as np
import pytest

from harness import testing
from harness.collection import composed_texts, context_additions, corpus
from harness.collection.composed_texts import View, compose, edited
from harness.errors import ContractError
from harness.types import Addition, Card, Document, Edit, Inputs, Passage

DOCUMENTS = (
    Document("d0", "Zero", (Passage("p0", "alpha"), Passage("p1", "beta", False))),
    Document("d1", "", (Passage("p2", ""),)),
    Document("d2", "Two", (Passage("p3", "gamma", False),)),
    Document("d3", "Three", (Passage("p4", "delta"), Passage("p5", "épsilon"))),
)


class Source:
    def card(self):
        return Card("en", "test")

    def inputs(self, part):
        return Inputs({})

    def documents(self):
        return iter(DOCUMENTS)

    def queries(self):
        return iter(())

    def judgements(self):
        return iter(())


class Stage:
    """Gives each document what a function says."""

    def __init__(self, what):
        self.what = what

    def augment(self, documents):
        return (self.what(document) for document in documents)


@pytest.fixture
def read(tmp_path):
    (tmp_path / "corpus").mkdir()
    corpus.write(Source(), tmp_path / "corpus", lambda done, total: None)
    return corpus.Corpus(tmp_path / "corpus")


def stage(tmp_path, read, what, name="stage"):
    (tmp_path / name).mkdir()
    context_additions.write(Stage(what), read, tmp_path / name, lambda done, total: None)
    return context_additions.Additions(tmp_path / name)


def titles(document):
    return Addition(document.title)


def rows(view):
    return [
        (p, t)
        for batch in view.batches(size=2)
        for p, t in zip(batch.positions.tolist(), batch.texts, strict=True)
    ]


def test_only_candidates_are_texts_and_keep_their_positions(read):
    view = View(read)
    assert len(view) == 4
    assert view.size == 6
    assert rows(view) == [(0, "alpha"), (2, ""), (4, "delta"), (5, "épsilon")]


def test_a_range_of_texts_counts_texts(read):
    [batch] = View(read).batches(size=10, start=1, stop=3)
    assert batch.positions.tolist() == [2, 4]
    assert batch.titles == ["", "Three"]


def test_a_document_is_its_passages_candidates_or_not_with_titles_only_where_context_says_so(tmp_path, read):
    assert rows(View(read, unit="document")) == [(0, "alpha\nbeta"), (1, ""), (3, "delta\népsilon")]
    stages = [stage(tmp_path, read, titles)]
    assert rows(View(read, stages, "document"))[0] == (0, "Zero\nalpha\nbeta")


def plain(documents):
    return [
        (d.number, d.title, d.prefixes, d.positions.tolist(), d.candidates.tolist(), d.texts)
        for d in documents
    ]


def test_whole_documents_hold_all_passages_and_their_prefixes_apart(tmp_path, read, monkeypatch):
    every = [
        (0, "Zero", (), [0, 1], [True, False], ["alpha", "beta"]),
        (1, "", (), [2], [True], [""]),
        (2, "Two", (), [3], [False], ["gamma"]),
        (3, "Three", (), [4, 5], [True, True], ["delta", "épsilon"]),
    ]
    stages = [
        stage(tmp_path, read, titles),
        stage(tmp_path, read, lambda d: Addition(prefixes=("+",) * len(d.passages)), "each"),
    ]
    for passages in (1, 3, 1024):
        monkeypatch.setattr(composed_texts, "PASSAGES", passages)
        assert plain(View(read).documents()) == every
        assert plain(View(read).documents(1, 3)) == every[1:3]
        assert plain(View(read, stages).documents(3)) == [
            (3, "Three", ("Three",), [4, 5], [True, True], ["+ delta", "+ épsilon"])
        ]
    assert plain(View(read, stages[:1], "document").documents())[::3] == [
        (0, "Zero", (), [0], [True], ["Zero\nalpha\nbeta"]),
        (3, "Three", (), [3], [True], ["Three\ndelta\népsilon"]),
    ]
    assert View(read).document_of(np.array([1, 4])).tolist() == [0, 3]
    assert View(read, unit="document").document_of(np.array([1, 3])).tolist() == [1, 3]


@pytest.mark.parametrize(
    ("sizes", "size", "borders"),
    [
        ([3, 1, 4, 2], 1, [0, 3, 4, 8, 10]),
        ([3, 1, 4, 2], 4, [0, 4, 8, 10]),
        ([3, 1, 4, 2], 5, [0, 8, 10]),
        ([9], 2, [0, 9]),
        ([], 2, [0]),
    ],
)
def test_borders_cut_no_document(sizes, size, borders):
    documents = np.repeat(np.arange(len(sizes)), sizes)
    assert composed_texts.document_borders(documents, size).tolist() == borders
    assert testing.texts([""] * sum(sizes), sizes=sizes).borders(size).tolist() == borders


def test_borders_count_candidates(read):
    assert View(read).borders(1).tolist() == [0, 1, 2, 4]
    assert View(read, unit="document").borders(2).tolist() == [0, 2, 3]


def test_prefixes_stand_in_the_order_of_the_stages(tmp_path, read):
    about = stage(tmp_path, read, lambda document: Addition("about " + document.id), "about")
    named = stage(tmp_path, read, titles, "titles")
    assert View(read, [named, about]).take(np.array([0]))[0] == "Zero about d0 alpha"
    assert View(read, [about, named]).take(np.array([0]))[0] == "about d0 Zero alpha"


def test_an_empty_prefix_or_text_leaves_no_space(tmp_path, read):
    view = View(read, [stage(tmp_path, read, titles)])
    assert view.take(np.array([2, 4])) == ["", "Three delta"]


def test_a_prefix_of_each_passage_stands_at_its_passage_also_in_documents(tmp_path, read):
    def numbered(document):
        return Addition(prefixes=tuple(f"({i})" for i in range(len(document.passages))))

    stages = [stage(tmp_path, read, numbered)]
    assert View(read, stages).take(np.array([5]))[0] == "(1) épsilon"
    assert View(read, stages, "document").take(np.array([3]))[0] == "(0) delta\n(1) épsilon"


def test_a_document_that_is_taken_is_read_alone(read, monkeypatch):
    asked, strings = [], read.texts
    monkeypatch.setattr(read, "texts", lambda positions: asked.extend(positions) or strings(positions))
    assert View(read, (), "document").take(np.array([0, 3])) == ["alpha\nbeta", "delta\népsilon"]
    assert asked == [0, 1, 4, 5]


def test_edits_count_characters_of_the_passage_as_it_was_read(tmp_path, read):
    def marked(document):
        return Addition(
            edits=tuple((Edit(0, 1, "[É]"),) if p.text.startswith("é") else () for p in document.passages)
        )

    stages = [stage(tmp_path, read, marked)]
    assert View(read, stages).take(np.array([4, 5])) == ["delta", "[É]psilon"]


def test_of_two_stages_that_edit_the_same_characters_the_first_wins():
    edits = [Edit(0, 3, "ONE"), Edit(2, 5, "no"), Edit(4, 4, "+"), Edit(5, 6, "")]
    assert edited("abcdef", edits) == "ONEd+e"


def test_composing_without_stages_changes_nothing():
    assert compose(" as it is ", [], 0) == " as it is "


@pytest.mark.parametrize(("addition", "fault"), [
    (Addition(prefixes=("one", "two", "three")), "3 prefixes for the 2 .*'d0'"),
    (Addition(edits=((Edit(0, 99, "x"),),) * 2), "0 to 99"),
])  # fmt: skip
def test_an_addition_that_does_not_fit_breaks_the_contract(tmp_path, read, addition, fault):
    with pytest.raises(ContractError, match=fault):
        stage(tmp_path, read, lambda document: addition)


def test_too_few_additions_break_the_contract(tmp_path, read):
    class Short:
        def augment(self, documents):
            return []

    (tmp_path / "short").mkdir()
    with pytest.raises(ContractError, match="0 additions for 4 documents"):
        context_additions.write(Short(), read, tmp_path / "short", lambda done, total: None)


def test_shards_that_a_killed_run_finished_are_not_made_again(tmp_path, read, monkeypatch):
    monkeypatch.setattr(context_additions, "DOCUMENTS", 2)
    calls = []

    def counted(document):
        calls.append(document.id)
        return Addition(document.id)

    folder = tmp_path / "resumed"
    folder.mkdir()
    context_additions.write(Stage(counted), read, folder, lambda done, total: None)
    (folder / "documents-000000000002.arrow").unlink()
    (folder / "documents-000000000002.new").write_bytes(b"half")
    calls.clear()
    facts, _ = context_additions.write(Stage(counted), read, folder, lambda done, total: None)
    assert calls == ["d2", "d3"]
    assert (facts["documents"], facts["documents_changed"]) == (4, 4)
    assert not list(folder.glob("*.new"))


def test_an_augmenter_with_a_file_of_its_own_sees_all_ids_once_and_its_counts_are_reported(tmp_path, read):
    class Filed(Stage):
        def match(self, documents, passages):
            seen.append((list(documents), list(passages)))
            return {"documents_unknown": 3}

    seen = []
    (tmp_path / "filed").mkdir()
    facts, _ = context_additions.write(Filed(titles), read, tmp_path / "filed", lambda done, total: None)
    assert seen == [(["d0", "d1", "d2", "d3"], ["p0", "p1", "p2", "p3", "p4", "p5"])]
    assert facts["documents_unknown"] == 3
