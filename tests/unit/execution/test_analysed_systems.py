"""The systems of an analysis, as its step opens them."""

from typing import Any, cast

from step_samples import CORPUS, changed, ref

from harness.execution import analyse
from harness.steps import Analyse
from harness.steps.analyse import Analysed
from harness.steps.record import Ref
from harness.steps.texts import Texts
from harness.types import Unit


class Task:
    """A task of an analysis. `opened` has the texts that were opened, in order."""

    def __init__(self) -> None:
        self.opened: list[Texts] = []

    def texts(self, texts: Texts) -> Any:
        self.opened.append(texts)
        return [texts]

    def hits(self, ref: Ref[Any]) -> str:
        return ref.step


def system(name: str, unit: Unit) -> Analysed:
    return Analysed(name=name, hits=ref(f"search-{name}"), texts=Texts(corpus=CORPUS, unit=unit), unit=unit)


def test_systems_that_read_the_same_texts_share_them() -> None:
    """One view of a large corpus takes much memory, and a grid may have hundreds of systems."""
    systems, task = (system("a", "passage"), system("b", "document"), system("c", "passage")), Task()
    first, second, third = analyse._system_runs(changed(Analyse, systems=systems), cast("Any", task))
    assert [cast("Any", run.hits) for run in (first, second, third)] == ["search-a", "search-b", "search-c"]
    assert first.texts is third.texts
    assert [texts.unit for texts in task.opened] == ["passage", "document"]
