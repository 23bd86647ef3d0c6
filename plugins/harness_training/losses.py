"""Losses as functions of score arrays, each with its equation. Only `present` entries count."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

NOTHING = float("-inf")  # the score of entries that do not count: e^-inf = 0


def contrastive(scores: Tensor, positive: Tensor, present: Tensor) -> Tensor:
    """InfoNCE (DPR, Karpukhin et al. 2020, eq. 2; T2Ranking, Xie et al. 2023, section 6.1): the mean over
    queries of -log(e^s(q,p+) / sum_p e^s(q,p)). `scores`, float[Q, P], are those of the passages of a batch.
    `positive`, int64[Q], is the column of each query's positive. `present`, bool[Q, P], says which passages
    count for a query."""
    return functional.cross_entropy(scores.masked_fill(~present, NOTHING), positive)


def listwise(scores: Tensor, present: Tensor) -> Tensor:
    """Softmax cross-entropy over lists whose first entry is the positive (RocketQAv2, Ren et al. 2021,
    eq. 5): -1/N sum log(e^s+ / (e^s+ + sum e^s-)). `scores` is float[Q, L], and `present` is bool[Q, L]."""
    first = torch.zeros(len(scores), dtype=torch.int64, device=scores.device)
    return contrastive(scores, first, present)


def pointwise(logits: Tensor, relevant: Tensor) -> Tensor:
    """Cross-entropy of single pairs (BERT re-ranking, Nogueira and Cho 2019, eq. 1). With one logit,
    float[n, 1], it is -log sigmoid(s) for relevant pairs and -log(1 - sigmoid(s)) for other pairs. With two
    classes, float[n, 2], it is softmax cross-entropy, and the second class is relevant. `relevant` is
    float[n] of 0 and 1."""
    if logits.shape[1] == 1:
        return functional.binary_cross_entropy_with_logits(logits[:, 0], relevant)
    return functional.cross_entropy(logits, relevant.long())


def margin_mse(scores: Tensor, teacher: Tensor, present: Tensor) -> Tensor:
    """Margin-MSE (Hofstaetter et al. 2020, eq. 2): the mean over (q, p+, p-) of
    ((s(p+) - s(p-)) - (t(p+) - t(p-)))^2. `scores` and `teacher` are float[Q, L] with the positive first, and
    `present` is bool[Q, L]. The loss of a batch without any negative is 0."""
    margins = (scores[:, :1] - scores[:, 1:]) - (teacher[:, :1] - teacher[:, 1:])
    squares = margins[present[:, 1:]].square()
    return squares.mean() if len(squares) else squares.sum()


def divergence(first: Tensor, second: Tensor, present: Tensor) -> Tensor:
    """The mean over lists of KL(P || R) = sum p log(p / r). P and R are the softmax of the scores `first` and
    `second`, float[Q, L], over the entries that are `present`, bool[Q, L]."""
    log_p = functional.log_softmax(first.masked_fill(~present, NOTHING), dim=1)
    log_r = functional.log_softmax(second.masked_fill(~present, NOTHING), dim=1)
    # -inf - -inf is not a number, nor is its gradient, so both terms are set to 0 before the subtraction
    log_p, log_r = log_p.masked_fill(~present, 0), log_r.masked_fill(~present, 0)
    return (log_p.exp() * (log_p - log_r) * present).sum(dim=1).mean()


def distillation(scores: Tensor, teacher: Tensor, present: Tensor, temperature: float = 1.0) -> Tensor:
    """KL(teacher || student) over each list (Hinton et al. 2015), scaled by the square of the temperature."""
    return divergence(teacher / temperature, scores / temperature, present) * temperature**2


def dynamic_listwise(
    retriever: Tensor,
    reranker: Tensor,
    present: Tensor,
    direction: Literal["retriever-reranker", "reranker-retriever"] = "retriever-reranker",
    reaches_reranker: bool = True,
) -> Tensor:
    """RocketQAv2's L_KL (Ren et al. 2021, eq. 2 to 4): the divergence between the scores of the retriever and
    those of the re-ranker, float[Q, L] each. Equation 4 sums over queries; this is the mean over them, as
    equation 5 has it for the other loss. The paper has KL(retriever || re-ranker); its authors' code has the
    other direction, and a mean over all Q * L passages. If `reaches_reranker` is false, the re-ranker gets no
    gradient: it is only a teacher."""
    reranker = reranker if reaches_reranker else reranker.detach()
    if direction == "retriever-reranker":
        return divergence(retriever, reranker, present)
    return divergence(reranker, retriever, present)
