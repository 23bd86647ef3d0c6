"""Random runs and judgements as plain dicts, and what a protocol's columns make of them."""

import random
from collections import Counter

import numpy as np

import harness_micro
import harness_protocols
from harness.collection.judgements import Judged
from harness.scoring.ranking import Documents
from harness.scoring.score import score
from harness.types import Hits

PROTOCOLS = {protocol.name: protocol for protocol in harness_protocols.harness_protocols()}
OWN = {record.name: record for record in harness_micro.harness_measures()}
SEEDS = range(150)
SIZE = 40  # passages of the corpus; judgements go up to SIZE + 2, which it lacks


def random_case(seed, *, longest=30, grades=(0, 0, 1, 2, 3), complete=False):
    """A run {query: [passage, ...]} and judgements {query: {passage: grade}} over eight queries: some are not
    in the run, some not judged, some without a positive, some lists are short. If `complete`, the run answers
    exactly the judged queries."""
    rng = random.Random(seed)
    run, qrels = {}, {}
    for query in range(8):
        if rng.random() < 0.8:
            chosen = rng.sample(range(SIZE + 3), rng.randint(1, 8))
            qrels[query] = {passage: rng.choice(grades) for passage in chosen}
        if rng.random() < 0.8:
            run[query] = rng.sample(range(SIZE), rng.choice([1, 3, longest]))
    if complete:
        run = {query: run.get(query, [rng.randrange(SIZE)]) for query in qrels}
    if not set(run) & set(qrels):
        return random_case(seed + 10_000, longest=longest, grades=grades, complete=complete)
    return run, qrels


def scored(columns, run, qrels, depth):
    """Label -> mean, unrounded. A document has two neighbouring passages, 2d and 2d + 1."""
    width = max(map(len, run.values()))
    passages = np.full((max([*run, *qrels]) + 1, width), -1, np.int64)
    for query, ranking in run.items():
        passages[query, : len(ranking)] = ranking
    scores = np.where(passages < 0, -np.inf, -np.arange(width)).astype(np.float32)
    rows = [(query, passage, grade) for query, one in qrels.items() for passage, grade in one.items()]
    query, passage, grade = np.array(rows, np.int64).T
    judged = Judged(query.astype(np.int32), passage, grade.astype(np.int32))
    documents = Documents(np.arange(SIZE, dtype=np.int32) // 2, np.arange(SIZE // 2, dtype=np.int32))
    scores = score(
        Hits(passages, scores),
        judged,
        columns,
        size=SIZE,
        plugin_measures=OWN,
        documents=documents,
        depth=depth,
    )
    means = {}
    for column in scores.columns:
        whole = column.denominator.sum()
        ratio = column.numerator.sum() / whole if whole else 0.0
        means[column.column.label] = ratio if column.average == "ratio" else column.values.mean()
    return means


def by_protocol(name, run, qrels):
    protocol = PROTOCOLS[name]
    return scored(protocol.columns, run, qrels, protocol.depth)


def kinds_of_case(cases):
    """How many of the cases hold what the random cases are meant to hold."""
    seen = Counter()
    for run, qrels in cases:
        seen["a missing query"] += bool(set(qrels) - set(run))
        seen["an unjudged query"] += bool(set(run) - set(qrels))
        seen["no positive"] += any(max(judged.values()) < 1 for judged in qrels.values())
        seen["no level 2"] += any(max(judged.values()) == 1 for judged in qrels.values())
        seen["a short list"] += any(len(ranking) < 10 for ranking in run.values())
        seen["a passage that the corpus lacks"] += any(max(judged) >= SIZE for judged in qrels.values())
    return seen
