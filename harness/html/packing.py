"""Packs numbers and JSON as base64 text for a page. Per-query values become codes of one or two bytes."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from harness.types import JSON

Values = NDArray[np.float64]
LEVELS = (65535, 255, 63, 31, 15)  # steps of a measure's range, tried in turn until the values fit
EXACT = 4096  # up to so many different values are stored exactly
BUDGET = 10_500_000  # characters for all data that grow with the number of queries


class Coded(NamedTuple):
    """Values as codes. 0 is a missing value; c is palette[c - 1], or `low` + (c - 1) times `step`."""

    codes: bytes  # one row after the other, little-endian
    width: int  # bytes of a code
    palette: list[float] | None  # None if values are rounded to equal steps
    low: float
    step: float


def island(data: JSON) -> str:
    """JSON that is safe inside a <script> element, whatever texts it holds."""
    text = orjson.dumps(data).decode()
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 6)).decode()


def packed_json(data: JSON) -> str:
    return packed(orjson.dumps(data))


def coded(values: Values, levels: int) -> Coded:
    """The values float64[systems, Q], NaN for missing ones, as codes of at most `levels` levels."""
    known = np.isfinite(values)
    distinct = np.unique(values[known])
    if len(distinct) <= min(levels, EXACT):
        codes = np.searchsorted(distinct, np.where(known, values, 0)) + 1
        return Coded(*_bytes(codes, known, len(distinct)), distinct.tolist(), 0.0, 0.0)
    low, high = float(distinct[0]), float(distinct[-1])
    step = (high - low) / (levels - 1)
    codes = np.rint((np.where(known, values, low) - low) / step) + 1
    return Coded(*_bytes(codes, known, levels), None, low, step)


def fitting(tables: Sequence[Values], budget: int) -> list[tuple[Coded, str]]:
    """The coded values of every dataset with their packed text, with the most levels that fit the budget for
    all datasets together."""
    coded_tables: list[tuple[Coded, str]] = []
    for levels in LEVELS:
        coded_tables = []
        left = budget
        for table in tables:
            item = coded(table, levels)
            text = packed(item.codes)
            coded_tables.append((item, text))
            left -= len(text)
            if left < 0 and levels != LEVELS[-1]:
                break
        else:
            break
    return coded_tables


def _bytes(codes: NDArray[np.generic], known: NDArray[np.bool_], levels: int) -> tuple[bytes, int]:
    width = 1 if levels <= np.iinfo(np.uint8).max else 2
    return np.where(known, codes, 0).astype("u1" if width == 1 else "<u2").tobytes(), width
