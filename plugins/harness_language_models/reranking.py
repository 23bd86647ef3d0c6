"""Re-ranks by a language model: the prompts, and the methods that decide what to ask next."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from harness.plugin import JSON, Floats, Ints, Texts
from harness.toolkit import services
from harness.toolkit.services import Chat, Reply
from harness_language_models import (
    ListwiseParams,
    PairwiseParams,
    PointwiseParams,
    SetwiseParams,
    orders,
)

# One query's questions: it yields the chats to ask next, is sent their replies, and returns the scores.
Asking: TypeAlias = Generator[list[Chat], list[Reply], list[float]]
Params: TypeAlias = ListwiseParams | PairwiseParams | SetwiseParams | PointwiseParams
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVW"
YES, NO = "yes", "no"


class Reading:
    def __init__(self, params: Params) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> None:
        """Write nothing, because a language model reads the passages themselves."""

    def open(self, texts: Texts, folder: Path | None) -> Open:
        return Open(self._params, texts)


class Open:
    """An open re-ranker. It asks the questions of all queries side by side. The next question of a query
    depends on the answers to its questions so far."""

    def __init__(self, params: Params, texts: Texts) -> None:
        self._params, self._texts = params, texts
        self._client = services.Client(params.service)
        self._counts = {"questions": 0, "answers_mended": 0}

    def score(self, queries: Sequence[str], candidates: Ints) -> Floats:
        scores = np.zeros(candidates.shape, np.float32)
        running: dict[int, Asking] = {}
        pending: dict[int, list[Chat]] = {}
        for row, query in enumerate(queries):
            filled = np.flatnonzero(candidates[row] >= 0)
            texts = [self._cut(text) for text in self._texts.take(candidates[row, filled])]
            running[row] = self._asking(query, texts)
            pending[row] = []
        answers: dict[int, list[Reply] | None] = dict.fromkeys(running)
        while running:
            for row in list(running):
                try:
                    reply = answers[row]
                    pending[row] = next(running[row]) if reply is None else running[row].send(reply)
                except StopIteration as ended:
                    scores[row, np.flatnonzero(candidates[row] >= 0)] = ended.value
                    del running[row], pending[row]
            questions = [chat for chats in pending.values() for chat in chats]
            replies = services.ask(self._client, questions)
            self._counts["questions"] += len(questions)
            for row, chats in pending.items():
                answers[row], replies = replies[: len(chats)], replies[len(chats) :]
        return scores

    def report(self) -> Mapping[str, JSON]:
        return dict(self._counts)

    def _cut(self, text: str) -> str:
        return " ".join(text.split()[: self._params.words])

    def _asking(self, query: str, texts: list[str]) -> Asking:
        params = self._params
        if isinstance(params, ListwiseParams):
            return self._listwise(query, texts, params)
        if isinstance(params, PairwiseParams):
            return self._pairwise(query, texts, params)
        if isinstance(params, SetwiseParams):
            return self._setwise(query, texts, params)
        return self._pointwise(query, texts)

    def _listwise(self, query: str, texts: list[str], params: ListwiseParams) -> Asking:
        """Order overlapping windows of passages, from the tail to the head (RankGPT, Sun et al. 2023)."""
        order = list(range(len(texts)))
        for start, stop in orders.windows(len(texts), params.window, params.step):
            prompt = window_prompt(query, [texts[i] for i in order[start:stop]])
            [reply] = yield [Chat(prompt, params.max_tokens)]
            permutation, mended = orders.permutation(reply.text, stop - start)
            self._counts["answers_mended"] += mended
            order[start:stop] = [order[start + i] for i in permutation]
        return orders.scores_of(order)

    def _pairwise(self, query: str, texts: list[str], params: PairwiseParams) -> Asking:
        """Order passages by questions about pairs (Qin et al. 2024). Each pair is asked about in both orders.
        If both answers agree, the passage that they name wins; otherwise each passage gets half a win."""
        if params.method == "all-pairs":
            pairs = [(i, j) for i in range(len(texts)) for j in range(i + 1, len(texts))]
            replies = yield [chat for i, j in pairs for chat in pair_prompts(query, texts[i], texts[j])]
            wins = np.zeros(len(texts))
            for number, (i, j) in enumerate(pairs):
                won = self._winner(replies[2 * number], replies[2 * number + 1])
                wins[i] += won
                wins[j] += 1 - won
            # equal wins keep the order of the run
            return orders.scores_of(sorted(range(len(texts)), key=lambda i: (-wins[i], i)))
        heap = orders.Heap(len(texts), 2, params.top)
        while (group := heap.group()) is not None:
            best = group[0]
            for other in group[1:]:
                first, second = yield pair_prompts(query, texts[best], texts[other])
                best = other if self._winner(first, second) < 0.5 else best
            heap.choose(best)
        return orders.scores_of(heap.order())

    def _winner(self, straight: Reply, swapped: Reply) -> float:
        """1 if the first passage is better in both orders of the pair, 0 if the second is, else 0.5."""
        one, two = orders.letter(straight.text, "AB"), orders.letter(swapped.text, "AB")
        self._counts["answers_mended"] += (one is None) + (two is None)
        if (one, two) == (0, 1):
            return 1.0
        return 0.0 if (one, two) == (1, 0) else 0.5

    def _setwise(self, query: str, texts: list[str], params: SetwiseParams) -> Asking:
        """Order passages by heapsort (Zhuang et al. 2024). One question finds the best of a parent and its
        children."""
        heap = orders.Heap(len(texts), params.children, params.top)
        while (group := heap.group()) is not None:
            [reply] = yield [Chat(set_prompt(query, [texts[i] for i in group]), 4)]
            chosen = orders.letter(reply.text, LETTERS[: len(group)])
            self._counts["answers_mended"] += chosen is None
            heap.choose(group[chosen or 0])
        return orders.scores_of(heap.order())

    def _pointwise(self, query: str, texts: list[str]) -> Asking:
        """Score each passage by one question about it (Nogueira et al. 2020): log p(yes) - log p(no) of the
        first word. If the service gives no probabilities, the score is 1 for yes and 0 for no."""
        replies = yield [Chat(point_prompt(query, text), 4, logprobs=10) for text in texts]
        return [self._yes(reply) for reply in replies]

    def _yes(self, reply: Reply) -> float:
        chances = {YES: 0.0, NO: 0.0}
        for token, logprob in reply.logprobs.items():
            word = token.strip().lower()
            if word in chances:
                chances[word] += float(np.exp(logprob))
        if chances[YES] or chances[NO]:
            least = 1e-6  # the probability of a word that the service does not list
            return float(np.log(max(chances[YES], least)) - np.log(max(chances[NO], least)))
        match = re.search(r"\b(yes|no)\b", reply.text.lower())
        self._counts["answers_mended"] += match is None
        return 1.0 if match and match[1] == YES else 0.0


def window_prompt(query: str, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    listed = "\n".join(f"[{i}] {text}" for i, text in enumerate(texts, 1))
    ask = (
        f"Rank these {len(texts)} passages by how well they answer the query. Give all identifiers, the best "
        "first, in the form [2] > [1], and nothing else."
    )
    system = "You rank passages by their relevance to a query."
    return (("system", system), ("user", f"Query: {query}\n\n{listed}\n\nQuery: {query}\n{ask}"))


def pair_prompts(query: str, one: str, two: str) -> list[Chat]:
    """The question about two passages, in both orders, because a model may prefer a place."""
    return [Chat(_letters(query, texts), 4) for texts in ((one, two), (two, one))]


def set_prompt(query: str, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return _letters(query, texts)


def _letters(query: str, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    listed = "\n\n".join(f"Passage {LETTERS[i]}: {text}" for i, text in enumerate(texts))
    ask = "Which passage answers the query best? Give its letter and nothing else."
    return (("user", f"Query: {query}\n\n{listed}\n\n{ask}"),)


def point_prompt(query: str, text: str) -> tuple[tuple[str, str], ...]:
    ask = "Does the passage answer the query? Answer yes or no and nothing else."
    return (("user", f"Passage: {text}\n\nQuery: {query}\n\n{ask}"),)
