"""What a retriever promises. Each case builds a small index in an empty folder and searches it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import IdSearcher, ReadsDocuments, TermSearcher, VectorSearcher
from harness.testing import hit_checks, interruption
from harness.testing.subject import Subject, able, build, require
from harness.testing.texts import QUERIES, SCRIPTS, MemoryTexts, sample, sentences, texts
from harness.types import Hits, Ints, Unit


def corpus_of(
    subject: Subject, every: Sequence[str] | None = None, candidates: Sequence[bool] | None = None
) -> MemoryTexts:
    """A corpus of the texts in `every`, or else the sample, in the first unit that the method ranks."""
    unit: Unit = subject.record.units[0]
    return sample(unit, candidates=candidates) if every is None else texts(every, unit=unit)


def index(subject: Subject, corpus: MemoryTexts, folder: Path) -> Any:
    """Builds the method and indexes the corpus."""
    method = build(subject, corpus.language, corpus.unit)
    method.index(corpus, folder)
    return method


def search(
    subject: Subject,
    corpus: MemoryTexts,
    folder: Path,
    queries: Sequence[str] = QUERIES,
    k: int = 10,
    within: Ints | None = None,
) -> Hits:
    """Indexes, opens and searches as the harness does, and returns the checked hits."""
    folder.mkdir(exist_ok=True)
    searcher = index(subject, corpus, folder).open(corpus, folder)
    return checked(searcher, corpus, queries, k, within)


def checked(
    searcher: Any, corpus: MemoryTexts, queries: Sequence[str], k: int, within: Ints | None = None
) -> Hits:
    hits = searcher.search(list(queries), k, within)
    return hit_checks.check(
        hits, queries=len(queries), k=k, size=corpus.size, unit=corpus.unit, allowed=corpus.candidates
    )


def fingerprint(subject: Subject, folder: Path) -> str:
    return hit_checks.digest(search(subject, corpus_of(subject), folder))


def gives_the_same_for_two_indexes(subject: Subject, folder: Path) -> None:
    first, second = (fingerprint(subject, folder / name) for name in ("first", "second"))
    require(first == second, "two indexes of one corpus give different results")


def gives_the_same_for_two_searches(subject: Subject, folder: Path) -> None:
    corpus = corpus_of(subject)
    searcher = index(subject, corpus, folder).open(corpus, folder)
    first, second = (hit_checks.digest(checked(searcher, corpus, QUERIES, 10)) for _ in range(2))
    require(first == second, "searching twice gives different results")


def ranks_every_declared_unit(subject: Subject, folder: Path) -> None:
    units: Sequence[Unit] = subject.record.units
    for unit in units:
        with able(f"rank {unit}s"):
            search(subject, sample(unit), folder / unit)


def returns_at_most_k(subject: Subject, folder: Path) -> None:
    """The hits for a k must be the best hits for a greater k, because search is exact."""
    corpus = corpus_of(subject)
    searcher = index(subject, corpus, folder).open(corpus, folder)
    all_scores = checked(searcher, corpus, QUERIES, corpus.size)
    for k in (1, 3):
        few = checked(searcher, corpus, QUERIES, k)
        for row, query in enumerate(QUERIES):
            best = np.array(sorted(hit_checks.of(all_scores, row).values(), reverse=True)[:k])
            scores = np.array(list(hit_checks.of(few, row).values()))
            good = hit_checks.same_scores(best, scores, subject.tolerance)
            require(good, f"for '{query}' the {k} best are not the first {k} of all")


def fills_short_rows(subject: Subject, folder: Path) -> None:
    corpus = corpus_of(subject, sentences(3))
    with able("search for more than the corpus has"):
        hits = search(subject, corpus, folder, k=20)
    require((hits.passages[:, 3:] == -1).all(), "it returns more hits than there are texts")


def takes_an_empty_corpus(subject: Subject, folder: Path) -> None:
    with able("index and search an empty corpus"):
        hits = search(subject, corpus_of(subject, []), folder)
    require((hits.passages == -1).all(), "it finds something in an empty corpus")


def takes_no_queries(subject: Subject, folder: Path) -> None:
    with able("search without a query"):
        search(subject, corpus_of(subject), folder, queries=[])


def takes_one_text(subject: Subject, folder: Path) -> None:
    with able("index and search a single text"):
        search(subject, corpus_of(subject, ["the old castle of the island"]), folder)


def scores_equal_texts_equally(subject: Subject, folder: Path) -> None:
    corpus = corpus_of(
        subject, [*sentences(10), "a castle of stone", *sentences(5, seed=2), "a castle of stone"]
    )
    scores = hit_checks.of(search(subject, corpus, folder, ["castle of stone"], corpus.size), 0)
    require((10 in scores) == (16 in scores), "it finds one of two equal texts and not the other")
    if 10 in scores:
        pair = np.array([scores[10]]), np.array([scores[16]])
        require(hit_checks.same_scores(*pair, subject.tolerance), "it scores the same text differently")


def takes_any_script(subject: Subject, folder: Path) -> None:
    with able("index and search text of other scripts"):
        search(subject, corpus_of(subject, [*SCRIPTS, *sentences(5)]), folder, SCRIPTS)


def takes_empty_queries_and_texts(subject: Subject, folder: Path) -> None:
    queries = ["", " ", "...", "castle", "wordthatnotexthas"]
    with able("index empty texts and search for empty queries"):
        search(
            subject,
            corpus_of(subject, ["", "the castle", " ", "!?", "", *sentences(5)]),
            folder / "some",
            queries,
        )
    with able("index nothing but empty texts"):
        search(subject, corpus_of(subject, ["", " ", "..."]), folder / "all", queries)


def finishes_an_index_that_was_interrupted(subject: Subject, folder: Path) -> None:
    resumed, whole = folder / "resumed", folder / "whole"
    interruption.leave_parts(lambda corpus: index(subject, corpus, resumed), corpus_of(subject), resumed)
    with able("index again where an index was interrupted"):
        after_interruption = fingerprint(subject, resumed)
    expected = fingerprint(subject, whole)
    require(after_interruption == expected, "an index over what an interrupted one left gives other results")
    with able("index again where an index is finished"):
        again = fingerprint(subject, resumed)
    require(again == expected, "an index over a finished one gives other results")


def scores_within_exactly(subject: Subject, folder: Path) -> None:
    corpus = corpus_of(subject)
    searcher = index(subject, corpus, folder).open(corpus, folder)
    full = checked(searcher, corpus, QUERIES, corpus.size)
    chance = np.random.default_rng(5)
    within = np.stack([chance.permutation(corpus.size)[:12] for _ in QUERIES])
    within[:, -2:] = -1
    within[1, 3:] = -1
    with able("score only the positions that are asked for"):
        hits = checked(searcher, corpus, QUERIES, 12, within)
    for row, query in enumerate(QUERIES):
        named, scores = set(within[row].tolist()), hit_checks.of(hits, row)
        require(set(scores) <= named, f"for '{query}' it returns positions that `within` does not name")
        known = {position: score for position, score in hit_checks.of(full, row).items() if position in named}
        missed = sorted(set(known) - set(scores))
        require(not missed, f"for '{query}' it leaves out {missed}, which `within` names and it can find")
        both = {position: scores[position] for position in known}
        good = hit_checks.same(known, both, subject.tolerance)
        require(good, f"for '{query}' the scores `within` are not those of the whole search")
    few = checked(searcher, corpus, QUERIES, 2, within)
    require(few.passages.shape[1] <= 2, "it does not keep to k `within`")


def returns_only_candidates(subject: Subject, folder: Path) -> None:
    candidates = [number % 3 != 0 for number in range(40)]
    corpus = corpus_of(subject, candidates=candidates)
    hits = search(subject, corpus, folder, k=corpus.size)
    dense = search(
        subject, corpus_of(subject, [sentences(40)[p] for p in corpus.candidates]), folder / "dense", k=40
    )
    for row in range(len(QUERIES)):
        renamed = {int(corpus.candidates[p]): score for p, score in hit_checks.of(dense, row).items()}
        good = hit_checks.same(hit_checks.of(hits, row), renamed, subject.tolerance)
        require(good, "texts that are not candidates change the hits, or positions are miscounted")


def reads_documents_one_by_one(subject: Subject, folder: Path) -> None:
    """A method that reads documents whole must give a passage the same score whatever the other documents
    are."""
    every, sizes = sentences(14), (3, 1, 4, 6)
    candidates = [number % 3 != 1 for number in range(14)]
    corpus = texts(every, candidates=candidates, sizes=sizes)
    method = build(subject, corpus.language, corpus.unit)
    if not (isinstance(method, ReadsDocuments) and method.whole_documents):
        return
    whole = search(subject, corpus, folder / "whole", k=14)
    for name, part, of in (("first", slice(4), sizes[:2]), ("last", slice(4, 14), sizes[2:])):
        some = texts(every[part], candidates=candidates[part], sizes=of)
        hits = search(subject, some, folder / name, k=14)
        for row, query in enumerate(QUERIES):
            together = {p - part.indices(14)[0]: s for p, s in hit_checks.of(whole, row).items()}
            kept = {p: s for p, s in together.items() if 0 <= p < some.size}
            good = hit_checks.same(kept, hit_checks.of(hits, row), subject.tolerance)
            require(good, f"for '{query}' the scores of a document's passages depend on other documents")


def searches_queries_independently(subject: Subject, folder: Path) -> None:
    corpus = corpus_of(subject)
    searcher = index(subject, corpus, folder).open(corpus, folder)
    together = checked(searcher, corpus, QUERIES, corpus.size)
    for row, query in enumerate(QUERIES):
        alone = checked(searcher, corpus, [query], corpus.size)
        good = hit_checks.same(hit_checks.of(alone, 0), hit_checks.of(together, row), subject.tolerance)
        require(good, f"the hits for '{query}' depend on the other queries")


def takes_the_forms_of_queries_that_it_names(subject: Subject, folder: Path) -> None:
    """A query as terms or as a vector must have the same hits as its text, if the terms or the vector are
    those that `search` makes of the text."""
    corpus = corpus_of(subject)
    searcher = index(subject, corpus, folder).open(corpus, folder)
    plain = checked(searcher, corpus, QUERIES, 10)
    hits_by_form = {}
    if "terms" in subject.record.queries:
        require(isinstance(searcher, TermSearcher), "it takes terms, but its searcher is no TermSearcher")
        counts = [Counter(terms) for terms in searcher.terms(QUERIES)]
        weighted = [{term: float(count) for term, count in row.items()} for row in counts]
        hits_by_form["terms"] = searcher.search_terms(weighted, 10)
    if "vectors" in subject.record.queries:
        require(
            isinstance(searcher, VectorSearcher), "it takes vectors, but its searcher is no VectorSearcher"
        )
        hits_by_form["vectors"] = searcher.search_vectors(searcher.encode(QUERIES), 10)
    if "ids" in subject.record.queries:
        require(isinstance(searcher, IdSearcher), "it takes ids, but its searcher is no IdSearcher")
        hits_by_form["ids"] = searcher.search_ids(list(QUERIES), list(QUERIES), 10)
    for form, hits in hits_by_form.items():
        for row in range(len(QUERIES)):
            one, two = hit_checks.of(plain, row), hit_checks.of(hits, row)
            require(hit_checks.same(one, two, subject.tolerance), f"a query as {form} finds something else")
