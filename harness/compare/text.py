"""A comparison as text for a terminal, Markdown for a pull request, LaTeX for a paper, or JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

import orjson

from harness import report
from harness.compare.regressions import Regression
from harness.compare.tests import FAMILIES, Compared, Comparison, Standing
from harness.report import Table
from harness.types import JSON

FORMATS = ("table", "markdown", "latex", "json")
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


def render(found: Compared, form: str, regressions: Sequence[Regression] | None = None) -> str:
    if form == "json":
        return _json(found, regressions)
    if form == "latex":
        return _latex(found)
    if form == "markdown":
        return _pages(found, regressions, report.markdown, "### {}\n\n")
    return _pages(found, regressions, report.plain, "")


def method(found: Compared) -> str:
    """In one sentence how the p-values came about."""
    settings, sizes = found.settings, sorted(set(found.families.values()))
    test = TESTS[settings.test]
    if found.permutations is not None:
        drawn = [item for item in found.comparisons if not item.exact]
        test += f" ({found.permutations:,} permutations)" if drawn else " (exact)"
    span = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    many = "family" if len(found.families) == 1 else "families"
    over = f"{len(found.families)} {many} of {span} tests, {FAMILIES[settings.family]}"
    return f"{test}, {CORRECTIONS[found.correction]} {over}; significant below {settings.alpha:g}"


def tables(found: Compared) -> list[Table]:
    """For each dataset and measure the standings, then the pairs."""
    pairs = {
        key: list(items)
        for key, items in groupby(found.comparisons, key=lambda item: (item.dataset, item.measure))
    }
    made = []
    for (dataset, measure), items in groupby(found.standings, key=lambda item: (item.dataset, item.measure)):
        own = pairs.get((dataset, measure), [])
        if not own:
            continue
        if found.settings.pairs == "all":
            made.append(_standings(f"{dataset}: {measure} ({own[0].queries:,} queries)", list(items)))
        made.append(_comparisons(f"{dataset}: {measure}, differences", own, found.settings.alpha))
    return made


def _standings(title: str, items: Sequence[Standing]) -> Table:
    ranked = sorted(items, key=lambda item: -item.mean)
    return Table(
        title,
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
                f"{item.difference:+.4f}" + ("*" if item.corrected < alpha else ""),
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


def _pages(
    found: Compared, regressions: Sequence[Regression] | None, draw: Callable[[Table], str], heading: str
) -> str:
    parts = []
    if regressions is not None:
        parts.append(_told(regressions, "- " if heading else "  "))
    for table in tables(found):
        parts.append((heading.format(table.title) if heading else "") + draw(table))
    explained = [
        f"{method(found)}.",
        "A star marks a significant difference; the intervals are each of one difference alone (2,000 "
        "bootstrap resamples of the queries); the effect is Hedges' g; detectable is the difference that "
        "so many queries would have shown with a power of 0.8 after the correction.",
    ]
    if found.settings.pairs == "all":
        explained.append("Systems that share a letter of their tier cannot be told apart.")
    explained += [f"Note: {note}." for note in found.notes]
    return "\n".join([*parts, *explained]) + "\n"


def _told(regressions: Sequence[Regression], mark: str) -> str:
    if not regressions:
        return "no regression\n"
    lines = [f"{len(regressions)} regression{'s' if len(regressions) > 1 else ''}:", ""]
    for item in regressions:
        what = f": {item.measure}" if item.measure else ""
        lines.append(f"{mark}{item.dataset} / {item.system}{what} {item.reason}")
    return "\n".join(lines) + "\n"


def _json(found: Compared, regressions: Sequence[Regression] | None) -> str:
    settings = found.settings
    data: dict[str, JSON] = {
        "test": settings.test,
        "correction": found.correction,
        "family": FAMILIES[settings.family],
        "families": found.families,
        "permutations": found.permutations,
        "alpha": settings.alpha,
        "baseline": settings.baseline,
        "standings": [item._asdict() for item in found.standings],
        "comparisons": [item._asdict() for item in found.comparisons],
        "notes": list(found.notes),
    }
    if regressions is not None:
        data["regressions"] = [item._asdict() for item in regressions]
    return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() + "\n"


def _latex(found: Compared) -> str:
    """One table a dataset (for the package booktabs): systems by measures, tiers as superscripts or, against
    a baseline, + and - for what is significantly better and worse."""
    signs = {
        (item.dataset, item.measure, item.first): "+" if item.difference > 0 else "-"
        for item in found.comparisons
        if found.settings.pairs != "all" and item.corrected < found.settings.alpha
    }
    lines = [f"% {method(found)}"]
    if found.settings.pairs == "all":
        lines.append("% systems that share a letter cannot be told apart in that column")
    else:
        lines.append("% + and -: significantly better or worse than what it is compared with")
    for dataset, items in groupby(found.standings, key=lambda item: item.dataset):
        cells = {(item.system, item.measure): item for item in items}
        systems = list(dict.fromkeys(system for system, _ in cells))
        measures = list(dict.fromkeys(measure for _, measure in cells))
        lines += [f"% {dataset}", f"\\begin{{tabular}}{{l{'r' * len(measures)}}}", "\\toprule"]
        lines += [" & ".join(map(_escaped, ("system", *measures))) + " \\\\", "\\midrule"]
        for system in systems:
            row = [_escaped(system)]
            for measure in measures:
                item = cells.get((system, measure))
                mark = (item.tier if item else None) or signs.get((dataset, measure, system), "")
                row.append("" if item is None else f"{item.mean:.4f}" + (f"$^{{{mark}}}$" if mark else ""))
            lines.append(" & ".join(row) + " \\\\")
        lines += ["\\bottomrule", "\\end{tabular}", ""]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    special = {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    special |= {character: f"\\{character}" for character in "&%$#_{}"}
    return "".join(special.get(character, character) for character in text)
