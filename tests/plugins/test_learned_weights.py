"""The learned weight of `convex`: its features, its regression beside scikit-learn's, and when it falls back."""

import numpy as np
import pytest

from harness.types import Asked, Hits, Structure
from harness_fusion import learned

pytestmark = pytest.mark.extras

CHANCE = np.random.default_rng(3)
VALUES = np.linspace(0, 1, 21)
STRUCTURE = Structure(np.array([0, 0, 1, 1], np.int32), np.array([0, 2, 4]), np.ones(4, np.bool_))


def hits(passages: list, scores: list, unit="passage") -> Hits:
    return Hits(np.array(passages), np.array(scores, np.float32), unit)


def scores_with(best: np.ndarray, noise: float = 0.0) -> np.ndarray:
    """The scores of queries whose best weights are `best`: they fall with the distance from it."""
    return 1 - np.abs(best[:, None] - VALUES) + noise * CHANCE.normal(size=(len(best), 1))


@pytest.mark.parametrize("strength", learned.STRENGTHS)
def test_the_regression_is_that_of_scikit_learn(strength):
    linear_model = pytest.importorskip("sklearn.linear_model")
    features = CHANCE.normal(size=(120, 6)) * [1, 1, 1, 5, 0.1, 0]
    gain = features[:, 0] - 0.5 * features[:, 3] + CHANCE.normal(size=120)
    gain[::7] = 0
    known = gain != 0
    theirs = linear_model.LogisticRegression(C=strength, tol=1e-12, max_iter=100_000)
    weights = np.abs(gain[known]) / np.abs(gain[known]).mean()
    theirs.fit(features[known], gain[known] > 0, sample_weight=weights)
    intercept, *coefficients = learned.logistic(features, gain, strength)
    ours = 1 / (1 + np.exp(-(intercept + features @ coefficients)))
    assert ours == pytest.approx(theirs.predict_proba(features)[:, 1], abs=1e-6)


def test_the_chances_of_a_learned_model_are_those_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    features = CHANCE.normal(size=(200, 19)) + 3
    features[:, 5] = 1.0
    scores = scores_with(0.5 + 0.3 * np.sign(features[:, 2] - 3))
    model = learned.learn(features, VALUES, scores)
    gains = [scores[:, i + 1 :].max(axis=1) - scores[:, :i].max(axis=1) for i in range(1, 20)]
    gain = min(gains, key=lambda gain: abs(gain.sum()))
    scaled = (features - features.mean(axis=0)) / np.where(np.arange(19) == 5, 1, features.std(axis=0))
    theirs = linear_model.LogisticRegression(C=model["strength"], tol=1e-12, max_iter=100_000)
    theirs.fit(scaled, gain > 0, sample_weight=np.abs(gain) / np.abs(gain).mean())
    expected = theirs.predict_proba(scaled)[:, 1]
    assert learned.chances(features, model) == pytest.approx(expected, abs=1e-6)
    weights = learned.predict(features, model)
    assert weights == pytest.approx(model["centre"] + model["shift"] * (2 * expected - 1), abs=1e-6)


def test_what_a_feature_tells_is_learned_whatever_the_order_in_which_the_model_is_kept():
    features = CHANCE.normal(size=(300, 16))
    best = 0.5 + 0.3 * np.sign(features[:, 8])
    model = learned.learn(features, VALUES, scores_with(best))
    assert model["gain"] > 0.15
    backwards = {**model, "features": dict(reversed(model["features"].items()))}
    assert np.abs(learned.predict(features, backwards) - best).mean() < 0.1
    assert max(model["features"], key=lambda name: abs(model["features"][name][2])) == learned.names(16)[8]


@pytest.mark.parametrize("best", [np.full(60, 0.3), np.full(60, 1.0), 0.3 + 0.1 * CHANCE.normal(size=60)])
def test_where_nothing_can_be_learned_every_query_gets_the_best_fixed_weight(best):
    features, scores = CHANCE.normal(size=(60, 16)), scores_with(best, noise=0.2)
    model = learned.learn(features, VALUES, scores)
    assert model["shift"] == 0
    assert set(learned.predict(features, model)) == {VALUES[scores.mean(axis=0).argmax()]}


def test_features_are_of_each_list_of_both_and_of_the_query():
    first = hits([[0, 2, 1], [3, -1, -1], [-1, -1, -1]], [[9, 5, 1], [4, 0, 0], [0, 0, 0]])
    second = hits([[1, 0], [0, -1], [1, -1]], [[3, 1], [2, 0], [1, 0]], "document")
    asked = Asked(["ab", "", "abc"], [np.array([1.0, 3.0]), np.array([]), np.array([2.0])])
    found = learned.features([first, second], STRUCTURE, asked)
    assert found.shape == (3, len(learned.names(99)))
    assert np.isfinite(found).all()
    row = dict(zip(learned.names(99), found[0], strict=True))
    expected = {
        "top score of input 1": 9, "drop to rank 3 of input 1": 1, "top score of input 2": 3,
        "overlap at 1": 0, "overlap at 10": 1, "characters": np.log(3), "terms": np.log(3), "mean idf": 2,
        "greatest idf": 3,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert learned.features([first, second], STRUCTURE, asked._replace(idf=None)).shape[1] == 16
    one = [each._replace(passages=each.passages[:1], scores=each.scores[:1]) for each in (first, second)]
    assert (learned.features(one, STRUCTURE, Asked(["ab"], asked.idf[:1])) == found[:1]).all()


def test_a_feature_that_is_the_same_everywhere_but_for_rounding_moves_no_weight():
    features = CHANCE.normal(size=(203, 4))
    features[:, 2:] = 0.1, np.log1p(3)
    assert features.std(axis=0)[2:].all()
    model = learned.learn(features, VALUES, scores_with(0.5 + 0.3 * np.sign(features[:, 0])))
    other = features + np.array([0, 0, 1, 1])
    assert (learned.predict(other, model) == learned.predict(features, model)).all()
