"""Clusters become insertions as in section 4.2.2 of DAPR: across passages, one for every mention."""

import pytest

from harness.collection.composed_texts import edited
from harness_coreference.annotate import edits
from harness_coreference.contract import Mention


def annotated(passages, *clusters, same="annotate"):
    """Clusters as (passage, words) pairs, each the first place of these words."""
    found = []
    for cluster in clusters:
        places = [(number, passages[number].index(words), words) for number, words in cluster]
        found.append(tuple(Mention(n, start, start + len(words)) for n, start, words in places))
    made = edits(passages, found, same)
    return [edited(text, row) for text, row in zip(passages, made, strict=True)]


def test_a_mention_is_followed_by_its_antecedent_in_parentheses():
    passages = ["The Half Moon is a pub.", "Artists have recorded at the venue."]
    assert annotated(passages, [(0, "The Half Moon"), (1, "the venue")]) == [
        "The Half Moon is a pub.",
        "Artists have recorded at the venue (The Half Moon).",
    ]


def test_the_antecedent_is_the_earliest_mention_not_the_closest():
    passages = ["Ann Hill came.", "The surveyor left.", "She wrote."]
    edits = annotated(passages, [(2, "She"), (1, "The surveyor"), (0, "Ann Hill")])
    assert edits == ["Ann Hill came.", "The surveyor (Ann Hill) left.", "She (Ann Hill) wrote."]


def test_a_cluster_within_one_passage_adds_nothing():
    assert annotated(["Ann Hill said she came.", "x"], [(0, "Ann Hill"), (0, "she")])[0] == (
        "Ann Hill said she came."
    )


def test_a_mention_in_the_passage_of_the_earliest_one_stays_as_it_is():
    passages = ["Ann Hill said she came.", "She left."]
    assert annotated(passages, [(0, "Ann Hill"), (0, "she"), (1, "She")]) == [
        passages[0],
        "She (Ann Hill) left.",
    ]


def test_of_mentions_that_begin_together_the_longest_is_the_antecedent():
    passages = ["Ann Hill of York came.", "She left."]
    assert annotated(passages, [(0, "Ann Hill"), (0, "Ann Hill of York"), (1, "She")])[1] == (
        "She (Ann Hill of York) left."
    )


def test_nested_mentions_are_each_followed_by_their_own_antecedent():
    passages = ["Old Nick met The Half Moon.", "the owner of the venue waits"]
    edits = annotated(
        passages, [(0, "Old Nick"), (1, "the owner of the venue")], [(0, "The Half Moon"), (1, "the venue")]
    )
    assert edits[1] == "the owner of the venue (The Half Moon) (Old Nick) waits"


def test_a_mention_within_another_is_followed_where_it_ends():
    passages = ["Ann Hill. A book.", "her book sold"]
    edits = annotated(passages, [(0, "Ann Hill"), (1, "her")], [(0, "A book"), (1, "her book")])
    assert edits[1] == "her (Ann Hill) book (A book) sold"


def test_mentions_that_overlap_are_both_followed():
    passages = ["One. Two.", "the north wind farm stands"]
    edits = annotated(passages, [(0, "One"), (1, "the north wind")], [(0, "Two"), (1, "wind farm")])
    assert edits[1] == "the north wind (One) farm (Two) stands"


def test_one_place_of_two_clusters_is_followed_by_both_antecedents():
    passages = ["One. Two.", "it stands"]
    edits = annotated(passages, [(0, "One"), (1, "it")], [(0, "Two"), (1, "it")])
    assert edits[1] == "it (One) (Two) stands"


def test_the_same_antecedent_is_not_written_twice_at_one_place():
    passages = ["One.", "it stands"]
    cluster = [(0, "One"), (1, "it")]
    assert annotated(passages, cluster, cluster)[1] == "it (One) stands"


def test_an_ending_that_is_joined_to_a_mention_goes_before_the_parenthesis():
    passages = ["Ann Hill's house.", "The surveyor’s map. She’ll come."]
    edits = annotated(passages, [(0, "Ann Hill's"), (1, "The surveyor"), (1, "She")])
    assert edits[1] == "The surveyor’s (Ann Hill) map. She’ll (Ann Hill) come."


def test_white_space_in_an_antecedent_becomes_single_blanks():
    assert annotated(["Ann\n  Hill came.", "She left."], [(0, "Ann\n  Hill"), (1, "She")])[1] == (
        "She (Ann Hill) left."
    )


@pytest.mark.parametrize(
    ("same", "text"), [("annotate", "the firm (A firm) paid"), ("skip", "the firm paid")]
)
def test_a_mention_with_its_antecedents_words_is_a_choice(same, text):
    assert annotated(["A firm.", "the firm paid"], [(0, "A firm"), (1, "the firm")], same=same)[1] == text


def test_skip_leaves_other_mentions_annotated():
    passages = ["Ann Hill.", "Ann Hill said she"]
    edits = annotated(passages, [(0, "Ann Hill"), (1, "Ann Hill"), (1, "she")], same="skip")
    assert edits[1] == "Ann Hill said she (Ann Hill)"


def test_every_passage_has_its_row_of_edits_also_empty_ones():
    assert edits(["", "x", ""], []) == ((), (), ())
