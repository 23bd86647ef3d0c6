"""`harness compare`: leaderboards, or the systems of one, tested against each other."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.compare.data import Entry


def run(options: argparse.Namespace) -> int:
    """0, or 3 if `--fail-on-regression` found one."""
    # OpenBLAS reads it when NumPy is imported. The products are small: a second thread brings little, and on
    # a machine that has other work it waits for the first one ten times as long as both would compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from harness.compare import Settings, compare, load
    from harness.compare.data import Filters
    from harness.compare.regressions import EXIT_CODE, regressions, watched
    from harness.compare.text import render

    guarding = options.fail_on_regression is not None
    by_name = options.by_name or (guarding and options.baseline is None)
    if by_name and len(options.leaderboards) < 2:
        what = "needs a second leaderboard, or --baseline SYSTEM"
        raise HarnessError(f"{'--by-name' if options.by_name else '--fail-on-regression'}: {what}; name one")
    filters = Filters(tuple(options.dataset), tuple(options.measure), tuple(options.system))
    if options.baseline is not None and filters.systems:
        filters = filters._replace(systems=(*filters.systems, options.baseline.rpartition(": ")[2]))
    loaded = load(options.leaderboards, filters, together=not by_name)
    _check_baseline(options.baseline, [entry for field in loaded.fields for entry in field.entries])
    labels = list(dict.fromkeys(column.label for field in loaded.fields for column in field.columns))
    watch = watched(options.fail_on_regression, labels) if guarding else {}
    settings = Settings(
        "name" if by_name else "baseline" if options.baseline else "all",
        options.baseline, options.family, options.test, options.correction, options.permutations,
        options.alpha,
    )  # fmt: skip
    if settings.correction == "max-t" and settings.test != "randomisation":
        what = "comes from the permutations of the randomisation test"
        raise HarnessError(f"--correction max-t: {what}; use holm, or --test randomisation")
    compared = compare(loaded, settings)
    found = regressions(loaded, compared, watch) if guarding else None
    if not by_name and found is not None:  # rows can only be missing where leaderboards are compared
        found = [item for item in found if item.measure is not None]
    print(render(compared, options.format, found), end="")
    return EXIT_CODE if found else 0


def _check_baseline(baseline: str | None, entries: Sequence[Entry]) -> None:
    names = {name for entry in entries for name in (entry.name, entry.system)}
    if baseline is not None and baseline not in names:
        there = ", ".join(sorted({entry.name for entry in entries}))
        raise HarnessError(f"--baseline {baseline}: there is no such system; there are {there}")
