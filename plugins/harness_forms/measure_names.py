"""The names that trec_eval and MTEB use for the measures of the harness."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

PLAIN = re.compile(r"(\w+)(?:@(\d+))?")
Names: TypeAlias = Mapping[str, tuple[str | None, str | None]]  # (name with a cut-off, name without one)
TREC_EVAL: Names = {
    "nDCG": ("ndcg_cut_{}", "ndcg"),
    "AP": ("map_cut_{}", "map"),
    "P": ("P_{}", None),
    "R": ("recall_{}", None),
    "Success": ("success_{}", None),
    "RR": (None, "recip_rank"),
    "Rprec": (None, "Rprec"),
    "Bpref": (None, "bpref"),
}
MTEB: Names = {
    "nDCG": ("ndcg_at_{}", None),
    "AP": ("map_at_{}", None),
    "P": ("precision_at_{}", None),
    "R": ("recall_at_{}", None),
    "RR": ("mrr_at_{}", None),
}


def trec_eval(measure: str) -> str | None:
    """The name of a measure in trec_eval: `nDCG@10` is `ndcg_cut_10`. None for a measure that trec_eval has
    no name for, such as one with another relevance level, which is an option of trec_eval."""
    return _named(measure, TREC_EVAL)


def mteb(measure: str) -> str | None:
    """The name of a measure in MTEB: `nDCG@10` is `ndcg_at_10`. None if MTEB does not report it."""
    return _named(measure, MTEB)


def of_mteb(name: str) -> str | None:
    """The measure of a score of MTEB: `ndcg_at_10` is `nDCG@10`. None for a name that is no such score."""
    family, _, cut = name.rpartition("_at_")
    ours = next((ours for ours, (with_cut, _) in MTEB.items() if with_cut == f"{family}_at_{{}}"), None)
    return f"{ours}@{cut}" if ours and cut.isdecimal() and cut.isascii() else None


def _named(measure: str, names: Names) -> str | None:
    parts = PLAIN.fullmatch(measure)
    if parts is None or parts[1] not in names:
        return None
    with_cut, whole = names[parts[1]]
    if parts[2] is None:
        return whole
    return None if with_cut is None else with_cut.format(parts[2])
