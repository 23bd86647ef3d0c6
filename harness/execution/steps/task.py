"""One step to execute: its work as the plan describes it, the folder to write to, the store to read."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import orjson

from harness import made_models
from harness.catalogue import Catalogue, params
from harness.collection import context_additions
from harness.collection.composed_texts import View
from harness.collection.corpus import Corpus
from harness.collection.queries import Queries, read_queries
from harness.errors import ContractError, check_is
from harness.plan import searching
from harness.plan.kinds import kind_of, of_kind
from harness.store.artifacts import Store
from harness.store.manifest import Artifact
from harness.types import JSON, Batch, Facts, Unit

T = TypeVar("T")
Progress = Callable[..., None]  # called with done, total and, if there is one, a note to show


class Outcome(NamedTuple):
    facts: dict[str, JSON]  # results that depend on the inputs alone
    cost: dict[str, JSON]  # measurements, such as seconds


class Texts(View):
    """A view of texts that shows its reader's progress: the texts read, or what the reader reports by calling
    `progress`."""

    def __init__(
        self, read: Corpus, stages: Sequence[context_additions.Additions], unit: Unit, language: str | None,
        show: Progress,
    ) -> None:  # fmt: skip
        super().__init__(read, stages, unit, language)
        self._show, self._reader_reports = show, False

    def batches(self, size: int = 8192, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        done = start
        for batch in super().batches(size, start, stop):
            yield batch
            done += len(batch.texts)
            if not self._reader_reports:
                self._show(done, len(self))

    def progress(self, done: int) -> None:
        self._reader_reports = True
        self._show(done, len(self))


@dataclass
class Task:
    """One step to execute: its work as the plan describes it, the folder to write to, the store to read."""

    kind: str
    work: dict[str, JSON]
    folder: Path
    store: Store
    catalogue: Catalogue
    progress: Progress
    compiling: Callable[[bool], None] = lambda begins: None  # called when numba begins and ends to compile
    whole: str = ""  # the id of the step; for a part, the id of the step that it is a part of
    kept: dict[str, Any] = dataclasses.field(default_factory=dict)  # objects that parts of one step share

    def once(self, make: Callable[[], T]) -> T:
        """The result of `make`, which is called once for all parts of a step that this process executes."""
        if self.whole not in self.kept:
            self.kept.clear()
            self.kept[self.whole] = make()
        kept: T = self.kept[self.whole]
        return kept

    @property
    def record(self) -> Any:
        """The record of this step's method."""
        return self.record_of(self.work)

    def record_of(self, work: JSON) -> Any:
        return self.catalogue.find(work["method"]["kind"], work["method"]["name"]).record

    def method(self, work: JSON = None, changed: Mapping[str, JSON] | None = None) -> Any:
        """The method that `work` names, built from its parameters; without `work`, the method of this step.
        `changed` replaces parameters."""
        return self.record_of(work or self.work).build(self._values(work or self.work, changed or {}))

    @property
    def libraries(self) -> tuple[str, ...]:
        """The libraries that the record of this step's method names for its parameters; none without a
        method."""
        if "method" not in self.work:
            return ()
        record = self.record
        by_param = record.libraries_by_param(self._values(self.work, {})) if record.libraries_by_param else {}
        return (*record.libraries, *(name for names in by_param.values() for name in names))

    @property
    def values(self) -> Any:
        """The parameters of this step's method."""
        return self._values(self.work, {})

    def _values(self, work: JSON, changed: Mapping[str, JSON]) -> Any:
        record, all_given = self.record_of(work), {**work["method"]["params"], **changed}
        placed = made_models.placed(
            {name: self.found(value) for name, value in all_given.items()}, self.model
        )
        values, problems = params.convert(record.params, placed, Path("/"))
        if problems:
            raise ContractError(
                f"the parameters of '{record.name}' did not survive planning: {problems[0].text}"
            )
        if record.resolve is not None and placed != all_given:  # the folder of a made model is known only now
            about = work.get("texts", work)
            language = about.get("language")
            return record.resolve(values, Facts(language, language, about.get("unit", "passage")))
        return values

    def found(self, value: JSON) -> JSON:
        """The value of a parameter. If it refers to a `tune` step, this is the value that the step has
        found."""
        match = searching.FOUND.fullmatch(value) if isinstance(value, str) else None
        return self.store.read(match[1]).facts["found"][match[2]] if match else value

    def model(self, step: str) -> Path:
        """The folder of the model that a step trained, or of the checkpoint that the step chose. The folder
        is verified if the step is an input of this task; otherwise it is not, and it may be missing."""
        if step not in self.work["inputs"]:
            return self.store.artifacts / step
        chosen = self.store.read(step)
        if kind_of(step) == "validate":
            chosen = self.store.read(chosen.facts["validation"]["model"])
        return chosen.folder

    def name_backbones(self) -> None:
        """Name the folders of the backbones of this step's made models in the environment, where the methods
        that load these models find them."""
        placed: list[str] = made_models.placed(self.work.get("backbones", []), self.model)
        made_models.name_backbones([Path(folder) for folder in placed])

    def input(self, kind: str) -> Artifact:
        """The verified artifact of the first input of this kind."""
        return self.store.read(of_kind(kind, self.work["inputs"])[0])

    def corpus(self) -> Corpus:
        return Corpus(self.input("corpus").folder)

    def texts(self, work: JSON = None) -> Texts:
        described = (work or self.work)["texts"]
        stages = [context_additions.Additions(self.store.read(step).folder) for step in described["stages"]]
        read = Corpus(self.store.read(described["corpus"]).folder)
        return Texts(read, stages, described["unit"], described["language"], self.progress)

    def queries(self) -> Queries:
        return read_queries(self.input("queries").folder)


def reported(facts: Mapping[str, JSON] | None) -> dict[str, JSON]:
    """The facts that a method reports, under the name `reported`; nothing if it reports none. Raises
    ContractError for facts that are no plain JSON."""
    if facts is None:
        return {}
    check_is(facts, Mapping, "facts that a method reports")
    try:
        plain = orjson.loads(orjson.dumps(dict(facts)))
        json.dumps(dict(facts), default=str, allow_nan=False)  # orjson writes NaN as null
    except (TypeError, ValueError) as error:
        raise ContractError(f"facts that are no JSON: {error}") from error
    return {"reported": plain} if plain else {}
