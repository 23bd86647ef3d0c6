"""Lowercase words without stemming, for languages that have no stemmer."""

from __future__ import annotations

from typing import Any

from harness_analysers.base import Words, lower


def build(_: Any) -> Words:
    return Words(lower)
