"""Learns a weight for each query from features that need no judgement (docs/fusion.md has the formulas)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import expit

from harness.plugin import JSON, Asked, Hits, Ints, Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles: TypeAlias = NDArray[np.float64]

SHAPE = ("top score", "drop to rank 3", "drop to rank 11", "drop to rank 101", "spread", "entropy")
SHARED = ("overlap at 1", "overlap at 10", "overlap at 100", "characters")
OF_TERMS = ("terms", "mean idf", "greatest idf")
FLOOR = 1e-4  # the least divisor, as in the fusion itself
FLAT = 1e-9  # a smaller deviation, as a share of the mean, is rounding in a constant feature
FOLDS, SEED = 5, 0  # of the cross-fitting within the queries that a model is learned from
# C of the logistic regression; the smaller, the nearer are its coefficients to 0
STRENGTHS = (0.001, 0.01, 0.1, 1.0)
SHIFTS = (0.1, 0.2, 0.3, 0.4, 0.5)  # how far a query's weight may be from the centre


def features(inputs: Sequence[Hits], structure: Structure, asked: Asked) -> Doubles:
    """float64[Q, F]: the shape of both lists of scores, their overlap, and the query's length and terms."""
    columns = [column for hits in inputs for column in _shape(hits)]
    same = len({hits.unit for hits in inputs}) == 1
    first, second = (hits.passages if same else _documents(hits, structure) for hits in inputs)
    columns += [_overlap(first[:, :depth], second[:, :depth]) for depth in (1, 10, 100)]
    columns.append(np.log1p([len(text) for text in asked.texts]))
    if asked.idf is not None:
        columns.append(np.log1p([len(idf) for idf in asked.idf]))
        columns += [np.array([of(idf) if len(idf) else 0.0 for idf in asked.idf]) for of in (np.mean, np.max)]
    return np.stack(columns, axis=1)


def names(count: int) -> list[str]:
    """The names of `count` features."""
    every = [f"{name} of input {i}" for i in (1, 2) for name in SHAPE]
    return [*every, *SHARED, *OF_TERMS][:count]


def _shape(hits: Hits) -> list[Doubles]:
    """The columns of SHAPE. All but the first are of min-max normalised scores; a missing score is 0."""
    filled = hits.passages >= 0
    if not filled.shape[1]:
        return [np.zeros(len(filled))] * len(SHAPE)
    scores = np.where(filled, hits.scores, 0.0).astype(np.float64)
    top = scores[:, :1]
    least = np.where(filled, scores, np.inf).min(axis=1, keepdims=True)
    least = np.where(np.isfinite(least), least, 0.0)
    above = np.where(filled, (scores - least) / np.maximum(top - least, FLOOR), 0.0)
    drops = [1 - above[:, min(rank, above.shape[1]) - 1] for rank in (3, 11, 101)]
    best = above[:, :100]
    share = best / np.maximum(best.sum(axis=1, keepdims=True), FLOOR)
    entropy = -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=1)
    return [top[:, 0], *drops, best.std(axis=1), entropy]


def _documents(hits: Hits, structure: Structure) -> Ints:
    if hits.unit == "document":
        return hits.passages
    documents: Ints = np.where(hits.passages >= 0, structure.document_of[hits.passages], -1)
    return documents


def _overlap(first: Ints, second: Ints) -> Doubles:
    """The share of the first input's results that the second has too: float64[Q]."""
    rows = np.arange(len(first))[:, None] * (max(first.max(initial=0), second.max(initial=0)) + 1)
    shared = np.isin(rows + first, (rows + second)[second >= 0]) & (first >= 0)
    return np.asarray(shared.sum(axis=1) / np.maximum((first >= 0).sum(axis=1), 1))


def learn(features: Doubles, values: Doubles, scores: Doubles) -> dict[str, JSON]:
    """The model of the weights, from the score of each query with each value. It gives every query the best
    fixed value unless cross-fitting shows a gain of more than one standard error."""
    fixed = int(scores.mean(axis=0).argmax())
    middle = _middle(scores)
    gain = _gain(scores, middle)
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    deviation[deviation < FLAT * np.abs(mean)] = 0
    scaled = _scaled(features, mean, deviation)
    fold_of = np.random.default_rng(SEED).permutation(len(scaled)) % FOLDS
    strength, logits, least = STRENGTHS[0], np.zeros(len(scaled)), np.inf
    for tried in STRENGTHS:
        out = np.zeros(len(scaled))
        for fold in range(FOLDS):
            rest = fold_of != fold
            intercept, *weights = logistic(scaled[rest], gain[rest], tried)
            out[~rest] = intercept + scaled[~rest] @ np.array(weights)
        loss = float((np.abs(gain) * np.logaddexp(0, np.where(gain > 0, -out, out))).sum())
        if loss < least:
            strength, logits, least = tried, out, loss
    centre, shift, best, error = fixed, 0.0, -np.inf, 0.0
    for place, tried in itertools.product((fixed, middle), SHIFTS):
        weights = values[place] + tried * (2 * expit(logits) - 1)
        nearest = np.abs(weights[:, None] - values).argmin(axis=1)
        gained = scores[np.arange(len(scores)), nearest] - scores[:, fixed]
        if gained.mean() > best:
            centre, shift, best = place, tried, float(gained.mean())
            error = float(gained.std() / np.sqrt(len(gained)))
    if best <= error:
        centre, shift = fixed, 0.0
    intercept, *coefficients = logistic(scaled, gain, strength).tolist()
    columns = zip(names(len(mean)), mean.tolist(), deviation.tolist(), coefficients, strict=True)
    return {
        "centre": float(values[centre]),
        "shift": shift,
        "gain": best,  # of the best centre and shift over the fixed value, cross-fitted within these queries
        "error": error,  # the standard error of the gain
        "strength": strength,
        "intercept": intercept,
        "features": {name: numbers for name, *numbers in columns},  # mean, deviation, coefficient
    }


def _middle(scores: Doubles) -> int:
    """The place of the value above and below which the queries gain most nearly as much."""
    sums = [abs(_gain(scores, place).sum()) for place in range(1, scores.shape[1] - 1)]
    return 1 + int(np.argmin(sums))


def _gain(scores: Doubles, middle: int) -> Doubles:
    """float64[Q]: by how much the best value above a place serves a query better than the best one below."""
    return np.asarray(scores[:, middle + 1 :].max(axis=1) - scores[:, :middle].max(axis=1))


def predict(features: Doubles, model: Mapping[str, JSON]) -> Doubles:
    """The weight of each query: w = centre + shift * (2 p - 1), with p as `chances` gives it."""
    return np.asarray(model["centre"] + model["shift"] * (2 * chances(features, model) - 1))


def chances(features: Doubles, model: Mapping[str, JSON]) -> Doubles:
    """The chance p that a query is served better by a weight above the middle: float64[Q]."""
    every = [model["features"][name] for name in names(features.shape[1])]
    mean, deviation, coefficients = np.array(every).T
    return np.asarray(expit(model["intercept"] + _scaled(features, mean, deviation) @ coefficients))


def _scaled(features: Doubles, mean: Doubles, deviation: Doubles) -> Doubles:
    return np.where(deviation > 0, (features - mean) / np.where(deviation > 0, deviation, 1.0), 0.0)


def logistic(features: Doubles, gain: Doubles, strength: float) -> Doubles:
    """The intercept a and the coefficients b of a logistic regression: float64[1 + F]. They minimise
    |b|^2 / 2 + strength * sum of v_q ln(1 + exp(-y_q (a + b x_q))), where y_q is the sign of a query's gain
    and v_q its size over the mean size. All are 0 if only one sign occurs. By Newton's method, whose steps
    are halved until the sum falls."""
    known = gain != 0
    found = np.zeros(1 + features.shape[1])
    positive = gain[known] > 0
    if positive.all() or not positive.any():
        return found
    weight = strength * np.abs(gain[known]) / np.abs(gain[known]).mean()
    design = np.hstack([np.ones((len(weight), 1)), features[known]])
    ridge = np.ones(len(found))
    ridge[0] = 0.0

    def loss(at: Doubles) -> float:
        logits = design @ at
        return float(weight @ np.logaddexp(0, np.where(positive, -logits, logits)) + ridge @ at**2 / 2)

    for _ in range(100):
        chance = expit(design @ found)
        slope = design.T @ (weight * (chance - positive)) + ridge * found
        curvature = (design * (weight * chance * (1 - chance))[:, None]).T @ design + np.diag(ridge)
        step = np.linalg.lstsq(curvature, slope, rcond=None)[0]
        while loss(found - step) > loss(found) and np.abs(step).max() > 1e-12:
            step = step / 2
        found = found - step
        if np.abs(step).max() < 1e-10:
            break
    return found
