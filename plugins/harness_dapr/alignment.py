"""Finds a passage in its document with up to some differences, as DAPR's authors did (appendix A)."""

from __future__ import annotations

import regex


def aligned(passage: str, document: str, differences: int = 5) -> tuple[int, int] | None:
    """The start and end of the passage in the document, or None if the document does not have it. The first
    exact occurrence is taken. If there is none, `regex` looks for a place with at most `differences`
    inserted, deleted or replaced characters (`{e<=5}` in the released code).

    If a passage is cut into `differences + 1` pieces, at least one piece has no difference. So this slow
    search is made only in a document that has one of the pieces.
    """
    start = document.find(passage)
    if start >= 0:
        return start, start + len(passage)
    pieces = differences + 1
    bounds = [len(passage) * number // pieces for number in range(pieces + 1)]
    if not any(passage[bounds[number] : bounds[number + 1]] in document for number in range(pieces)):
        return None
    match = regex.compile(f"({regex.escape(passage)}){{e<={differences}}}").search(document)
    return None if match is None or match.end() == match.start() else match.span()
