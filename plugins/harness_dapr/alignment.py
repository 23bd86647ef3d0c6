"""Finds a passage in its document with up to some differences, as DAPR's authors did (appendix A)."""

from __future__ import annotations

import regex


def aligned(passage: str, document: str, differences: int = 5) -> tuple[int, int] | None:
    """Where the passage begins and ends in the document: its first exact occurrence, else the place that
    `regex` finds with `{e<=5}`, which allows `differences` inserted, deleted or replaced characters; None if
    there is no such place.

    A passage cut into `differences + 1` pieces keeps one piece unchanged. So the slow search is only made in
    a document that has one of the pieces.
    """
    start = document.find(passage)
    if start >= 0:
        return start, start + len(passage)
    pieces = differences + 1
    bounds = [len(passage) * number // pieces for number in range(pieces + 1)]
    if not any(passage[bounds[number] : bounds[number + 1]] in document for number in range(pieces)):
        return None
    match = regex.compile(f"({regex.escape(passage)}){{e<={differences}}}").search(document)
    return None if match is None else match.span()
