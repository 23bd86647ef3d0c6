"""Measure expressions: parses them and gives each measure one canonical name, however it is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from harness.catalogue import params
from harness.errors import HarnessError
from harness.problems import unknown
from harness.records import Measure

UNJUDGED = -(2**31)  # a ranked passage without a judgement
FILL = UNJUDGED + 1  # a cell after the end of a short row
Average: TypeAlias = Literal["mean", "ratio", "sum"]


class Slot(NamedTuple):
    """A parameter of a measure: its type, its default, and whether it must be given."""

    type: type
    default: Any = None
    required: bool = False


_REL, _CUTOFF, _JUDGED = Slot(int, 1), Slot(int), Slot(bool, False)
_RANKED = {"cutoff": _CUTOFF, "rel": _REL, "judged_only": _JUDGED}
_AT_K = {**_RANKED, "cutoff": Slot(int, required=True)}
_DCG = Slot(str, "log2")
# The measures that have a kernel here, with their parameters as ir-measures declares them. They are listed so
# that ir-measures need not be imported; a test compares the list with ir-measures.
FAMILIES: dict[str, dict[str, Slot]] = {
    "AP": _RANKED,
    "Judged": {"cutoff": _CUTOFF},
    "NumQ": {},
    "NumRel": {"rel": _REL},
    "NumRet": {"rel": Slot(int)},
    "P": _AT_K,
    "R": _AT_K,
    "RR": _RANKED,
    "Rprec": {"rel": _REL, "judged_only": _JUDGED},
    "Success": _AT_K,
    "nDCG": {"cutoff": _CUTOFF, "dcg": _DCG, "gains": Slot(dict), "judged_only": _JUDGED},
}
ALIASES: dict[str, tuple[str, dict[str, Any]]] = {
    "MAP": ("AP", {}),
    "MRR": ("RR", {}),
    "NDCG": ("nDCG", {}),
    "NumRelRet": ("NumRet", {"rel": 1}),
    "Precision": ("P", {}),
    "RPrec": ("Rprec", {}),
    "Recall": ("R", {}),
}
_LOOSE = re.compile(
    r"(?P<name>[a-z_]+?)\s*(?P<inside>\(.*\))?\s*@?\s*(?P<cutoff>\d+(\.\d+)?)?", re.IGNORECASE
)
_CUT = re.compile(r"(_cut|_at)?_(?=\d+$)")  # before the cut-off in names of trec_eval and MTEB
_SUMS = ("NumQ", "NumRel", "NumRet")  # measures that ir-measures sums over the queries


@dataclass(frozen=True)
class Metric:
    """A measure with its parameters."""

    name: str  # canonical
    family: str
    params: Mapping[str, Any]  # the given parameters that differ from their defaults
    plugin: Measure | None = None  # the plugin's record, if a plugin offers the measure
    kernel: bool = False  # whether a kernel computes the measure; otherwise ir-measures computes it

    @property
    def cutoff(self) -> int | None:
        """The number of ranks that are read, or None for all ranks."""
        return self.params.get("cutoff")

    @property
    def rel(self) -> int:
        """The lowest grade that counts as relevant."""
        return int(self.params.get("rel", 1))

    @property
    def average(self) -> Average:
        if self.plugin is not None:
            return "ratio" if self.plugin.ratio else "mean"
        return "sum" if self.family in _SUMS else "mean"


def parse(text: str, plugin_measures: Mapping[str, Measure]) -> Metric:
    """The measure that the expression `text` names, of ir-measures or of `plugin_measures` (name -> record).
    Raises HarnessError if `text` is no valid measure."""
    family, arguments, at = _syntax(text, plugin_measures)
    family, preset = ALIASES.get(family, (family, {}))
    if family in plugin_measures:
        slots, at_name, kernel = {"cutoff": _CUTOFF, "rel": _REL}, "cutoff", True
    elif family in FAMILIES:
        slots, at_name = FAMILIES[family], "cutoff"
        mixed = "gains" in arguments and arguments.get("dcg") == "exp-log2"
        kernel = not arguments.get("judged_only", False) and not mixed
    else:
        from harness.scoring.measures.by_ir_measures import family_of

        family, slots, at_name, preset = family_of(family, text, [*plugin_measures, *FAMILIES, *ALIASES])
        kernel = False
    if at is not None and at_name in arguments:
        raise HarnessError(f"{text}: '{at_name}' is given twice; leave out one of the two")
    arguments = {**preset, **arguments}
    if at is not None:
        arguments[at_name] = at
    _check(text, arguments, slots, at_name)
    arguments = {
        name: arguments[name]
        for name, slot in slots.items()
        if name in arguments and arguments[name] != slot.default
    }
    metric = Metric(_name(family, arguments, at_name), family, arguments, plugin_measures.get(family), kernel)
    if not kernel:
        from harness.scoring.measures.by_ir_measures import check_supported

        check_supported(metric)
    return metric


def is_sum(text: str) -> bool:
    """Whether a column of this canonical name sums its values over the queries."""
    return _syntax(text)[0] in _SUMS


def meant(text: str, plugin_measures: Iterable[str] = (), others: Iterable[str] = ()) -> str | None:
    """The expression that `text` probably means, if `text` has letters of another case, no @, a cut-off as in
    trec_eval or MTEB, or `document` in another place; None for any other text. `others` are further names of
    measures, those of ir-measures."""
    words = _CUT.sub("@", text.strip()).split()
    about = [word for word in words if word.lower() in ("document", "documents")]
    match = _LOOSE.fullmatch(" ".join(word for word in words if word not in about))
    if match is None or len(about) > 1:
        return None
    every = (*others, *plugin_measures, *ALIASES, *FAMILIES)
    names = {name.lower(): name for name in every}  # if names are equal in lower case, the last one wins
    family = names.get(match["name"].lower())
    if family is None:
        return None
    right = family + (match["inside"] or "") + (f"@{match['cutoff']}" if match["cutoff"] else "")
    return "document " * len(about) + right if _parts(right) else None


def _syntax(text: str, plugin_measures: Iterable[str] = ()) -> tuple[str, dict[str, Any], Any]:
    """The name of a measure in an expression such as `nDCG(dcg='exp-log2')@10`, the parameters in brackets,
    and the value after the @. Raises HarnessError for any other text."""
    parts = _parts(text)
    if parts is None:
        close = meant(text, plugin_measures)
        advice = f"did you mean '{close}'?" if close else "write it like nDCG@10 or R(rel=2)@50"
        raise HarnessError(f"{params.shown(text)}: this is no measure; {advice}")
    return parts


def _parts(text: str) -> tuple[str, dict[str, Any], Any] | None:
    try:
        node = ast.parse(text.strip(), mode="eval").body
        at = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at, node = ast.literal_eval(node.right), node.left
        arguments: dict[str, Any] = {}
        if isinstance(node, ast.Call) and not node.args:
            arguments = {
                word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg is not None
            }
            node = node.func
        if isinstance(node, ast.Name):
            return node.id, arguments, at
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        pass
    return None


def _check(text: str, arguments: Mapping[str, Any], slots: Mapping[str, Slot], at_name: str) -> None:
    for name, value in arguments.items():
        if name not in slots:
            raise HarnessError(f"{text}: {unknown('parameter', name, slots)}")
        slot = slots[name]
        fits = type(value) is slot.type  # `type`, because a bool is no whole number here
        if not fits:
            raise HarnessError(
                f"{text}: {name}: expected {params.describe(slot.type)}, got {params.shown(value)}"
            )
        if name in ("cutoff", "rel") and value < 1:  # a grade of 0 or less is not relevant
            raise HarnessError(f"{text}: {name}: expected at least 1, got {value}")
        if name == "dcg" and value not in ("log2", "exp-log2"):
            raise HarnessError(f"{text}: dcg: expected 'log2' or 'exp-log2', got {params.shown(value)}")
        if name == "gains" and not all(
            type(item) is int and item >= 0 for pair in value.items() for item in pair
        ):
            raise HarnessError(f"{text}: gains: expected whole numbers of 0 or more, as in {{1: 1, 2: 3}}")
    for name, slot in slots.items():
        if slot.required and name not in arguments:
            example = f"{text.strip()}@10" if name == at_name else f"{name}=..."
            raise HarnessError(f"{text}: the parameter '{name}' is missing; write {example}")


def _name(family: str, arguments: Mapping[str, Any], at_name: str) -> str:
    """The canonical name of a measure, as ir-measures writes it. Parameters are in their declared order."""
    inside = ",".join(f"{name}={_shown(value)}" for name, value in arguments.items() if name != at_name)
    at = f"@{arguments[at_name]}" if at_name in arguments else ""
    return family + (f"({inside})" if inside else "") + at


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{item}" for key, item in sorted(value.items()) if key != item) + "}"
    return repr(value)
