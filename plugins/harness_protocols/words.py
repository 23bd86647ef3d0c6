"""Describes columns in words: the paper's name for a number, then what is computed, then its mean.

A column says `NAME (PLACE): COMPUTED; MEAN`, so that a reader finds the paper's own word first.
"""

from __future__ import annotations

import re

from harness.plugin import Column, Unit

MEAN = "mean over all judged queries, 0 for one that the run lacks or that has no positive"
MICRO = "a mean over passages, not queries: those of a judged query that the run lacks count as not found"
ANSWERED = "mean over all queries that have an answer, 0 for one that the run lacks"
MAXP = ", of documents: one ranks by its best passage (MaxP) and has its passages' highest grade"

_IDEAL = "log2(rank + 1) over ranks 1 to {cutoff} / the same sum over the ideal order of all judged passages"
_RELEVANT = "passages of level {level} or more"
_COMPUTED = {  # by the name of the measure
    "RR": "1 / the rank of the first passage of level {level} or more, 0 if there is none{among}",
    "Success": "1 if a passage of level {level} or more is{among}, else 0",
    "R": f"{_RELEVANT}{{among}} / all judged {_RELEVANT}, those that the corpus lacks included",
    "P": f"{_RELEVANT}{{among}} / {{cutoff}}, however short the ranking is",
    "AP": "the precision at the rank of each passage of level {level} or more{among}, added up / all judged "
    "passages of that level",
    "nDCG": f"nDCG with trec_eval's linear gain: sum of grade / {_IDEAL}",
    "nDCG exp-log2": f"nDCG with exponential gain: sum of (2^grade - 1) / {_IDEAL}",
    "MicroR": f"{_RELEVANT}{{among}} / all judged {_RELEVANT}, both added up over all judged queries before "
    "dividing (micro-averaged)",
}


def column(
    paper: str, place: str, measure: str, unit: Unit = "passage", *, depth: int, answers: bool = False
) -> Column:
    """A column that the paper calls `paper` and defines at `place` (an equation, a table, a section). The
    measure reads the first `depth` results if it has no cut-off. `answers`: its judgements are answers."""
    name, level, cutoff = _parts(measure)
    cutoff = cutoff or depth
    among = " at rank 1" if cutoff == 1 else f" among the first {cutoff}"
    if answers:
        text, mean = f"1 if a passage that contains an answer is{among}, else 0", ANSWERED
    else:
        text = _COMPUTED[name].format(level=level, cutoff=cutoff, among=among)
        mean = MICRO if name == "MicroR" else MEAN
    return Column(measure, unit, f"{paper} ({place}): {text}{MAXP if unit == 'document' else ''}; {mean}")


def _parts(measure: str) -> tuple[str, int, int | None]:
    """The measure's name with its gain, the lowest relevant grade, and the cut-off. `RR(rel=2)@10` has the
    parts RR, 2 and 10."""
    match = re.fullmatch(r"(\w+)(?:\(rel=(\d+)\)|\(dcg='([\w-]+)'\))?(?:@(\d+))?", measure)
    assert match is not None, measure
    name, level, gain, cutoff = match.groups()
    return f"{name} {gain}" if gain else name, int(level or 1), int(cutoff) if cutoff else None


def paper_name(column: Column) -> str:
    """The paper's name for the column, with the place of its definition, such as `MRR@10 (equation 5)`."""
    return column.says.partition(": ")[0]


def computed(column: Column) -> str:
    """The description of what the column computes, without the paper's name for it."""
    return column.says.partition(": ")[2]
