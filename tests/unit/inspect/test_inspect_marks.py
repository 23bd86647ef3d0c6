"""Texts in pieces: what context put in is marked, to the character, and nothing else."""

from types import SimpleNamespace

import numpy as np
import pytest

from harness.collection.composed_texts import View, compose
from harness.inspect import marks
from harness.inspect.marks import Piece, composed, only, split, text_of
from harness.types import Addition, Edit

PASSAGES = (("He was born in 1732.", "", "It is a symphony."), ("no context",))


def shown(pieces):
    return "".join(f"[{piece.text}]" if piece.added else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("text", "addition", "expected"),
    [
        ("a b", Addition("T"), "[T ]a b"),
        ("a b", Addition("T", ("P",)), "[T P ]a b"),
        ("a b", Addition("a"), "[a ]a b"),  # a guess from the words could not tell which `a` is new
        ("", Addition("T"), "[T]"),
        ("a b", Addition(), "a b"),
        ("", Addition(), ""),
        ("he and he", Addition(edits=((Edit(9, 9, " (Joseph Haydn)"),),)), "he and he[ (Joseph Haydn)]"),
        ("he and he", Addition(edits=((Edit(2, 2, " and he"),),)), "he[ and he] and he"),
        ("he came", Addition(edits=((Edit(0, 2, "he (Ann)"),),)), "he[ (Ann)] came"),
        ("he came", Addition(edits=((Edit(0, 2, "Ann, he"),),)), "[Ann, ]he came"),
        ("he came", Addition(edits=((Edit(0, 2, "Ann"),),)), "[Ann] came"),
        ("he came", Addition(edits=((Edit(2, 7, ""),),)), "he"),
        ("他来了", Addition("海顿", edits=((Edit(1, 1, "（海顿）"),),)), "[海顿 ]他[（海顿）]来了"),
    ],
)
def test_what_prefixes_and_edits_put_in_is_marked(text, addition, expected):
    assert shown(composed(text, [addition], 0)) == expected


def test_of_several_stages_each_has_its_own_marks():
    stages = [Addition("T", edits=((Edit(2, 2, " (Ann)"),),)), Addition("K", edits=((Edit(2, 2, "!"),),))]
    pieces = composed("he came", stages, 0)
    assert shown(pieces) == "[T ][K ]he[ (Ann)][!] came"
    assert shown(only(pieces, 0)) == "[T ]K he[ (Ann)]! came"
    assert shown(only(pieces, 1)) == "T [K ]he (Ann)[!] came"
    assert only(pieces, 2) == (Piece("T K he (Ann)! came", None),)


def test_the_pieces_are_the_text_that_methods_read():
    random = np.random.default_rng(0)
    for _ in range(300):
        text = "".join(random.choice(list("ab 海"), int(random.integers(0, 12))))
        additions = [drawn(random, len(text)) for _ in range(int(random.integers(0, 4)))]
        assert text_of(composed(text, additions, 0)) == compose(text, additions, 0)


def drawn(random, length):
    """An addition to a document of one passage."""
    ends = [sorted(random.integers(0, length + 1, 2).tolist()) for _ in range(int(random.integers(0, 4)))]
    edits = tuple(Edit(low, high, str(random.choice(["", "x", "ab"]))) for low, high in ends)
    prefixes = (str(random.choice(["", "P"])),) if random.random() < 0.5 else ()
    return Addition(str(random.choice(["", "T t"])), prefixes, (edits,) if random.random() < 0.7 else ())


def view(additions, unit):
    """A view of the passages above; additions[s][d] is what the stage s adds to the document d."""
    texts = [text for document in PASSAGES for text in document]
    corpus = SimpleNamespace(
        passages=4,
        documents=2,
        candidate=np.ones(4, bool),
        first=np.array([0, 3, 4]),
        document_of=np.array([0, 0, 0, 1]),
        texts=lambda positions: [texts[i] for i in positions],
        titles=lambda numbers: ["" for _ in numbers],
    )
    stages = [SimpleNamespace(take=lambda numbers, own=own: [own[i] for i in numbers]) for own in additions]
    return View(corpus, stages, unit)


ADDED = [
    [Addition("Haydn", edits=((Edit(2, 2, " (Haydn)"),), (), ())), Addition()],
    [Addition(prefixes=("(1)", "(2)", "")), Addition("", ("last",))],
]


@pytest.mark.parametrize(("unit", "size"), [("passage", 4), ("document", 2)])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_passages_and_documents_are_taken_as_a_view_gives_them(unit, size, count):
    seen = view(ADDED[:count], unit)
    positions = np.arange(size)
    assert [text_of(pieces) for pieces in split(seen, positions)] == seen.take(positions)


def test_a_documents_prefix_is_marked_once_and_the_lines_between_passages_are_not():
    one, two = split(view(ADDED, "document"), np.arange(2))
    assert shown(one) == "[Haydn\n][(1) ]He[ (Haydn)] was born in 1732.\n[(2)]\nIt is a symphony."
    assert shown(two) == "[last ]no context"


def test_neighbours_of_one_stage_are_one_piece():
    assert marks._merged([Piece("a", None), Piece("", 0), Piece("b", None), Piece("c", 1)]) == (
        Piece("ab", None),
        Piece("c", 1),
    )
