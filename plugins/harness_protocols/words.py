"""Describes columns in words: the paper's name for a number, then what is computed, then its mean.

A column says `NAME (PLACE): COMPUTED; MEAN`, so that a reader finds the paper's own word first.
"""

from __future__ import annotations

from harness.plugin import Column, Unit

MEAN = "mean over all judged queries, 0 for one that the run lacks or that has no positive"
MAXP = ", of documents: one ranks by its best passage (MaxP) and has its passages' highest grade"


def column(
    paper: str, place: str, measure: str, computed: str, *, mean: str = MEAN, unit: Unit = "passage"
) -> Column:
    """A column that the paper calls `paper` and defines at `place` (an equation, a table, a section)."""
    return Column(measure, unit, f"{paper} ({place}): {computed}; {mean}")


def paper_name(column: Column) -> str:
    """The paper's name for the column, with the place of its definition, such as `MRR@10 (equation 5)`."""
    return column.says.partition(": ")[0]


def computed(column: Column) -> str:
    """The description of what the column computes, without the paper's name for it."""
    return column.says.partition(": ")[2]


def reciprocal_rank(level: int, cutoff: int) -> str:
    return f"1 / the rank of the first passage of level {level} or more, 0 if there is none{_among(cutoff)}"


def success(level: int, cutoff: int) -> str:
    return f"1 if a passage of level {level} or more is{_among(cutoff)}, else 0"


def recall(level: int, cutoff: int) -> str:
    every = f"all judged passages of level {level} or more"
    return (
        f"passages of level {level} or more{_among(cutoff)} / {every}, those that the corpus lacks included"
    )


def precision(level: int, cutoff: int) -> str:
    return f"passages of level {level} or more{_among(cutoff)} / {cutoff}, however short the ranking is"


def average_precision(level: int, depth: int) -> str:
    at_each = f"the precision at the rank of each passage of level {level} or more{_among(depth)}"
    return f"{at_each}, added up / all judged passages of that level"


def linear_ndcg(cutoff: int) -> str:
    return _ndcg("grade", "trec_eval's linear gain", cutoff)


def exponential_ndcg(cutoff: int) -> str:
    return _ndcg("(2^grade - 1)", "exponential gain", cutoff)


def _ndcg(gain: str, called: str, cutoff: int) -> str:
    ideal = "the same sum over the ideal order of all judged passages"
    return f"nDCG with {called}: sum of {gain} / log2(rank + 1) over ranks 1 to {cutoff} / {ideal}"


def _among(cutoff: int) -> str:
    return " at rank 1" if cutoff == 1 else f" among the first {cutoff}"
