"""On `tour`, context decides as in DAPR's tables 3 and 4: shown with a plain BM25 on three seeds."""

import math
import re
from collections import Counter, defaultdict
from statistics import mean

import pytest

from harness_tour import TourParams
from harness_tour.generator import Recipe, article
from harness_tour.source import Tour

HARD = ("coreference", "main-topic", "multi-hop", "acronym")
PERSON = {"school", "retirement", "medal"}


def terms(text):
    """English words, Chinese bigrams."""
    found = []
    for run in re.findall(r"[一-鿿]+|[a-z0-9]+", text.lower()):
        found += [run] if run.isascii() or len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
    return found


def bm25(texts, k1=0.9, b=0.4):
    """A function query -> scores, one for each text."""
    counts = [Counter(terms(text)) for text in texts]
    lengths = [count.total() for count in counts]
    average = mean(lengths)
    weights = defaultdict(dict)
    for number, count in enumerate(counts):
        for term, often in count.items():
            weights[term][number] = often / (often + k1 * (1 - b + b * lengths[number] / average))

    def search(query):
        scores = Counter()
        for term in terms(query):
            having = weights.get(term, {})
            idf = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
            scores.update({number: idf * weight for number, weight in having.items()})
        return scores

    return search


def ndcg(scores, gains):
    ranked = sorted(scores, key=lambda number: (-scores[number], number))[:10]
    found = sum(gains.get(number, 0) / math.log2(place + 2) for place, number in enumerate(ranked))
    ideal = sum(gain / math.log2(place + 2) for place, gain in enumerate(sorted(gains.values())[::-1]))
    return found / ideal


def scaled(scores):
    low, high = min(scores.values()), max(scores.values())
    return {number: (score - low) / (high - low) for number, score in scores.items()}


def fused(passages, documents, document_of, weight=0.7):
    passages, documents = scaled(passages), scaled(documents)
    return {
        number: weight * passages.get(number, 0) + (1 - weight) * documents.get(document, 0)
        for number, document in enumerate(document_of)
        if number in passages or document in documents
    }


def resolved(made, paragraph):
    """The first mention followed by its antecedent, as coreference resolution would write it."""
    if paragraph.slice != "coreference":
        return paragraph.text
    if paragraph.section.name in PERSON:
        return re.sub(
            r"\b(?:She|she|He|he)\b|[她他]", rf"\g<0> ({made.facts['person']})", paragraph.text, count=1
        )
    return re.sub("[Tt]he firm|这家公司", rf"\g<0> ({made.facts['firm']})", paragraph.text, count=1)


def by_document(scores, document_of):
    best = {}
    for number, score in scores.items():
        best[document_of[number]] = max(best.get(document_of[number], 0), score)
    return best


def table(language, seed):
    """system -> slice -> mean nDCG@10; `all` is the whole set."""
    source = Tour(TourParams(language=language, seed=seed))
    made = [article(Recipe(language, seed), number) for number in range(80)]
    documents = list(source.documents())
    position = {passage.id: n for n, passage in enumerate(p for d in documents for p in d.passages)}
    document_of = [number for number, document in enumerate(documents) for _ in document.passages]
    texts = [passage.text for document in documents for passage in document.passages]
    search = bm25(texts)
    search_titles = bm25([f"{documents[d].title} {text}" for d, text in zip(document_of, texts, strict=True)])
    search_resolved = bm25([resolved(a, paragraph) for a in made for paragraph in a.paragraphs])
    search_documents = bm25(
        ["\n".join(passage.text for passage in document.passages) for document in documents]
    )
    gains = defaultdict(dict)
    for judgement in source.judgements():
        if judgement.grade > 0:
            gains[judgement.query][position[judgement.passage]] = judgement.grade
    scores = defaultdict(lambda: defaultdict(list))
    for query in source.queries():
        wanted = gains[query.id]
        right = {document_of[number]: 1 for number in wanted}
        passages, whole = search(query.text), search_documents(query.text)
        both = fused(passages, whole, document_of)
        values = {
            "passages": ndcg(passages, wanted),
            "fused": ndcg(both, wanted),
            "titles": ndcg(search_titles(query.text), wanted),
            "coreference": ndcg(search_resolved(query.text), wanted),
            "documents": ndcg(whole, right),
            "fused, documents": ndcg(by_document(both, document_of), right),
        }
        for system, value in values.items():
            scores[system][query.slices[0]].append(value)
            scores[system]["all"].append(value)
    return {system: {name: mean(v) for name, v in slices.items()} for system, slices in scores.items()}


@pytest.fixture(scope="module", params=[(language, seed) for language in ("en", "zh") for seed in (1, 2, 3)])
def measured(request):
    return table(*request.param)


def test_passages_alone_answer_self_contained_questions_and_miss_the_hard_ones(measured):
    assert measured["passages"]["self-contained"] > 0.9
    assert all(measured["passages"][name] < 0.2 for name in HARD)


def test_whole_documents_are_found_for_every_slice(measured):
    assert all(measured["documents"][name] > 0.95 for name in (*HARD, "self-contained"))


def test_titles_lift_the_main_topic_and_nothing_else_that_is_hard(measured):
    titles, passages = measured["titles"], measured["passages"]
    assert titles["main-topic"] > passages["main-topic"] + 0.3
    assert all(titles[name] < passages[name] + 0.05 for name in ("coreference", "multi-hop", "acronym"))
    assert titles["self-contained"] > 0.9


def test_resolved_mentions_lift_coreference_and_nothing_else(measured):
    oracle, passages = measured["coreference"], measured["passages"]
    assert oracle["coreference"] > passages["coreference"] + 0.6
    assert all(abs(oracle[name] - passages[name]) < 0.05 for name in ("main-topic", "multi-hop", "acronym"))


def test_fusion_lifts_the_whole_set_but_finds_documents_rather_than_passages(measured):
    fused = measured["fused"]
    assert fused["all"] > measured["passages"]["all"] + 0.05
    assert fused["self-contained"] > 0.9
    assert all(fused[name] < 0.4 for name in HARD)
    assert fused["main-topic"] < measured["titles"]["main-topic"] - 0.15
    assert fused["coreference"] < measured["coreference"]["coreference"] - 0.3
    assert all(measured["fused, documents"][name] > 0.9 for name in HARD)
