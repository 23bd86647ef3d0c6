"""The embedded resolvers: what the rules join in English and in Chinese, and what they keep apart."""

import random
import time
import tracemalloc
from collections import Counter

import pytest

from harness.errors import HarnessError
from harness.types import Document, Facts, Passage
from harness_coreference import CoreferenceParams, resolve
from harness_coreference.augment import coreference
from harness_coreference.chinese import LONGEST, READ, Chinese, repeated_in
from harness_coreference.english import English


def clusters(resolver, *passages):
    """The clusters as sets of words, in order."""
    found = resolver.resolve(passages)
    return [[passages[m.passage][m.start : m.end] for m in cluster] for cluster in found]


def together(resolver, one, other, *passages):
    """Whether a cluster has both; the last mention of these words counts."""
    return any(one in cluster and other in cluster for cluster in clusters(resolver, *passages))


def english(one, other, *passages):
    return together(English(), one, other, *passages)


def chinese(one, other, *passages):
    return together(Chinese(), one, other, *passages)


@pytest.mark.parametrize(
    ("one", "other", "first", "second"),
    [
        ("Ann Hill", "She", "The survey was led by Ann Hill.", "She drew the maps."),
        ("the surveyor Ann Lohr", "Her", "It was made by the surveyor Ann Lohr.", "Her maps are kept."),
        (
            "Brett & Fall",
            "the firm",
            "It was built by Brett & Fall, a firm of Leeds.",
            "In 1903 the firm failed.",
        ),
        (
            "Brett & Fall",
            "the company",
            "It was built by Brett & Fall, a firm of Leeds.",
            "Then the company failed.",
        ),
        ("Corda Ltd", "the company", "Corda Ltd was founded in 1901.", "In 1903 the company failed."),
        ("Kelm Weather Society", "KWS", "The Kelm Weather Society (KWS) met.", "The KWS has rooms."),
        (
            "Kelm Weather Society",
            "the society",
            "The Kelm Weather Society met.",
            "In May the society met again.",
        ),
        ("Simon Gostree", "Gostree", "The town hired Simon Gostree.", "A bust of Gostree stands there."),
        ("Simon Gostree", "Mr Gostree", "The town hired Simon Gostree.", "It was Mr Gostree who left."),
        ("a red bridge", "the bridge", "They built a red bridge.", "In 1903 the bridge fell."),
        ("a foster parent", "they", "Talk to a foster parent.", "Ask if they can help."),
        ("the tenants", "they", "Speak to the tenants.", "Ask if they can help."),
    ],
)
def test_english_rules_join(one, other, first, second):
    assert english(one, other, first, second)


@pytest.mark.parametrize(
    ("one", "other", "first", "second"),
    [
        ("Ann Hill", "He", "The survey was led by Ann Hill.", "He drew the maps."),
        ("Brett & Fall", "He", "It was built by Brett & Fall, a firm of Leeds.", "He drew the maps."),
        ("a red bridge", "the green bridge", "They built a red bridge.", "In 1903 the green bridge fell."),
        ("a bridge", "a bridge", "They built a bridge.", "Then came a bridge of stone."),
        ("the end of the lease", "the end", "Until the end of the lease.", "At the end of the year."),
        ("a scheme", "it", "There is a scheme.", "Today it is possible to apply."),
        ("A letter", "It", "A letter came.", "It is said that he left."),
        ("the cook", "the day", "Then the cook left.", "That was the day."),
    ],
)
def test_english_rules_keep_apart(one, other, first, second):
    assert not english(one, other, first, second)


def test_he_and_she_go_to_the_person_of_their_gender():
    passages = ["The draughtsman Ann Hill met the mason John Stroud.", "She drew and he built."]
    assert english("the mason John Stroud", "he", *passages)
    assert english("The draughtsman Ann Hill", "She", *passages)


def test_a_pronoun_of_a_person_goes_back_over_many_passages_and_it_does_not():
    between = ["Nothing was built in the valley for a while."] * 12
    assert english("Ann Hill", "She", "Ann Hill came.", *between, "She left.")
    assert not english("The Versel Bridge", "It", "The Versel Bridge fell.", *between, "It was rebuilt.")


def test_its_before_its_owner_is_left_alone():
    passages = ["The Kelm Weather Society met.", "In its best years the firm had rooms."]
    assert not english("Kelm Weather Society", "its", *passages)


def test_a_word_that_is_large_only_where_a_sentence_opens_is_no_name():
    assert clusters(English(), "Visitors come here.", "Visitors leave.") == []


@pytest.mark.parametrize(
    ("one", "other", "first", "second"),
    [
        ("史佩伯", "她", "图纸由测绘师史佩伯签字。史佩伯很忙。", "后来她离开了。"),
        ("李明华", "他", "李明华教授来了。李明华说好。", "后来他离开了。"),
        ("仁益祥记", "这家公司", "工程包给了铸铜公司仁益祥记。仁益祥记完工。", "后来这家公司破产。"),
        ("仁益祥记", "该公司", "施工的是仁益祥记，一家来自苏州的公司。仁益祥记完工。", "后来该公司破产。"),
        ("荆川学会", "荆会", "荆川学会（简称“荆会”）成立。荆川学会很大。", "荆会现有百人。"),
    ],
)
def test_chinese_rules_join(one, other, first, second):
    assert chinese(one, other, first, second)


@pytest.mark.parametrize(
    ("one", "other", "first", "second"),
    [
        ("史佩伯", "她", "史佩伯先生来了。史佩伯很忙。", "后来她离开了。"),
        ("史佩伯", "他", "测绘师史佩伯来了。史佩伯很忙。", "其他人离开了，吉他也没了，他们走了。"),
        ("仁益祥记", "这家医院", "工程包给了公司仁益祥记。仁益祥记完工。", "后来这家医院关门。"),
        ("高血压", "他", "高血压很常见。高血压要治。", "后来他离开了。"),
    ],
)
def test_chinese_rules_keep_apart(one, other, first, second):
    assert not chinese(one, other, first, second)


@pytest.mark.parametrize("resolver", [English(), Chinese()])
def test_the_rules_take_any_text(resolver):
    for passages in (
        [],
        [""],
        ["", " ", ""],
        ["the"],
        ["It"],
        ["(", ")"],
        ["The the the", "the"],
        ["他"],
        ["😀 É"],
    ):
        assert resolver.resolve(passages) == []


@pytest.mark.parametrize(
    ("resolver", "first", "other"),
    [
        (English(), ["Ann Hill, a surveyor, came."], "She left."),
        (Chinese(), ["测绘师史佩伯来了。", "史佩伯很忙。"], "她走了。"),
    ],
)
def test_a_document_of_two_thousand_passages_is_one_document(resolver, first, other):
    """The timeout of a test bounds its time, which a loop over pairs of mentions would pass."""
    clusters = resolver.resolve([*first, *[other] * 2000])
    assert [len(cluster) for cluster in clusters if len(cluster) > 2] == [2002]


@pytest.mark.parametrize("seed", range(20))
def test_repeated_strings_are_counted_as_by_counting_all(seed):
    draw = random.Random(seed)
    passages = ["".join(draw.choices("甲乙丙丁 a。", k=draw.randint(0, 60))) for _ in range(5)]
    everything = Counter(
        text[start:end]
        for text in passages
        for start in range(len(text))
        for end in range(start + 2, min(start + LONGEST, len(text)) + 1)
        if not set(text[start:end]) & set(" a。")
    )
    repeated = {string: count for string, count in everything.items() if count > 1}
    assert repeated_in(passages).counts == repeated


def test_names_of_a_very_long_chinese_document_take_little_memory():
    draw = random.Random(1)
    text = "".join(chr(0x4E00 + draw.randrange(2000)) for _ in range(200_000))
    tracemalloc.start()
    repeated_in([text])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64e6  # all strings of up to 12 characters take over 250 MB


def test_a_chinese_text_without_marks_takes_time_as_it_is_long():
    spent = []
    for nouns in (12_500, 100_000):
        began = time.process_time()
        Chinese().resolve(["公司" * nouns])
        spent.append(time.process_time() - began)
    # a look to its end from each noun takes 16 s, and 40 times as long as the shorter text
    assert spent[1] < max(8, 20 * spent[0])


def test_names_are_learnt_from_the_beginning_and_found_to_the_end():
    filler = "。" * READ
    known = clusters(
        Chinese(), "测绘师史佩伯来了。史佩伯很忙。", filler, "史佩伯走了，李明华教授来了。李明华说好。"
    )
    assert known == [["史佩伯", "史佩伯", "史佩伯"]]


def test_the_language_is_the_datasets_unless_the_suite_says_otherwise():
    assert resolve(CoreferenceParams(), Facts("zh-Hans", "zh", "passage")).language == "zh"
    assert resolve(CoreferenceParams(language="en"), Facts(None, None, "passage")).language == "en"


@pytest.mark.parametrize(
    ("params", "language", "message"),
    [
        (CoreferenceParams(), None, "its language"),
        (CoreferenceParams(), "de", "'de'; it knows en and zh"),
        (CoreferenceParams(resolver="xrenner"), "zh", "xrenner .*'zh'"),
        (CoreferenceParams(versions="xrenner 1"), "en", "versions 'xrenner 1'"),
    ],
)
def test_a_language_without_a_resolver_is_an_error_while_planning(params, language, message):
    with pytest.raises(HarnessError, match=message):
        resolve(params, Facts(language, language, "passage"))


def test_a_document_of_one_passage_gets_nothing():
    document = Document("d", "Ann Hill", (Passage("p", "Ann Hill said that she came."),))
    [addition] = coreference(CoreferenceParams(language="en")).augment([document])
    assert addition.edits == ((),)


def test_passages_that_are_no_candidates_give_antecedents_too():
    passages = (Passage("a", "Ann Hill came.", False), Passage("b", "She left."))
    [addition] = coreference(CoreferenceParams(language="en")).augment([Document("d", "", passages)])
    assert [edit.text for edit in addition.edits[1]] == [" (Ann Hill)"]
