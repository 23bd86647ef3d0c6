"""`harness table`: prints a leaderboard as a table for a paper."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from harness.toolkit import commands

GROUP = "rows under a rule and a title, as 'Lexical=bm25*,ql'; may be repeated, in this order"


def arguments(command: argparse.ArgumentParser) -> None:
    commands.leaderboard(command)
    command.add_argument("--format", choices=("latex", "typst"), default="latex", help="default: latex")
    command.add_argument("--out", type=Path, metavar="FILE", help="write the table into this file")
    command.add_argument("--document", action="store_true", help="a whole document, which can be compiled")

    commands.beside(command)

    what = command.add_argument_group("rows and columns, in the order of the options")
    for name in ("system", "dataset", "measure"):
        text = f"only the {name}s that match (may be repeated)"
        what.add_argument(f"--{name}", action="append", default=[], metavar="GLOB", help=text)
    what.add_argument("--group", action="append", default=[], metavar="TITLE=GLOB,...", help=GROUP)
    what.add_argument("--sort", metavar="MEASURE", help="the best system by this measure first")
    by = "what the columns are grouped by, if there are several datasets and measures (default: dataset)"
    what.add_argument("--by", choices=("dataset", "measure"), default="dataset", help=by)
    average = "add the averages that the suite names, or the mean over the datasets of the table"
    what.add_argument("--average", action="store_true", help=average)
    rename = "write NEW for the system, dataset, measure or average OLD; may be repeated"
    what.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", help=rename)

    cells = command.add_argument_group("cells")
    cells.add_argument("--decimals", type=int, choices=range(7), metavar="N", help="default 3; in percent 1")
    cells.add_argument("--percent", action="store_true", help="multiply by 100")
    ends = "95 %% bootstrap intervals: below each value, or none (default)"
    cells.add_argument("--intervals", choices=("below", "none"), default="none", help=ends)

    tests = command.add_argument_group("tests, as in `harness compare`")
    tests.add_argument(
        "--baseline", metavar="SYSTEM", help="daggers for what differs significantly from this"
    )
    tests.add_argument("--tiers", action="store_true", help="letters: systems that share one do not differ")
    tests.add_argument(
        "--test",
        choices=("randomisation", "t", "wilcoxon"),
        default="randomisation",
        help="default: randomisation",
    )
    tests.add_argument("--correction", choices=("max-t", "holm", "none"), help="default: that of the test")
    tests.add_argument(
        "--family", choices=("column", "dataset", "measure", "all"), default="column", help="default: column"
    )
    tests.add_argument("--alpha", type=commands.share, default=0.05, metavar="P", help="default 0.05")

    words = command.add_argument_group("caption")
    words.add_argument(
        "--caption", metavar="TEXT", help="its first sentence; the signs are explained after it"
    )
    words.add_argument("--label", metavar="LABEL", help="default: tab: and the leaderboard's name")
    words.add_argument("--tuned", action="store_true", help="add the values that tuning chose")
    words.add_argument("--wide", action="store_true", help="over both columns of a page (LaTeX: table*)")


def run(options: argparse.Namespace) -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in `harness compare`
    from harness.plugin import shown_path
    from harness.toolkit.files import writing
    from harness_tables import latex, layout, typst

    table = layout.of(options)
    form = {"latex": latex, "typst": typst}[options.format]
    text = form.document(table) if options.document else form.render(table)
    if options.out is None:
        commands.say(text, end="")
    else:
        with writing.replacing(options.out) as file:
            file.write_bytes(text.encode())
        print(f"table: {shown_path(options.out.absolute())}")
    return 0
