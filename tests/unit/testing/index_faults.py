"""Faults of retrievers and re-rankers: (case that finds it, part of its sentence, methods that replace a toy's)."""

import itertools

import numpy as np

COUNTER = itertools.count(1)


def by_position(self, original, query, k, within):
    return sorted(((p, s + p / 100) for p, s in original(query, 99, within)), key=lambda hit: -hit[1])[:k]


def read_one_batch_first(self, original, texts, folder):
    next(texts.batches())
    original(texts, folder)


def need_two_texts(self, original, texts, folder):
    _first, _second, *_ = original(texts, folder).texts
    return self


def only_ascii(self, original, texts, folder):
    [text.encode("ascii") for batch in texts.batches() for text in batch.texts]
    original(texts, folder)


def trust_leftovers(self, original, texts, folder):
    """Takes a file of a killed build for a finished one."""
    if not (folder / "texts.json").exists():
        (folder / "texts.json").write_text("{}")
        original(texts, folder)


def refuse_leftovers(self, original, texts, folder):
    (folder / "started").mkdir()
    original(texts, folder)


def append_to_leftovers(self, original, texts, folder):
    with (folder / "count").open("a") as file:
        for _batch in texts.batches():
            file.write("x")
            file.flush()
    original(texts, folder)


def open_with_count(self, original, texts, folder):
    self.count = len((folder / "count").read_text())
    return original(texts, folder)


def swallow_interrupts(self, original, texts, folder):
    try:
        original(texts, folder)
    except BaseException:
        (folder / "texts.json").write_text("{}")


def number_texts(self, original, texts, folder):
    """Takes the number of a text for its position."""
    self.texts = dict(enumerate(original(texts, folder).texts.values()))
    return self


def open_all_texts(self, original, texts, folder):
    original(texts, folder)
    self.texts = dict(enumerate(texts.take(np.arange(texts.size))))
    return self


def open_with_size(self, original, texts, folder):
    self.size = texts.size
    return original(texts, folder)


def normalise_over_queries(self, original, queries, k, within):
    hits = original(queries, k, within)
    return hits._replace(scores=(hits.scores / max(len(queries), 1)).astype(np.float32))


def overlap(query, text):
    return len(set(query.split()) & set(text.split()))


RETRIEVERS = [
    ("returns at most k", "41 hits", {"search": lambda _, original, q, k, w: original(q, k + 1, w)}),
    (
        "returns at most k",
        "the 1 best are not the first 1 of all",
        {"row": lambda _, original, q, k, w: original(q, 50, w)[-k:] if k < 4 else original(q, k, w)},
    ),
    (
        "returns at most k",
        "is returned twice",
        {"row": lambda _, original, q, k, w: (original(q, k, w)[:1] + original(q, k, w))[:k]},
    ),
    (
        "returns at most k",
        "is not in 0 to 39",
        {"row": lambda _, original, *args: [(position + 1000, score) for position, score in original(*args)]},
    ),
    ("returns at most k", "nan is not finite", {"score": lambda *_: float("nan")}),
    (
        "returns at most k",
        "float64[4, 40]",
        {"search": lambda _, original, *args: original(*args)._replace(scores=np.zeros((4, 40)))},
    ),
    (
        "gives the same for two indexes",
        "different results",
        {"score": lambda self, original, *args: original(*args) + vars(self).setdefault("n", next(COUNTER))},
    ),
    (
        "gives the same for two searches",
        "different results",
        {"score": lambda _, original, *args: original(*args) + next(COUNTER)},
    ),
    ("scores equal texts equally", "the same text differently", {"row": by_position}),
    (
        "ranks every declared unit",
        "the unit passage",
        {"search": lambda _, original, *args: original(*args)._replace(unit="passage")},
    ),
    (
        "fills short rows",
        "is returned twice",
        {"row": lambda _, original, q, k, w: (original(q, k, w) + original(q, k, w)[:1] * k)[:k]},
    ),
    ("takes an empty corpus", "StopIteration", {"index": read_one_batch_first}),
    ("takes one text", "a single text: ValueError", {"open": need_two_texts}),
    (
        "takes no queries",
        "without a query: IndexError",
        {"search": lambda _, original, q, k, w: q[0] and original(q, k, w)},
    ),
    (
        "takes empty queries and texts",
        "ZeroDivisionError",
        {"score": lambda _self, _original, query, text: overlap(query, text) / len(query.split())},
    ),
    (
        "takes empty queries and texts",
        "ZeroDivisionError",
        {"score": lambda _self, _original, query, text: overlap(query, text) / len(text.split())},
    ),
    ("takes any script", "UnicodeEncodeError", {"index": only_ascii}),
    ("finishes an index that was interrupted", "without reading the texts", {"index": trust_leftovers}),
    ("finishes an index that was interrupted", "FileExistsError", {"index": refuse_leftovers}),
    (
        "finishes an index that was interrupted",
        "what an interrupted one left gives",
        {
            "index": append_to_leftovers,
            "open": open_with_count,
            "score": lambda self, original, *args: original(*args) + self.count,
        },
    ),
    ("finishes an index that was interrupted", "continues after an interrupt", {"index": swallow_interrupts}),
    (
        "scores within exactly",
        "positions that `within` does not name",
        {"row": lambda _, original, q, k, w: original(q, k, None)},
    ),
    (
        "scores within exactly",
        "are not those of the whole search",
        {"row": lambda _, original, q, k, w: [(p, s + (w is not None) / 2) for p, s in original(q, k, w)]},
    ),
    (
        "scores within exactly",
        "which `within` names and it can find",
        {"row": lambda _, original, q, k, w: original(q, k, w)[: k if w is None else 2]},
    ),
    ("returns only candidates", "which is not a candidate", {"open": number_texts}),
    ("returns only candidates", "which is not a candidate", {"open": open_all_texts}),
    (
        "returns only candidates",
        "texts that are not candidates change the hits",
        {"open": open_with_size, "score": lambda self, original, *args: original(*args) * self.size},
    ),
    ("searches queries independently", "depend on the other queries", {"search": normalise_over_queries}),
]


def score_listwise(self, original, queries, candidates):
    scores = original(queries, candidates)
    return scores - scores.mean(axis=1, keepdims=True) if scores.size else scores


def refuse_padding(self, original, queries, candidates):
    assert (candidates >= 0).all(), "no text there"
    return original(queries, candidates)


def count_padding(self, original, queries, candidates):
    missing = (candidates < 0).sum(axis=1, keepdims=True)
    return (original(queries, candidates) - missing).astype(np.float32)


def sort_candidates(self, original, queries, candidates):
    candidates.sort(axis=1)
    return original(queries, candidates)


def divide_by_words(self, original, queries, candidates):
    return original(queries, candidates) / np.float32([[1 / len(query.split())] for query in queries])


RERANKERS = [
    ("scores do not depend on other candidates", "the other candidates", {"score": score_listwise}),
    (
        "scores do not depend on the order",
        "its place among the candidates",
        {"score": lambda _, original, q, c: original(q, c) - np.arange(c.shape[1], dtype=np.float32)},
    ),
    (
        "scores do not depend on other queries",
        "depend on the other queries",
        {"score": lambda _, original, q, c: original(q, c) + np.float32(len(q))},
    ),
    ("ignores padding", "AssertionError: no text there", {"score": refuse_padding}),
    ("ignores padding", "the -1 that pad a short row", {"score": count_padding}),
    ("gives the same for two calls", "it changes the candidates", {"score": sort_candidates}),
    (
        "gives the same for two calls",
        "is not finite",
        {"score": lambda _, original, *args: original(*args) - np.float32(np.inf)},
    ),
    (
        "gives the same for two calls",
        "float32[12, 4]; they must be float32[4, 12]",
        {"score": lambda _, original, *args: original(*args).T},
    ),
    (
        "gives the same for two calls",
        "are a list",
        {"score": lambda _, original, *args: original(*args).tolist()},
    ),
    (
        "gives the same for two calls",
        "scoring twice",
        {"score": lambda _, original, *args: original(*args) + np.float32(next(COUNTER))},
    ),
    (
        "gives the same for two indexes",
        "two indexes of one corpus",
        {
            "score": lambda self, original, *args: (
                original(*args) + np.float32(vars(self).setdefault("n", next(COUNTER)))
            )
        },
    ),
    ("takes empty queries and texts", "ZeroDivisionError", {"score": divide_by_words}),
    (
        "scores equal texts equally",
        "the same text differently",
        {"score": lambda _, original, q, c: (original(q, c) + c / 100).astype(np.float32)},
    ),
    ("finishes an index that was interrupted", "without reading the texts", {"index": trust_leftovers}),
]
