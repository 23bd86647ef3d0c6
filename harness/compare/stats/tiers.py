"""Letters for systems that do not differ significantly, as in a compact letter display."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def letters(levels: NDArray[np.float64], different: NDArray[np.bool_]) -> list[str]:
    """One text of letters for each system. Two systems share a letter if and only if no test tells them apart
    (Piepho 2004). The first letter belongs to the best system, and every letter is needed.

    `levels` is float64[S]; `different` is bool[S, S] and symmetric. Not being told apart is not transitive: a
    system between two that differ may have the letters of both.
    """
    systems = len(levels)
    ranked = np.argsort(-levels, kind="stable")
    alike = ~different | np.eye(systems, dtype=np.bool_)
    groups = _groups(ranked, alike)
    covered = np.zeros((systems, systems), np.int64)  # the number of groups that hold both systems
    for group in groups:
        covered[np.ix_(group, group)] += 1
    kept = []
    for group in reversed(groups):
        if (covered[np.ix_(group, group)] > 1).all():
            covered[np.ix_(group, group)] -= 1
        else:
            kept.append(group)
    place = np.empty(systems, np.int64)
    place[ranked] = np.arange(systems)
    kept.sort(key=lambda group: sorted(place[group].tolist()))
    texts = [""] * systems
    for number, group in enumerate(kept):
        for system in group:
            texts[system] += _letter(number)
    return texts


def _groups(ranked: NDArray[np.int64], alike: NDArray[np.bool_]) -> list[list[int]]:
    """Groups of systems that are pairwise alike, each as large as possible. Together the groups hold every
    pair that is alike."""
    done = np.zeros(alike.shape, np.bool_)
    groups = []
    for i, first in enumerate(ranked.tolist()):
        for second in ranked[i:].tolist():
            if done[first, second] or not alike[first, second]:
                continue
            group = [first] if first == second else [first, second]
            for other in ranked.tolist():
                if other not in group and alike[other, group].all():
                    group.append(other)
            done[np.ix_(group, group)] = True
            groups.append(group)
    return groups


def _letter(number: int) -> str:
    """The letter of a number: a to z, followed by a2 to z2 and so on."""
    turn, place = divmod(number, len(ALPHABET))
    return ALPHABET[place] + (str(turn + 1) if turn else "")
