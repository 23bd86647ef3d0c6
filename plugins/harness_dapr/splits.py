"""The authors' dev splits: random samples of the training questions, drawn with one seed."""

from __future__ import annotations

import random

SEED = 42


def drawn(questions: int, number: int) -> frozenset[int]:
    """The places of the `number` questions that become the dev split. The others remain in train."""
    return frozenset(random.Random(SEED).sample(range(questions), min(number, questions)))
