"""Writes a comparison as text for a terminal, Markdown for a pull request, or JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import orjson

from harness.compare import judges, seeds
from harness.compare.regressions import Regression
from harness.compare.significance import FAMILIES, Compared, Comparison, Standing
from harness.leaderboard import text_tables
from harness.leaderboard.text_tables import PAIR_SAYS, Table, sign
from harness.types import JSON

PAIRS = 30  # the most pairs that a terminal shows in one table
SEEDS = (
    "Over seeds: Student's t with the variance over queries and that over each recipe's seeds, degrees of "
    "freedom by Satterthwaite, Holm's correction; a difference of at most two standard errors of the seeds "
    "is within their luck."
)
LARGEST = 10  # how many differences it shows if there are more pairs
FORMATS = ("table", "markdown", "json")
NARROWEST = 40  # the narrowest width to which prose is wrapped
TESTS = {
    "randomisation": "paired randomisation test",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
}
CORRECTIONS = {
    "max-t": "step-down max-T over",
    "holm": "Holm's correction over",
    "none": "no correction; families would be",
}


def render(
    compared: Compared, form: str, regressions: Sequence[Regression] | None = None, width: int | None = None
) -> str:
    """The comparison in one of the forms. `width` is the terminal's; None leaves tables as they are."""
    if form == "json":
        return _json(compared, regressions)
    last = [*averages(compared), *judges.tables(compared.judges)]
    if form == "markdown":
        shown = [text_tables.titled(table) for table in (*tables(compared), *last)]
        return _page(compared, shown, regressions, "- ")
    shown = [*_brief(compared, width), *(text_tables.plain(table, width) for table in last)]
    text = _page(compared, shown, regressions, "  ")
    if width is None:
        return text
    return "".join(_wrapped(line, width) + "\n" for line in text.splitlines())


def _wrapped(line: str, width: int) -> str:
    """Prose wrapped to the width. Lines of tables, which are indented, stay as they are."""
    return line if line.startswith("  ") else textwrap.fill(line, max(width, NARROWEST))


def method(compared: Compared) -> str:
    """One sentence on how the p-values were computed."""
    settings, sizes = compared.settings, sorted(set(compared.families.values()))
    test = TESTS[settings.test]
    if compared.permutations is not None:
        drawn = [item for item in compared.comparisons if not item.exact]
        test += f" ({compared.permutations:,} permutations)" if drawn else " (exact)"
    span = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    many = "family" if len(compared.families) == 1 else "families"
    over = f"{len(compared.families)} {many} of {span} tests, {FAMILIES[settings.family]}"
    return f"{test}, {CORRECTIONS[compared.correction]} {over}; significant below {settings.alpha:g}"


class _Part(NamedTuple):
    """The standings and pairs of one measure on one dataset."""

    title: str
    standings: list[Standing]
    pairs: list[Comparison]  # in the order in which they are shown


def _parts(compared: Compared) -> Iterator[_Part]:
    pairs = {
        key: list(items)
        for key, items in groupby(compared.comparisons, key=lambda item: (item.dataset, item.measure))
    }
    for key, items in groupby(compared.standings, key=lambda item: (item.dataset, item.measure)):
        if key in pairs:
            yield _Part(": ".join(key), list(items), _ordered(pairs[key], compared.settings.pairs))


def _ordered(pairs: Sequence[Comparison], kind: str) -> list[Comparison]:
    """The pairs in the order in which they are shown: the largest difference first; with a baseline, the best
    system first; by name, in the order of the leaderboard."""
    if kind == "name":
        return list(pairs)
    return sorted(pairs, key=lambda item: -item.difference if kind == "baseline" else -abs(item.difference))


def tables(compared: Compared) -> list[Table]:
    """The tables of each dataset and measure: the standings (if all pairs are compared) and the pairs."""
    made = []
    for part in _parts(compared):
        if compared.settings.pairs == "all":
            made.append(_standings(part))
        made.append(_comparisons(f"{part.title}, differences", part.pairs, compared.settings.alpha))
    return [*made, *seeds.tables(compared.recipes, compared.settings.alpha)]


def averages(compared: Compared) -> list[Table]:
    """One table of pairs for each average and measure, ordered like the pairs of a dataset."""
    head = ("pair", "difference", "95 %", "p", "corrected")
    kind, alpha = compared.settings.pairs, compared.settings.alpha
    made = []
    for (name, datasets, measure), items in groupby(
        compared.averages, key=lambda item: (item.average, item.datasets, item.measure)
    ):
        pairs = list(items)
        if kind != "name":
            pairs.sort(key=lambda item: -item.difference if kind == "baseline" else -abs(item.difference))
        rows = tuple(
            (
                f"{item.first} - {item.second}",
                f"{item.difference:+.4f}{sign(item.difference, item.corrected < alpha)}",
                f"[{item.interval[0]:+.3f}, {item.interval[1]:+.3f}]",
                _p(item.p),
                _p(item.corrected),
            )
            for item in pairs
        )
        title = f"{name} (the mean of {', '.join(datasets)}): {measure}, differences"
        made.append(Table(title, head, rows))
    return made


def _brief(compared: Compared, width: int | None) -> list[str]:
    """The tables as a terminal shows them. A measure in which no query differs is one line, and if there are
    very many pairs only the largest significant differences are listed."""
    made, abridged = [], False
    alpha, every = compared.settings.alpha, compared.settings.pairs == "all"
    for part in _parts(compared):
        pairs = part.pairs
        if all(item.tied == item.queries and item.difference == 0 for item in pairs):
            made.append(f"{part.title}: {_same(part, every)}\n")
            continue
        if every:
            made.append(text_tables.plain(_standings(part), width))
        if not every or len(pairs) <= PAIRS:
            made.append(text_tables.plain(_comparisons(f"{part.title}, differences", pairs, alpha), width))
            continue
        sure = [item for item in pairs if item.corrected < alpha]
        abridged |= len(sure) < len(pairs) or len(sure) > LARGEST
        heading = f"{part.title}, differences: {len(sure)} of {len(pairs)} pairs are significant"
        if len(sure) > LARGEST:
            heading += f"; the {LARGEST} largest"
        made.append(
            text_tables.plain(_comparisons(heading, sure[:LARGEST], alpha), width) if sure else heading + "\n"
        )
    made += map(text_tables.plain, seeds.tables(compared.recipes, alpha))
    if abridged:
        made.append(
            f"Of more than {PAIRS} pairs only significant ones are shown, at most {LARGEST}. --baseline, "
            "--measure, --dataset and --system narrow what is compared; --format markdown and json have "
            "every pair.\n"
        )
    return made


def _same(part: _Part, every: bool) -> str:
    """The line for a measure in which no query differs between any pair."""
    if every:
        return f"all {len(part.standings)} systems have the same values, mean {part.standings[0].mean:.4f}"
    return f"both sides of every pair ({len(part.pairs)}) have the same values"


def _standings(part: _Part) -> Table:
    ranked = sorted(part.standings, key=lambda item: -item.mean)
    return Table(
        f"{part.title} ({part.pairs[0].queries:,} queries)",
        ("system", "mean", "tier"),
        tuple((item.system, f"{item.mean:.4f}", item.tier or "") for item in ranked),
    )


def _comparisons(title: str, items: Sequence[Comparison], alpha: float) -> Table:
    head = ("pair", "difference", "95 %", "p", "corrected", "effect", "won/tied/lost", "detectable")
    rows = []
    for item in items:
        rows.append(
            (
                f"{item.first} - {item.second}",
                f"{item.difference:+.4f}{sign(item.difference, item.corrected < alpha)}",
                f"[{item.interval[0]:+.3f}, {item.interval[1]:+.3f}]",
                _p(item.p),
                _p(item.corrected),
                "infinite" if item.effect is None else f"{item.effect:+.2f}",
                f"{item.won}/{item.tied}/{item.lost}",
                "" if item.detectable is None else f"{item.detectable:.4f}",
            )
        )
    return Table(title, head, tuple(rows))


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.0e}"


def _page(
    compared: Compared, shown: Sequence[str], regressions: Sequence[Regression] | None, mark: str
) -> str:
    parts = [] if regressions is None else [_regression_list(regressions, mark)]
    explained = [
        f"{method(compared)}.",
        f"{PAIR_SAYS}; the intervals are each of one difference alone (2,000 "
        "bootstrap resamples of the queries); the effect is Hedges' g; detectable is the difference that "
        "so many queries would have shown with a power of 0.8 after the correction.",
    ]
    if compared.settings.pairs == "all":
        explained.append("Systems that share a letter of their tier cannot be told apart.")
    if compared.recipes:
        explained.append(SEEDS)
    if compared.judges:
        explained.append(judges.EXPLAINED)
    explained += [f"Note: {note}." for note in compared.notes]
    return "\n".join([*parts, *shown, *explained]) + "\n"


def _regression_list(regressions: Sequence[Regression], mark: str) -> str:
    if not regressions:
        return "no regression\n"
    lines = [f"{len(regressions)} regression{'s' if len(regressions) > 1 else ''}:", ""]
    for item in regressions:
        measure = f": {item.measure}" if item.measure else ""
        lines.append(f"{mark}{item.dataset} / {item.system}{measure} {item.reason}")
    return "\n".join(lines) + "\n"


def _json(compared: Compared, regressions: Sequence[Regression] | None) -> str:
    settings = compared.settings
    data: dict[str, JSON] = {
        "test": settings.test,
        "correction": compared.correction,
        "family": FAMILIES[settings.family],
        "families": compared.families,
        "permutations": compared.permutations,
        "alpha": settings.alpha,
        "baseline": settings.baseline,
        "standings": [item._asdict() for item in compared.standings],
        "judges": [item._asdict() for item in compared.judges],
        "recipes": [item._asdict() for item in compared.recipes],
        "comparisons": [item._asdict() for item in compared.comparisons],
        "averages": [item._asdict() for item in compared.averages],
        "notes": list(compared.notes),
    }
    if regressions is not None:
        data["regressions"] = [item._asdict() for item in regressions]
    return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() + "\n"
