"""Turns clusters into edits: a mention is followed by its cluster's first mention (DAPR, section 4.2.2)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from harness.plugin import Edit
from harness_coreference.contract import Cluster, Mention

_POSSESSIVE = re.compile(r"\s?['’]s?$")
_ARTICLE = re.compile(r"^(?:the|an?|this|that|these|those)\s+")
_JOINED = re.compile(r"['’](?:s|re|ll|ve|d|m)\b")


def edits(
    passages: Sequence[str], clusters: Iterable[Cluster], same: str = "annotate"
) -> tuple[tuple[Edit, ...], ...]:
    """The insertions for each passage, in order. A mention whose cluster begins in an earlier passage is
    followed by a space and the cluster's first mention in parentheses; other mentions stay as they are.

    Every mention is handled by itself, so nested and overlapping mentions all get their own antecedent. If
    two mentions end at the same character, the antecedent of the shorter one comes first. `same` (annotate or
    skip) decides about a mention with the same words as its antecedent, apart from case and articles.
    """
    inserted: dict[tuple[int, int], dict[tuple[int, str], None]] = defaultdict(dict)
    for cluster in clusters:
        first = earliest(cluster)
        antecedent = shown(passages, first)
        for mention in cluster:
            if mention.passage <= first.passage or not antecedent:
                continue
            if same == "skip" and _bare(shown(passages, mention)) == _bare(antecedent):
                continue
            place = _after(passages[mention.passage], mention.end)
            inserted[mention.passage, place][mention.end - mention.start, antecedent] = None
    edits_of: list[list[Edit]] = [[] for _ in passages]
    for (passage, place), antecedents in sorted(inserted.items()):
        text = "".join(f" ({antecedent})" for _, antecedent in sorted(antecedents))
        edits_of[passage].append(Edit(place, place, text))
    return tuple(map(tuple, edits_of))


def earliest(cluster: Cluster) -> Mention:
    """The mention that begins first; of several that begin together, the longest, because it has the full
    name."""
    return min(cluster, key=lambda mention: (mention.passage, mention.start, -mention.end))


def shown(passages: Sequence[str], mention: Mention) -> str:
    """A mention's words on one line, without the ending of a possessive."""
    text = passages[mention.passage][mention.start : mention.end]
    return _POSSESSIVE.sub("", " ".join(text.split()))


def _bare(text: str) -> str:
    """The text in lowercase, without its article or demonstrative."""
    return _ARTICLE.sub("", text.casefold())


def _after(text: str, end: int) -> int:
    """Where to insert after a mention that ends at `end`: after an ending that is joined to it, as in
    she'll."""
    ending = _JOINED.match(text, end)
    return ending.end() if ending else end
