"""Queries that two splits share are counted exactly, and no others."""

import random

from harness.scoring import overlap as module
from harness.scoring.overlap import overlap


def test_case_punctuation_and_space_do_not_hide_the_same_query():
    assert overlap(["What is BM25?", "who"], ["what is  bm25", "when"]) == (1, 0)


def test_a_query_with_one_letter_changed_is_nearly_the_same():
    long = "does zinc shorten the duration of a common cold in adults"
    assert overlap([long.replace("adults", "adult")], [long]) == (0, 1)
    assert overlap(["does zinc help"], [long]) == (0, 0)


def test_chinese_queries_are_compared_by_their_characters():
    assert overlap(["北京是中国的首都吗？"], ["北京是中国的首都吗"]) == (1, 0)


def test_an_empty_query_is_like_no_other():
    assert overlap(["", "?"], [""]) == (0, 0)
    assert overlap([], []) == (0, 0)


def test_the_filter_finds_what_a_comparison_of_all_pairs_finds():
    chance = random.Random(5)
    texts = ["".join(chance.choices("abcd ", k=chance.randint(15, 50))) for _ in range(60)]
    changed = [text[: -chance.randint(1, 8)] + chance.choice("abcdef") for text in texts]
    near = 0
    grams = [module._grams(module._plain(text)) for text in texts if module._plain(text)]
    plain = {module._plain(text) for text in texts}
    for text in changed:
        mine = module._plain(text)
        if mine and mine not in plain:
            own = module._grams(mine)
            near += any(len(own & other) / len(own | other) >= module.NEAR for other in grams)
    assert near > 5
    assert overlap(changed, texts).near == near
