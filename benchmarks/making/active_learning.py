"""Simulates active learning on judged collections: how many judgements a quality of the re-ranker costs.

The re-ranker is a cross-encoder whose transformer stays as it is, and whose linear layer is trained anew on
the judged pairs of each round. The maker `active-sample` chooses the pairs to judge next: those whose
probability lies between two thresholds, those between two quantiles, or, for comparison, random ones. The
collection's judgements answer. Half of the queries are trained on, the other half are scored; a seed draws
the halves and the first pairs, which all ways of choosing share.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pair_states
from scipy.optimize import minimize

from harness.collection import corpus
from harness.collection.corpus import Corpus
from harness.collection.maker_input import MakerInput
from harness.collection.queries import Judgements, Queries
from harness.html import vega
from harness.types import Document, Hits, Passage
from harness_pooling import ActiveParams
from harness_pooling.choosing import ActiveSample

DECAY = 0.01  # the weight decay of the linear layer
SHARE = 0.95  # the share of the quality with all judgements that must be reached
RANDOM = "random"
WAYS: dict[str, dict[str, Any]] = {  # parameters of `active-sample`
    RANDOM: {"lower": 0.0, "upper": 1.0, "quantiles": True},
    "probability .1 to .9": {"lower": 0.1, "upper": 0.9},
    "quantiles .8 to .98": {"lower": 0.8, "upper": 0.98, "quantiles": True},
}


class Curve(NamedTuple):
    """One way of choosing with one seed."""

    judged: list[int]  # judgements after each round
    quality: list[float]  # RR@10 on the scored queries, with the re-ranker trained on them
    needed: int | None  # judgements at the first round that reaches the share; None: no round does


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="an exported MiniLM cross-encoder")
    parser.add_argument("folders", type=Path, nargs="+", help="BEIR folders, such as xquad-en")
    parser.add_argument("--kept", type=Path, required=True, help="a folder for states, which take minutes")
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--length", type=int, default=160, help="tokens of a pair")
    parser.add_argument("--step", type=int, default=100, help="judgements of a round")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--picture", type=Path, help="an SVG of the curves")
    given = parser.parse_args()
    given.kept.mkdir(parents=True, exist_ok=True)
    curves: dict[str, dict[str, list[Curve]]] = {}
    for folder in given.folders:
        collection = pair_states.read(folder, given.queries)
        kept = given.kept / f"{folder.name}.npz"
        pairs = pair_states.candidates(collection, given.model, given.candidates, given.length, kept)
        curves[folder.name] = simulated(collection, pairs, given)
        print(folder.name, *summary(curves[folder.name]), sep="\n", flush=True)
    listed = {name: {way: [c._asdict() for c in every] for way, every in ways.items()}
              for name, ways in curves.items()}  # fmt: skip
    (given.kept / "curves.json").write_text(json.dumps(listed), encoding="utf-8")
    if given.picture is not None:
        given.picture.write_text(picture(curves), encoding="utf-8")


def simulated(collection: Any, pairs: Any, given: Any) -> dict[str, list[Curve]]:
    curves: dict[str, list[Curve]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        source: Any = SimpleNamespace(
            documents=lambda: (Document(name, "", (Passage(name, ""),)) for name, _ in collection.passages)
        )
        corpus.write(source, Path(folder), lambda done, total, note="": None)
        opened = Corpus(Path(folder))
        for seed in range(given.seeds):
            order = np.random.default_rng(seed).permutation(len(pairs.labels))
            train, test = order[: len(order) // 2], order[len(order) // 2 :]
            everything = np.ones(pairs.labels[train].shape, np.bool_)
            full = reciprocal_rank(pairs, test, fitted(pairs, train, everything))
            for way in WAYS:
                curves[way].append(curve(opened, pairs, train, test, way, seed, SHARE * full, given))
    return curves


def curve(
    opened: Corpus, pairs: Any, train: np.ndarray, test: np.ndarray, way: str, seed: int, target: float,
    given: Any,
) -> Curve:  # fmt: skip
    """One simulation. `judged`, bool[queries, n], is what has been judged so far."""
    judged = np.zeros(pairs.labels[train].shape, np.bool_)
    judged |= chosen(opened, pairs, train, judged, np.zeros(judged.shape), RANDOM, given.step, 1000 * seed)
    counts, quality = [], []
    for number in range(given.rounds):
        model = fitted(pairs, train, judged)
        counts.append(int(judged.sum()))
        quality.append(reciprocal_rank(pairs, test, model))
        scores = probabilities(pairs.states[train], model)
        draw = 1000 * seed + number + 1
        judged = judged | chosen(opened, pairs, train, judged, scores, way, given.step, draw)
    reached = [count for count, value in zip(counts, quality, strict=True) if value >= target]
    return Curve(counts, quality, reached[0] if reached else None)


def chosen(
    opened: Corpus, pairs: Any, train: np.ndarray, judged: np.ndarray, scores: np.ndarray, way: str,
    step: int, draw: int,
) -> np.ndarray:  # fmt: skip
    """bool[queries, n]: the pairs that the maker `active-sample` writes into its pool."""
    names = [str(row) for row in range(len(train))]
    places = pairs.passages[train]
    order = np.argsort(-scores, axis=1, kind="stable")
    hits = Hits(np.take_along_axis(places, order, axis=1), np.take_along_axis(scores, order, axis=1))
    empty: list[list[str]] = [[] for _ in names]
    rows, columns = np.nonzero(judged)
    passages, codes = np.unique(places[rows, columns], return_inverse=True)
    params = ActiveParams(of="re-ranker", depth=places.shape[1], take=step, seed=draw, **WAYS[way])
    folder = Path(tempfile.mkdtemp())
    stage = MakerInput(
        language="en", query_language=None, split="train", dataset="simulated", folder=folder,
        read_corpus=opened, read_queries=Queries(names, names, empty, empty, empty),
        read_judgements=Judgements(
            names, opened.ids(passages), rows.astype(np.int32), codes.astype(np.int32),
            pairs.labels[train][judged].astype(np.int32),
        ),
        runs={"re-ranker": Hits(hits.passages, hits.scores.astype(np.float32))},
    )  # fmt: skip
    ActiveSample(params).make(stage)
    lines = (folder / "kept" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    shutil.rmtree(folder)
    pool = [(int(row["query"]), row["passage"]) for row in map(json.loads, lines)]
    at = opened.positions([passage for _, passage in pool])
    mask = np.zeros(judged.shape, np.bool_)
    for (query, _), place in zip(pool, at.tolist(), strict=True):
        mask[query] |= places[query] == place
    return mask


def fitted(pairs: Any, train: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """float64[d + 1]: the last layer and its bias, by cross-entropy with weight decay. It starts at 0."""
    states, labels = pairs.states[train][judged], pairs.labels[train][judged]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logits = states @ weights[:-1].astype(np.float32) + weights[-1]
        slope = (1 / (1 + np.exp(-logits)) - labels) / len(labels)
        value = np.mean(np.logaddexp(0, logits) - labels * logits) + DECAY / 2 * (weights[:-1] @ weights[:-1])
        return value, np.append(states.T @ slope.astype(np.float32) + DECAY * weights[:-1], slope.sum())

    solved = minimize(
        loss, np.zeros(states.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 100}
    )
    return np.asarray(solved.x)


def probabilities(states: np.ndarray, model: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-(states @ model[:-1] + model[-1])))


def reciprocal_rank(pairs: Any, test: np.ndarray, model: np.ndarray) -> float:
    """RR@10 over the queries in `test`. Equal scores stay in the order of BM25."""
    order = np.argsort(-(pairs.states[test] @ model[:-1]), axis=1, kind="stable")
    hits = np.take_along_axis(pairs.labels[test], order, axis=1)[:, :10]
    return float(np.where(hits.any(axis=1), 1 / (hits.argmax(axis=1) + 1), 0).mean())


def summary(curves: dict[str, list[Curve]]) -> list[str]:
    """A line for each way of choosing: the judgements that it needs to reach the share, and how many more
    random choice needs, paired by seed."""
    most = max(item.judged[-1] for item in curves[RANDOM])
    lines = []
    needed = {
        way: np.array([most if item.needed is None else item.needed for item in every])
        for way, every in curves.items()
    }
    area = {way: np.array([np.mean(item.quality) for item in every]) for way, every in curves.items()}
    for way, every in curves.items():
        missed = sum(item.needed is None for item in every)
        line = f"  {way}: {spread(needed[way], 0)} judgements for {SHARE:.0%}, {missed} seeds do not reach it"
        if way != RANDOM:
            line += (
                f"; random needs {spread(needed[RANDOM] - needed[way], 0)} more"
                f" ({needed[RANDOM].mean() / needed[way].mean():.2f} times)"
                f"; mean RR@10 of all rounds {spread(area[way] - area[RANDOM], 4)} better"
            )
        lines.append(line)
    return lines


def spread(values: np.ndarray, digits: int) -> str:
    """The mean with its 95 % bootstrap interval over seeds."""
    means = np.random.default_rng(0).choice(values, (5000, len(values))).mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return f"{values.mean():.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def picture(curves: dict[str, dict[str, list[Curve]]]) -> str:
    """The mean quality after each round, with its 95 % interval over seeds, one panel a collection."""
    points = []
    for name, ways in curves.items():
        for way, every in ways.items():
            for number in range(len(every[0].judged)):
                values = np.array([item.quality[number] for item in every])
                half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
                judged = float(np.mean([item.judged[number] for item in every]))
                points.append({
                    "collection": name, "choice": way, "judgements": judged,
                    "RR@10": values.mean(), "low": values.mean() - half, "high": values.mean() + half,
                })  # fmt: skip
    x = {"field": "judgements", "type": "quantitative"}
    axis = {"type": "quantitative", "title": "RR@10", "scale": {"zero": False}}
    colour = {"field": "choice", "type": "nominal", "legend": {"orient": "top"}}
    layers = [
        {"mark": {"type": "area", "opacity": 0.2},
         "encoding": {"x": x, "y": {"field": "low", **axis}, "y2": {"field": "high"}, "color": colour}},
        {"mark": "line", "encoding": {"x": x, "y": {"field": "RR@10", **axis}, "color": colour}},
    ]  # fmt: skip
    panels = [
        {"title": name, "width": 420, "height": 240, "layer": layers,
         "data": {"values": [point for point in points if point["collection"] == name]}}
        for name in curves
    ]  # fmt: skip
    drawn: str = vega.library().vegalite_to_svg({"hconcat": panels, "background": "white"})
    return drawn


if __name__ == "__main__":
    main()
