"""The columns of a leaderboard, from a suite's `measures: [...]` or `protocol: NAME`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.catalogue import Catalogue
from harness.errors import HarnessError
from harness.problems import Problem
from harness.records import Column, Measure, Protocol
from harness.scoring import measures
from harness.types import ColumnUnit, Unit

# The prefixes of document columns, in suites and in labels.
DOCUMENTS: dict[str, ColumnUnit] = {"document ": "document", "FirstP ": "first"}


class Scoring(NamedTuple):
    """The scoring of a suite: its columns, with canonical names, and the depth at which runs are cut."""

    columns: tuple[Column, ...]
    depth: int
    plugin_measures: dict[str, Measure]  # the measures of plugins that the columns use, by name
    protocol: Protocol | None = None

    @property
    def by_answers(self) -> bool:
        return self.protocol is not None and self.protocol.judgements == "answers"

    def of_unit(self, unit: Unit) -> tuple[Column, ...]:
        """The columns of a system of this unit. A system that ranks documents has only document columns."""
        return tuple(column for column in self.columns if unit == "passage" or column.unit == "document")


def of_measures(
    texts: Sequence[str], depth: int, catalogue: Catalogue, *, documents: bool = False
) -> tuple[Scoring | None, list[Problem]]:
    """The scoring by a suite's `measures`, or None, and all problems. With `documents`, which says that the
    suite has systems that rank documents, each passage measure also gets a document column. A problem's path
    is the index in the list of measures."""
    plugin_measures = measures_of_plugins(catalogue)
    problems: list[Problem] = []
    columns: dict[Column, str] = {}
    for index, text in enumerate(texts):
        try:
            parsed, cutoff = column(text, plugin_measures)
        except HarnessError as error:
            problems.append(Problem(None, (index,), str(error)))
            continue
        if parsed in columns:
            what = f"{parsed.label} stands here twice ('{columns[parsed]}', '{text}')"
            problems.append(Problem(None, (index,), f"{what}; remove one of the two"))
        if cutoff is not None and cutoff > depth:
            what = f"{parsed.label} reads {cutoff} ranks, but the suite's depth is {depth}"
            problems.append(Problem(None, (index,), f"{what}; set depth: {cutoff} or more"))
        columns[parsed] = text
    if not texts:
        problems.append(Problem(None, (), "there is no measure; name one, such as nDCG@10"))
    if problems:
        return None, problems
    if documents:
        more = [Column(column.measure, "document") for column in columns if column.unit == "passage"]
        columns.update({column: "" for column in more if column not in columns})
    return _scoring(columns, depth, plugin_measures, None), []


def of_protocol(name: str, depth: int, catalogue: Catalogue) -> Scoring:
    """The scoring by a protocol. Raises HarnessError if the suite's depth is below the protocol's."""
    protocol: Protocol = catalogue.find("protocols", name).record
    if depth < protocol.depth:
        what = f"the protocol '{name}' reads {protocol.depth} ranks, but the suite's depth is {depth}"
        raise HarnessError(f"{what}; set depth: {protocol.depth} or more")
    plugin_measures = measures_of_plugins(catalogue)
    columns = [
        column._replace(measure=measures.parse(column.measure, plugin_measures).name)
        for column in protocol.columns
    ]
    return _scoring(columns, protocol.depth, plugin_measures, protocol)


def measures_of_plugins(catalogue: Catalogue) -> dict[str, Measure]:
    """The records of the measures that plugins offer, by name. A measure that two plugins offer is left out,
    so that its use is refused."""
    offers = catalogue.entries["measures"].items()
    return {name: entries[0].record for name, entries in offers if len(entries) == 1}


def column(text: str, plugin_measures: dict[str, Measure]) -> tuple[Column, int | None]:
    """The column that a suite names, and the number of ranks that it reads, with None for all ranks."""
    prefix = next((prefix for prefix in DOCUMENTS if text.startswith(prefix)), "")
    unit = DOCUMENTS.get(prefix, "passage")
    metric = measures.parse(text.removeprefix(prefix), plugin_measures)
    return Column(metric.name, unit), metric.cutoff


def _scoring(
    columns: Sequence[Column] | dict[Column, str],
    depth: int,
    plugin_measures: dict[str, Measure],
    protocol: Protocol | None,
) -> Scoring:
    families = {measures.parse(column.measure, plugin_measures).family for column in columns}
    used = {name: record for name, record in sorted(plugin_measures.items()) if name in families}
    return Scoring(tuple(columns), depth, used, protocol)
