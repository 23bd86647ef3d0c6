"""Exports a leaderboard to other tools. Each form is a module with `write(board, out, store)`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from harness.plugin import HarnessError, shown_path
from harness.toolkit.boards import Leaderboard
from harness.toolkit.boards.stored import Store
from harness.toolkit.files import writing
from harness_forms import (
    ir_metadata,
    model_export,
    mteb_export,
    results_export,
    run_form_export,
    training_export,
    trec_export,
)
from harness_forms.written_files import Written

__all__ = ["FORMS", "Written", "export"]

Writer: TypeAlias = Callable[[Leaderboard, Path, Store], Written]
FORMS: dict[str, Writer] = {
    "trec": trec_export.write,
    "ir-metadata": ir_metadata.write,
    "mteb": mteb_export.write,
    "model": model_export.write,
    "results": results_export.write,
    **{form: partial(training_export.write, form=form) for form in training_export.FORMS},
    **{form: partial(run_form_export.write, form=form) for form in run_form_export.ENDINGS},
}


def export(board: Leaderboard, form: str, out: Path, store: Store) -> Written:
    """Writes the leaderboard into `out`. The store is read for judgements and the like; nothing is run."""
    if out.resolve() == board.folder.resolve():
        raise HarnessError(f"--out {shown_path(out)}: is the leaderboard's own folder; name another one")
    with writing.explaining(out):
        out.mkdir(parents=True, exist_ok=True)
        return FORMS[form](board, out, store)
