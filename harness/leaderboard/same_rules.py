"""Whether numbers of two leaderboards can be compared: they need the same columns, on the same data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Dataset

# the parts that must be the same; queries may differ, since a comparison uses only the shared ones
PARTS = ("corpus", "judgements")


def redefined_columns(one: Leaderboard, other: Leaderboard) -> list[str]:
    """The labels of the columns that both leaderboards have and that they compute differently."""
    columns = {column.label: column for column in one.data.columns}
    return sorted(
        column.label for column in other.data.columns if columns.get(column.label, column) != column
    )


def different_data(boards: Sequence[Leaderboard], names: Sequence[str], queries: bool = False) -> list[str]:
    """The reasons why datasets of one name are not the same data. With `queries`, as for rows of one
    leaderboard, the queries must be the same too."""
    first: dict[str, tuple[Dataset, str]] = {}
    problems = []
    for board, name in zip(boards, names, strict=True):
        for dataset in board.data.datasets:
            before, where = first.setdefault(dataset.name, (dataset, name))
            problems += [f"{name}: {text}" for text in _different(before, where, dataset, queries)]
    return problems


def _different(one: Dataset, where: str, other: Dataset, queries: bool) -> Iterator[str]:
    """The reasons why two datasets of one name differ. Their parts are compared by the digests of contents,
    or by the keys of the steps if a leaderboard lacks these digests."""
    name = other.name
    if one.split != other.split:
        yield f"{name}: has the split '{other.split}', {where} has '{one.split}'; compare the same split"
    policies = [dataset.unknown_judgements or "keep" for dataset in (one, other)]
    if "drop" in policies and len(set(policies)) > 1:
        problem = f"has unknown_judgements '{policies[1]}', {where} has '{policies[0]}'"
        yield f"{name}: {problem}; score both alike"
    contents = [dataset.contents or {} for dataset in (one, other)]
    differing = []
    for part in (*PARTS, *(["queries"] if queries else [])):
        if one.digests.get(part) == other.digests.get(part):
            continue
        digests = contents if all(part in each for each in contents) else [one.digests, other.digests]
        mine, theirs = (each.get(part) for each in digests)
        if mine is not None and theirs is not None and mine != theirs:
            differing.append(f"{part} ({theirs[:12]}, not {mine[:12]})")
    if differing:
        yield f"{name}: is other data than in {where}: {', '.join(differing)}; compare runs on the same data"
