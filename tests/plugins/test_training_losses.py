"""Each loss equals a slow transcription of its equation, and its gradient equals finite differences."""

import functools
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

pytestmark = pytest.mark.extras

from harness_training import losses  # noqa: E402

CHANCE = np.random.default_rng(3)
SCORES = CHANCE.normal(size=(3, 4))
TEACHER = CHANCE.normal(size=(3, 4))
THERE = np.array([[1, 1, 1, 1], [1, 1, 0, 1], [1, 0, 1, 0]], bool)


def softmax(row, there):
    total = sum(math.exp(score) for score, counts in zip(row, there, strict=True) if counts)
    return [math.exp(score) / total if counts else 0.0 for score, counts in zip(row, there, strict=True)]


def slow_contrastive(scores, positive, there):
    return -np.mean([math.log(softmax(scores[q], there[q])[positive[q]]) for q in range(len(scores))])


def slow_divergence(first, second, there):
    total = 0.0
    for q in range(len(first)):
        p, r = softmax(first[q], there[q]), softmax(second[q], there[q])
        total += sum(p[i] * math.log(p[i] / r[i]) for i in range(len(p)) if there[q][i])
    return total / len(first)


def slow_margin_mse(scores, teacher, there):
    errors = [
        ((scores[q, 0] - scores[q, i]) - (teacher[q, 0] - teacher[q, i])) ** 2
        for q in range(len(scores))
        for i in range(1, scores.shape[1])
        if there[q, i]
    ]
    return sum(errors) / len(errors)


def slow_one_logit(logits, relevant):
    total = 0.0
    for score, label in zip(logits[:, 0], relevant, strict=True):
        p = 1 / (1 + math.exp(-score))
        total -= math.log(p) if label else math.log(1 - p)
    return total / len(logits)


def slow_two_classes(logits, relevant):
    chosen = [softmax(row, [True, True])[int(label)] for row, label in zip(logits, relevant, strict=True)]
    return -sum(math.log(p) for p in chosen) / len(chosen)


def tensor(array, dtype=torch.float64):
    return torch.tensor(array, dtype=dtype)


POSITIVE = [0, 3, 2]
RELEVANT = [1.0, 0.0, 0.0]
THERE_T = torch.tensor(THERE)
CASES = {
    "contrastive": (
        lambda s: losses.contrastive(s, torch.tensor(POSITIVE), THERE_T),
        slow_contrastive(SCORES, POSITIVE, THERE),
    ),
    "listwise": (lambda s: losses.listwise(s, THERE_T), slow_contrastive(SCORES, [0, 0, 0], THERE)),
    "one logit": (lambda s: losses.pointwise(s[:, :1], tensor(RELEVANT)), slow_one_logit(SCORES[:, :1], RELEVANT)),
    "two classes": (
        lambda s: losses.pointwise(s[:, :2], tensor(RELEVANT)), slow_two_classes(SCORES[:, :2], RELEVANT),
    ),
    "margin-mse": (
        lambda s: losses.margin_mse(s, tensor(TEACHER), THERE_T), slow_margin_mse(SCORES, TEACHER, THERE),
    ),
    "distillation": (
        lambda s: losses.distillation(s, tensor(TEACHER), THERE_T), slow_divergence(TEACHER, SCORES, THERE),
    ),
    "distillation at temperature 2": (
        lambda s: losses.distillation(s, tensor(TEACHER), THERE_T, 2.0),
        4 * slow_divergence(TEACHER / 2, SCORES / 2, THERE),
    ),
    "RocketQAv2, the retriever's side": (
        lambda s: losses.dynamic_listwise(s, tensor(TEACHER), THERE_T), slow_divergence(SCORES, TEACHER, THERE),
    ),
    "RocketQAv2, the re-ranker's side": (
        lambda s: losses.dynamic_listwise(tensor(TEACHER), s, THERE_T), slow_divergence(TEACHER, SCORES, THERE),
    ),
    "RocketQAv2, the other direction": (
        lambda s: losses.dynamic_listwise(s, tensor(TEACHER), THERE_T, "reranker-retriever"),
        slow_divergence(TEACHER, SCORES, THERE),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_loss_equals_its_equation(name):
    fast, slow = CASES[name]
    assert float(fast(tensor(SCORES))) == pytest.approx(slow, rel=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_a_gradient_equals_finite_differences(name):
    loss, _ = CASES[name]
    given = tensor(SCORES)
    scores = given.clone().requires_grad_(True)
    loss(scores).backward()
    slopes = np.zeros(SCORES.shape)
    for at in np.ndindex(SCORES.shape):
        step = torch.zeros_like(given)
        step[at] = 1e-6
        slopes[at] = (float(loss(given + step)) - float(loss(given - step))) / 2e-6
    assert np.allclose(scores.grad.numpy(), slopes, atol=1e-8)


def test_masked_entries_have_no_gradient_even_where_a_list_has_one_entry_left():
    scores = tensor(SCORES).requires_grad_(True)
    there = torch.tensor([[1, 0, 0, 0], [1, 1, 1, 1], [1, 0, 0, 1]], dtype=torch.bool)
    losses.dynamic_listwise(scores, tensor(TEACHER), there).backward()
    assert torch.isfinite(scores.grad).all()
    assert (scores.grad[~there] == 0).all()


@pytest.mark.parametrize("direction", ["retriever-reranker", "reranker-retriever"])
def test_the_divergence_moves_the_reranker_only_if_it_may(direction):
    for reaches in (True, False):
        retriever, reranker = tensor(SCORES).requires_grad_(True), tensor(TEACHER).requires_grad_(True)
        joint = functools.partial(losses.dynamic_listwise, direction=direction, reaches_reranker=reaches)
        joint(retriever, reranker, THERE_T).backward()
        assert float(retriever.grad.abs().sum()) > 0
        assert (reranker.grad is not None and float(reranker.grad.abs().sum()) > 0) == reaches
