"""The contexts `headings`, `neighbours` and `summary`: what each passage gets, and that none gets itself."""

import time

import pytest

from harness.collection.composed_texts import compose
from harness.types import Document, Passage
from harness_surroundings import Headings, Neighbours, Summary, headings, neighbours, summary

TEXT = "The toll was paid at the gate."


def document(*texts):
    return Document("d", "", tuple(Passage(f"p{i}", text) for i, text in enumerate(texts)))


def composed(method, *texts):
    """Each passage as a retriever sees it."""
    [addition] = method.augment([document(*texts)])
    return [compose(text, [addition], i) for i, text in enumerate(texts)]


def above(*texts, plain=True):
    [addition] = headings.Augmenter(Headings(plain)).augment([document(*texts)])
    return list(addition.prefixes)


def around(*texts, before=1, after=1):
    return composed(neighbours.Augmenter(Neighbours(before, after)), *texts)


def test_a_passage_gets_the_marked_headings_above_it_outermost_first():
    assert above("# Castle", TEXT, "## Tower", TEXT, "### Stairs", TEXT, "## Moat", TEXT) == [
        "", "Castle", "Castle", "Castle > Tower", "Castle > Tower", "Castle > Tower > Stairs", "Castle", "Castle > Moat",
    ]  # fmt: skip


def test_headings_of_html_count_like_those_of_markdown():
    assert above(
        "<h1>The <b>toll</b> &amp; gate</h1>", f"<p>{TEXT}</p>", '<H2 class="x">Tower</H2>', TEXT
    ) == ["", "The toll & gate", "The toll & gate", "The toll & gate > Tower"]


def test_a_passages_own_headings_are_not_given_to_it_but_to_the_next():
    assert above(f"# Castle\n## Tower\n{TEXT}", TEXT) == ["", "Castle > Tower"]
    # its own heading also ends those that the text before stood under
    assert above("# Castle", "## Tower", f"## Moat\n{TEXT}") == ["", "Castle", "Castle"]
    # one in its midst changes nothing for itself
    assert above("# Castle", f"{TEXT}\n# Harbour\n{TEXT}", TEXT) == ["", "Castle", "Harbour"]


def test_a_short_line_that_precedes_text_is_a_heading_where_none_is_marked():
    assert above("Who pays the toll", TEXT, "2.1 Exceptions", TEXT) == [
        "",
        "Who pays the toll",
        "",
        "2.1 Exceptions",
    ]
    assert above("Who pays the toll", TEXT, plain=False) == ["", ""]
    assert above("# Castle", "Who pays the toll", TEXT) == ["", "Castle", "Castle"]


def test_of_two_plain_headings_in_a_row_the_second_is_below_the_first():
    assert above("Tolls", "Who pays", TEXT, "When", TEXT) == ["", "Tolls", "Tolls > Who pays", "", "When"]


@pytest.mark.parametrize(
    "line",
    ["the gate", "The gate:", "Gate | Toll", "2 gates", "- Gate", "The gate " * 7, TEXT, "12", "门" * 21],
    ids=["small", "colon", "cell", "number", "dash", "long", "sentence", "digits", "long Chinese"],
)
def test_what_is_no_plain_heading(line):
    assert above(line, TEXT) == ["", ""]


def test_a_list_and_a_last_line_are_no_headings():
    assert above("Gate", "Tower", "Moat", TEXT) == [""] * 4
    assert above(TEXT, "Gate") == ["", ""]


def test_chinese_headings_are_short_lines_too():
    assert above(
        "适用范围", "本办法适用于全国所有的城市和乡镇。", "【附则】", "本办法自公布之日起施行。"
    ) == ["", "适用范围", "", "【附则】"]


def test_neighbours_stand_before_a_passage_and_at_its_end():
    assert around("one", "two", "three") == ["one two", "one two three", "two three"]
    assert around("a", "b", "c", "d", before=2, after=0) == ["a", "a b", "a b c", "b c d"]
    assert around("a", "b", "c", "d", before=0, after=2) == ["a b c", "b c d", "c d", "d"]


def test_empty_passages_are_passed_over_and_have_neighbours_themselves():
    assert around("one", "", " ", "two") == ["one two", "one two", "one  two", "one two"]


def test_a_document_of_one_passage_has_no_neighbours_and_no_summary_of_others():
    [addition] = neighbours.Augmenter(Neighbours()).augment([document("alone")])
    assert addition.prefixes == ("",)
    assert addition.edits == ((),)
    assert composed(summary.Augmenter(Summary()), "Alone. Still.") == ["Alone. Still."]


def test_neither_before_nor_after_is_refused():
    with pytest.raises(ValueError, match="nothing"):
        Neighbours(before=0, after=0)


def test_a_passage_gets_the_first_sentences_that_are_not_its_own():
    method = summary.Augmenter(Summary(sentences=3))
    assert composed(method, "One is here. Two too.", "Three came.\nFour went.", "Five.") == [
        "Three came. One is here. Two too.",
        "One is here. Two too. Three came.\nFour went.",
        "One is here. Two too. Three came. Five.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was built in 1650. Later it fell.", ["It was built in 1650.", "Later it fell."]),
        (
            "Dr. Smith of St. Ives, e.g. Paul J. Smith, came.",
            ["Dr. Smith of St. Ives, e.g. Paul J. Smith, came."],
        ),
        ("It cost 3.5 pounds. (So they say.) Yes!", ["It cost 3.5 pounds.", "(So they say.)", "Yes!"]),
        ("see example.org or so. no capital", ["see example.org or so. no capital"]),
        ("他来了。“真的吗？”她问。走吧！", ["他来了。", "“真的吗？”", "她问。", "走吧！"]),
        ("一行\n... \n第二行", ["一行", "第二行"]),
        ("", []),
    ],
)
def test_sentences_of_english_and_chinese(text, expected):
    assert list(summary.sentences(text)) == expected


@pytest.mark.parametrize("texts", [(), ("",), ("", " ", "\n\n"), ("...",), tuple(["# A", TEXT] * 1000)])
def test_documents_of_any_shape_get_one_prefix_a_passage(texts):
    for method in (
        headings.Augmenter(Headings()),
        neighbours.Augmenter(Neighbours()),
        summary.Augmenter(Summary()),
    ):
        [addition] = method.augment([document(*texts)])
        assert len(addition.prefixes) == len(texts)


def test_no_passage_of_a_long_document_stands_twice_in_its_own_text():
    texts = [f"Sentence number {i} is here." for i in range(2000)]
    for method in (
        headings.Augmenter(Headings()),
        neighbours.Augmenter(Neighbours(2, 2)),
        summary.Augmenter(Summary()),
    ):
        for text, seen in zip(texts, composed(method, *texts), strict=True):
            assert seen.count(text) == 1


def test_a_heading_keeps_its_text_when_it_closes_with_marks():
    assert headings.marked("## The toll ##") == headings.Heading(2, "The toll")
    assert headings.marked("#hashtag") is None
    assert headings.marked("# ") is None


MILLION = 1_000_000
HOSTILE = (
    "# a" + " " * MILLION + "x",
    "# a" + "# " * (MILLION // 2) + "x",
    "<h1>" + " " * MILLION + "x",
    "<h1>" + "</h1" * (MILLION // 5) + "x",
    "<h1 " + "<" * MILLION,
    "1" + ".1" * (MILLION // 2) + "x",
    "." * MILLION,
    "A. " * (MILLION // 3),
    "." + '"' * MILLION,
    "x." + " " * MILLION + "x",
    "。" * MILLION,
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:8])
def test_the_time_grows_as_the_text_does_whatever_stands_in_it(text):
    began = time.process_time()
    above(text, TEXT)
    list(summary.Augmenter(Summary()).augment([document(text, TEXT)]))
    list(summary.sentences(text))
    assert time.process_time() - began < 30  # mostly some hundredths; a loop within a loop takes hours


def test_what_closes_a_heading_is_no_part_of_it():
    assert [
        headings.marked(line) for line in ("## Moat ##", "<h1>Moat</H1 >", "<h1>Moat</h2>", "#", "# #")
    ] == [(2, "Moat"), (1, "Moat"), (1, "Moat"), None, None]
