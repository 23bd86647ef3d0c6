"""`harness training-data`: converts training data of one trainer to the form of another."""

from __future__ import annotations

import argparse
from pathlib import Path

FORMS = (  # those of `reading` and `writing`, which are imported only when the command runs
    "tevatron", "sentence-transformers", "rocketqa", "rocketqa-pairs", "msmarco", "msmarco-ids",
)  # fmt: skip


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("files", type=Path, nargs="+", metavar="FILE", help="what to read, plain or .gz")
    form = "the form of all files, if their first lines do not show it"
    command.add_argument("--form", choices=FORMS, help=form)
    command.add_argument("--to", choices=FORMS, required=True, help="the form to write")
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="where it goes")


def convert(options: argparse.Namespace) -> int:
    from harness.plugin import HarnessError, shown_path
    from harness_training_data import reading, writing

    if any(options.out.absolute() == file.absolute() for file in options.files):
        raise HarnessError(f"--out {shown_path(options.out)}: is read too; name another file")
    examples = (example for file in options.files for example in reading.read(file, options.form))
    count = writing.write(examples, options.to, options.out)
    print(f"{count:,} examples: {shown_path(options.out.absolute())}")
    return 0
