"""`harness compare`: tests leaderboards, or the systems of one leaderboard, against each other."""

from __future__ import annotations

import argparse
import os

from harness.cli import arguments as shared
from harness.errors import HarnessError


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=run)
    shared.leaderboards(command)
    for what in ("dataset", "measure", "system"):
        text = f"only the {what}s that match (may be repeated)"
        command.add_argument(f"--{what}", action="append", default=[], metavar="GLOB", help=text)
    command.add_argument("--baseline", metavar="SYSTEM", help="compare each with this one, not all pairs")
    by_name = "compare each with the system of its name in the first leaderboard"
    command.add_argument("--by-name", action="store_true", help=by_name)
    family = "what is corrected together: a column of one dataset (default), a dataset, a measure, or all"
    families = ("column", "dataset", "measure", "all")
    command.add_argument("--family", choices=families, default="column", help=family)
    command.add_argument("--test", choices=("randomisation", "t", "wilcoxon"), default="randomisation")
    correction = "default: max-t with randomisation, else holm"
    command.add_argument("--correction", choices=("max-t", "holm", "none"), help=correction)
    permutations = "default 10,000, or as many as Holm needs"
    command.add_argument("--permutations", type=shared.count, metavar="N", help=permutations)
    command.add_argument("--alpha", type=shared.share, default=0.05, metavar="P", help="default 0.05")
    guard = "exit with 3 if a measure fell by more than its tolerance, or significantly without one"
    command.add_argument("--fail-on-regression", nargs="*", metavar="MEASURE=TOLERANCE", help=guard)
    command.add_argument("--format", choices=("table", "markdown", "json"), default="table")


def run(options: argparse.Namespace) -> int:
    """Compares, and returns 0, or 3 if `--fail-on-regression` found a regression."""
    # # OpenBLAS reads this variable when NumPy is imported. The products are small, so a second thread saves
    # little time; on a busy machine it waits for the first thread ten times as long as both compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from harness.compare import Settings, compare, load
    from harness.compare.data import Filters, check_baseline
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
    check_baseline(options.baseline, [entry for field in loaded.fields for entry in field.entries])
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
    drops = regressions(loaded, compared, watch) if guarding else None
    if not by_name and drops is not None:  # rows can be missing only if leaderboards are compared
        drops = [item for item in drops if item.measure is not None]
    shared.say(render(compared, options.format, drops, shared.width()), end="", form=options.format)
    return EXIT_CODE if drops else 0
