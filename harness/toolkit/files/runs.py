"""Run files of other tools, in the forms that `harness score` reads."""

from harness.exchange.run_forms import FORMS, ForeignRun, read_run

__all__ = ["FORMS", "ForeignRun", "read_run"]
