"""The contract's test cases for one method, for `pytest.mark.parametrize`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import catalogue, records
from harness.errors import HarnessError
from harness.problems import unknown
from harness.testing import (
    analyser,
    combiner,
    command,
    context,
    dataset,
    maker,
    other_process,
    record,
    reranker,
    retriever,
    rewriter,
    trainer,
)
from harness.testing.subject import Broken, Check, Subject, find, promises
from harness.types import JSON

OF_KIND = {
    module.__name__.rpartition(".")[2]: promises(module)
    for module in (
        dataset, context, retriever, rewriter, reranker, combiner, analyser, trainer, maker, command
    )
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One promise of one method, as a test. It gets an empty folder, and raises `Broken` if it is broken."""

    kind: str
    method: str | records.Record | records.Command
    check: Check
    given: Mapping[str, JSON] = field(default_factory=dict)
    tolerance: float = 1e-5

    @property
    def name(self) -> str:
        return self.check.__name__.replace("_", " ")

    def __call__(self, folder: Path) -> None:
        subject = find(self.kind, self.method, self.given, self.tolerance)
        if self.check not in record.CHECKS:  # a record must be right even if its method cannot run here
            _skip_if_a_module_is_missing(subject)
        try:
            self.check(subject, folder)
        except Broken as broken:
            raise Broken(f"the {self.kind} '{subject.record.name}': {broken}") from broken.__cause__


def cases(
    kind: str,
    method: str | records.Record | records.Command,
    given: Mapping[str, JSON] | None = None,
    *,
    tolerance: float = 1e-5,
) -> list[Case]:
    """All cases for a method with these parameters. The method is an installed name or a record.

    Two scores that should be equal may differ by `tolerance` times the larger of 1 and either score. A record
    has no cases that start another process, because that process could not find it.
    """
    if kind not in OF_KIND:
        raise HarnessError(unknown("kind", kind, OF_KIND))
    checks = OF_KIND[kind] if kind == "command" else (*record.CHECKS, *OF_KIND[kind])
    if isinstance(method, str):
        checks = (*checks, *record.CHECKS_IN_A_CHILD, *other_process.CHECKS.get(kind, ()))
    return [Case(kind, method, check, dict(given or {}), tolerance) for check in checks]


def contract(
    kind: str,
    method: str | records.Record | records.Command,
    given: Mapping[str, JSON] | None = None,
    *,
    tolerance: float = 1e-5,
) -> Any:
    """A decorator for a test function that takes `case` and `tmp_path`. The test runs once for each case."""
    import pytest

    return pytest.mark.parametrize(
        "case", cases(kind, method, given, tolerance=tolerance), ids=lambda case: case.name
    )


def _skip_if_a_module_is_missing(subject: Subject) -> None:
    distribution = subject.plugin.distribution if subject.plugin else "the plugin"
    missing = catalogue.missing_modules(subject.record, distribution)
    if missing is not None:
        import pytest

        pytest.skip(str(missing))
