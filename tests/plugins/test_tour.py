"""The collection `tour`: what its construction promises, for every document and every query."""

import hashlib
import itertools
import os
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from harness.catalogue import params
from harness_tour import LARGEST, TourParams, names_en, names_zh
from harness_tour.generator import SLICES, Recipe, article, is_stub, subject_of
from harness_tour.source import Tour, passage_id
from harness_tour.templates import SUBJECTS, read

LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
SMALL_WORDS = {"of", "at", "and", "the"}
PERSON = {"school", "retirement", "medal"}  # the other sections of coreference are about the firm


def answers(language, slice, documents=400, seed=7):
    """(article, place, paragraph) of every passage that answers questions of a slice."""
    for number in range(documents):
        made = article(Recipe(language, seed), number)
        for place, paragraph in enumerate(made.paragraphs):
            if paragraph.slice == slice and not paragraph.companion:
                yield made, place, paragraph


def title_words(language, title):
    if language == "en":
        return set(re.findall(r"\w+", title.lower())) - SMALL_WORDS
    return {title[i : i + 2] for i in range(len(title) - 1)}


def words_of(language, text):
    if language == "en":
        return set(re.findall(r"\w+", text.lower()))
    return {text[i : i + 2] for i in range(len(text) - 1)}


def digest_of(source):
    total = hashlib.sha256()
    for item in itertools.chain(source.documents(), source.queries(), source.judgements()):
        total.update(repr(item).encode())
    return total.hexdigest()


@LANGUAGES
def test_two_processes_with_other_hash_seeds_write_the_same_collection(language):
    code = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from test_tour import *\n"
        "print(digest_of(Tour(TourParams(language=sys.argv[1], documents=30))))"
    )
    here = str(Path(__file__).parent)
    told = [
        subprocess.run(
            [sys.executable, "-c", code, language, here],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1] != ""


@LANGUAGES
def test_another_seed_gives_another_collection(language):
    made = {digest_of(Tour(TourParams(language=language, documents=20, seed=seed))) for seed in (1, 2)}
    assert len(made) == 2


@LANGUAGES
def test_a_larger_collection_begins_with_the_smaller_one(language):
    small = list(Tour(TourParams(language=language, documents=20)).documents())
    large = Tour(TourParams(language=language, documents=200)).documents()
    assert small == list(itertools.islice(large, 20))


@pytest.mark.slow
@LANGUAGES
def test_ids_and_texts_are_unique_at_twenty_thousand_documents(language):
    ids, texts, passages = set(), set(), 0
    for document in Tour(TourParams(language=language, documents=20_000)).documents():
        for passage in document.passages:
            passages += 1
            ids.add(passage.id)
            texts.add(hashlib.blake2b(passage.text.encode(), digest_size=16).digest())
    assert passages > 200_000
    assert len(ids) == len(texts) == passages


@pytest.mark.slow
@pytest.mark.parametrize(("language", "names"), [("en", names_en), ("zh", names_zh)])
def test_no_two_documents_share_the_name_of_anything(language, names):
    templates = read(language)
    seen = {kind: set() for kind in ("title", "person", "firm", "full", "ship", "artefact")}
    for number in range(LARGEST):
        made = names.names(number, subject_of(templates, number).artefacts, 7)
        for kind, known in seen.items():
            known.add((made["stem"], made["family"]) if kind == "title" else made[kind])
    assert {kind: len(known) for kind, known in seen.items()} == dict.fromkeys(seen, LARGEST)


@pytest.mark.parametrize(("language", "names"), [("en", names_en), ("zh", names_zh)])
def test_short_names_are_distinct_as_long_as_questions_use_them(language, names):
    nouns = read(language).subjects[0].artefacts
    short = [names.names(number, nouns, 7)["short"] for number in range(names.SHORT_NAMES)]
    assert len(set(short)) == names.SHORT_NAMES


@pytest.mark.slow
def test_a_stream_of_many_documents_stays_far_below_its_own_size_in_memory():
    list(Tour(TourParams(documents=5)).documents())  # templates are read once
    size = 0
    tracemalloc.start()
    for document in Tour(TourParams(documents=4000)).documents():
        size += sum(len(passage.text) for passage in document.passages)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 10_000_000
    assert peak < 4_000_000  # the interpreter's free lists, which fill up once


@LANGUAGES
@pytest.mark.parametrize("split", ["test", "dev"])
def test_judgements_are_of_known_queries_and_passages_and_every_query_has_one_answer(language, split):
    source = Tour(TourParams(language=language, split=split))
    passages = {passage.id for document in source.documents() for passage in document.passages}
    queries = [query.id for query in source.queries()]
    judgements = list(source.judgements())
    assert {judgement.passage for judgement in judgements} <= passages
    assert [judgement.query for judgement in judgements if judgement.grade == 2] == queries
    assert {judgement.grade for judgement in judgements} == {0, 1, 2}
    pairs = {(judgement.query, judgement.passage) for judgement in judgements}
    assert len(pairs) == len(judgements)


@LANGUAGES
@pytest.mark.parametrize("split", ["test", "dev"])
def test_the_slices_share_the_queries_evenly(language, split):
    slices = [query.slices[0] for query in Tour(TourParams(language=language, split=split)).queries()]
    counts = [slices.count(name) for name in SLICES]
    assert len(slices) == sum(counts) == 144
    assert max(counts) - min(counts) <= 1


@LANGUAGES
def test_the_splits_ask_for_other_passages(language):
    """Even when every document is asked about every slice."""
    asked = []
    for split in ("test", "dev"):
        source = Tour(TourParams(language=language, documents=20, split=split, queries=90))
        asked.append({judgement.passage for judgement in source.judgements() if judgement.grade == 2})
    assert len(asked[0]) == len(asked[1]) == 90
    assert not asked[0] & asked[1]


def test_queries_are_spread_over_the_corpus():
    source = Tour(TourParams(documents=1000, queries=50))
    documents = [
        int(judgement.passage.split("-")[1]) for judgement in source.judgements() if judgement.grade == 2
    ]
    gaps = [after - before for before, after in itertools.pairwise([*documents, 1000])]
    assert documents[0] == 0
    assert max(gaps) <= 21


@LANGUAGES
def test_the_answer_of_a_query_stands_in_its_passage(language):
    source = Tour(TourParams(language=language))
    texts = {passage.id: passage.text for document in source.documents() for passage in document.passages}
    answering = {one.query: texts[one.passage] for one in source.judgements() if one.grade == 2}
    for query in source.queries():
        assert query.answers[0].lower() in answering[query.id].lower()


@LANGUAGES
def test_passages_have_three_to_five_whole_sentences(language):
    for document in Tour(TourParams(language=language, documents=300)).documents():
        for passage in document.passages:
            assert not re.search(r"[{}]|  |\.\.|。。|None", passage.text)
            ends = re.findall(r"\.(?= |$)" if language == "en" else "。", passage.text)
            assert 3 <= len(ends) <= 5


@LANGUAGES
def test_a_self_contained_passage_names_its_title(language):
    found = list(answers(language, "self-contained"))
    assert found
    assert all(made.title in paragraph.text for made, _, paragraph in found)


@LANGUAGES
def test_a_main_topic_passage_has_no_word_of_its_title(language):
    found = list(answers(language, "main-topic"))
    assert found
    for made, _, paragraph in found:
        assert not title_words(language, made.title) & words_of(language, paragraph.text)


@LANGUAGES
def test_main_topic_passages_of_one_kind_differ_in_facts_only(language):
    """Every subject asks about the same matters in many documents."""
    asked = [
        (made.subject.name, paragraph.section.name)
        for made, _, paragraph in answers(language, "main-topic", 80)
    ]
    assert {subject for subject, _ in asked} == set(SUBJECTS)
    assert min(asked.count(kind) for kind in set(asked)) >= 3


@LANGUAGES
def test_the_antecedent_of_a_coreference_stands_earlier_and_not_in_the_title(language):
    found = list(answers(language, "coreference"))
    assert {paragraph.section.name in PERSON for _, _, paragraph in found} == {True, False}
    for made, place, paragraph in found:
        name = made.facts["person" if paragraph.section.name in PERSON else "firm"]
        parts = (
            {name, made.facts["surname"]} if language == "en" and paragraph.section.name in PERSON else {name}
        )
        assert not any(part in paragraph.text or part in made.title for part in parts)
        assert any(name in earlier.text for earlier in made.paragraphs[:place])


def test_english_mentions_agree_with_the_person():
    others = {"He": {"she", "her", "hers"}, "She": {"he", "his", "him"}}
    for made, _, paragraph in answers("en", "coreference"):
        words = words_of("en", paragraph.text)
        assert not words & others[made.facts["She"]]
        if paragraph.section.name in PERSON:
            assert words & {made.facts["she"], made.facts["her"], made.facts["obj"]}
        else:
            assert "the firm" in paragraph.text.lower()


def test_chinese_mentions_agree_with_the_person():
    for made, _, paragraph in answers("zh", "coreference"):
        if paragraph.section.name in PERSON:
            assert set(re.findall("[他她]", paragraph.text)) == {made.facts["ta"]}
        else:
            assert "这家公司" in paragraph.text


@LANGUAGES
def test_a_multi_hop_passage_needs_another_one_to_meet_its_question(language):
    for made, place, paragraph in answers(language, "multi-hop"):
        artefact, ship = made.facts["artefact"], made.facts["ship"]
        assert artefact not in paragraph.text
        assert ship in paragraph.text
        assert all(artefact in question.format_map(made.facts) for question in paragraph.section.questions)
        bridges = [other for other in made.paragraphs if artefact in other.text and ship in other.text]
        assert bridges == [made.paragraphs[1]]
        assert place != 1


@LANGUAGES
def test_an_acronym_passage_has_the_form_that_the_question_lacks(language):
    directions = set()
    for made, place, paragraph in answers(language, "acronym"):
        asked, answering = made.facts["body"], made.facts["other"]
        directions.add(len(asked) < len(answering))
        assert answering in paragraph.text
        assert asked not in paragraph.text
        for question in paragraph.section.questions:
            assert asked in question.format_map(made.facts)
            assert answering not in question.format_map(made.facts)
        both = [other for other in made.paragraphs if asked in other.text and answering in other.text]
        assert both == [made.paragraphs[1]]
        assert place != 1
    assert directions == {True, False}


@LANGUAGES
@pytest.mark.parametrize("kind", ["title", "person", "firm", "artefact", "body"])
def test_the_name_in_a_question_stands_in_several_passages_that_do_not_answer(language, kind):
    for number in range(200):
        made = article(Recipe(language, 7), number)
        naming = [paragraph for paragraph in made.paragraphs if made.facts[kind] in paragraph.text]
        assert is_stub(number) or len(naming) >= 5


@LANGUAGES
def test_no_other_passage_of_the_document_is_judged_an_answer_by_mistake(language):
    """A companion goes on about the matter but its sentences have no place for the answer."""
    templates = read(language)
    sections = [*templates.person, *templates.firm, *templates.hop, *templates.acronym]
    for subject in templates.subjects:
        sections += [*subject.open, *subject.topic]
    for section in sections:
        facts = set(re.findall(r"\{(\w+)\}", section.answer))
        more = {fact for lines in section.more for line in lines for fact in re.findall(r"\{(\w+)\}", line)}
        assert facts
        assert all(facts <= set(re.findall(r"\{(\w+)\}", key)) for key in section.sentences[0])
        assert not facts & more


def test_only_what_changes_the_corpus_is_in_its_key():
    one = Tour(TourParams(split="test", queries=10))
    other = Tour(TourParams(split="dev", queries=20))
    assert one.inputs("corpus") == other.inputs("corpus")
    assert one.inputs("queries") != other.inputs("queries")
    assert one.inputs("corpus") != Tour(TourParams(documents=81)).inputs("corpus")
    assert one.inputs("corpus") != Tour(TourParams(seed=8)).inputs("corpus")


def test_the_default_number_of_queries_is_the_same_key_as_asking_for_it():
    assert Tour(TourParams()).inputs("queries") == Tour(TourParams(queries=144)).inputs("queries")


def test_too_many_queries_are_refused_with_what_is_possible():
    _, problems = params.convert(TourParams, {"documents": 10, "queries": 46}, Path())
    assert [problem.text for problem in problems] == [
        "10 documents give at most 45 queries a split, not 46; ask for fewer, or for more documents"
    ]
    made, problems = params.convert(TourParams, {"documents": 10, "queries": 45}, Path())
    assert not problems
    assert len(list(Tour(made).queries())) == 45


def test_a_collection_of_one_document_works():
    source = Tour(TourParams(documents=1))
    assert [document.id for document in source.documents()] == ["tour-000000"]
    assert len(list(source.queries())) == 2
    assert {judgement.passage[:11] for judgement in source.judgements()} == {"tour-000000"}


def test_the_card_says_what_a_suite_needs():
    card = Tour(TourParams(language="zh", split="dev")).card()
    assert (card.language, card.split, card.licence) == ("zh", "dev", "CC0-1.0")


def test_passage_ids_sort_in_reading_order():
    for document in Tour(TourParams(documents=20)).documents():
        ids = [passage.id for passage in document.passages]
        assert ids == sorted(ids) == [passage_id(int(document.id[5:]), place) for place in range(len(ids))]
