"""`harness training-data`: converts training data of one trainer to the form of another."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.kinds import TRAINING_FORMS


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=convert)
    command.add_argument("files", type=Path, nargs="+", metavar="FILE", help="what to read, plain or .gz")
    form = "the form of all files, if their first lines do not show it"
    command.add_argument("--form", choices=TRAINING_FORMS, help=form)
    command.add_argument("--to", choices=TRAINING_FORMS, required=True, help="the form to write")
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="where it goes")


def convert(options: argparse.Namespace) -> int:
    from harness.errors import HarnessError
    from harness.exchange import training_data, training_forms
    from harness.problems import shown_path

    if any(options.out.absolute() == file.absolute() for file in options.files):
        raise HarnessError(f"--out {shown_path(options.out)}: is read too; name another file")
    examples = (example for file in options.files for example in training_data.read(file, options.form))
    count = training_forms.write(examples, options.to, options.out)
    print(f"{count:,} examples: {shown_path(options.out.absolute())}")
    return 0
