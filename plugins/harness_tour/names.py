"""Numbers that select names: every document gets different names, in an order that looks random."""

from __future__ import annotations

import functools
import math
import random
import tomllib
from pathlib import Path


def nth(index: int, size: int, seed: int, space: str) -> int:
    """A number below `size` that no other index below `size` gets (a full-period stride)."""
    return (index * _stride(size) + _start(size, seed, space)) % size


@functools.cache
def _stride(size: int) -> int:
    stride = max(1, int(size * 0.618))  # far apart for neighbours
    while math.gcd(stride, size) != 1:
        stride += 1
    return stride


@functools.cache
def _start(size: int, seed: int, space: str) -> int:
    return int(random.Random(f"tour/{seed}/{space}").random() * size)


def joined(heads: tuple[str, ...], tails: tuple[str, ...]) -> tuple[str, ...]:
    """Every combination of head and tail; heads vary fastest."""
    return tuple(head + tail for tail in tails for head in heads)


def parts(language: str) -> dict[str, tuple[str, ...]]:
    """The lists in a language's `names.toml`, where a long text stands for the list of its words."""
    text = (Path(__file__).parent / language / "names.toml").read_text(encoding="utf-8")
    return {
        name: tuple(value.split() if isinstance(value, str) else value)
        for name, value in tomllib.loads(text).items()
    }
