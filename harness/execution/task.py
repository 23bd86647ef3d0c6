"""One step to execute: its record, the folder to write to, the store to read."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import orjson

from harness.catalogue import Catalogue, params
from harness.collection import context_additions
from harness.collection.composed_texts import View
from harness.collection.corpus import Corpus
from harness.collection.queries import Judgements, Queries, read_judgements, read_queries
from harness.errors import ContractError, check_is
from harness.steps import results
from harness.steps import texts as texts_of_step
from harness.steps.kinds import PartOfStep, Whole
from harness.steps.record import Backbone, Found, Method, Model, Ref, method_of, methods_in, placed
from harness.steps.validate import Validate
from harness.store import hits_files
from harness.store.artifacts import Store
from harness.store.manifest import Artifact
from harness.types import JSON, Batch, Facts, Hits, Unit

T = TypeVar("T")
Progress = Callable[..., None]  # called with done, total and, if there is one, a note to show


class Outcome(NamedTuple):
    facts: dict[str, JSON]  # results that depend on the inputs alone
    cost: dict[str, JSON]  # measurements, such as seconds


class Texts(View):
    """A view of texts that shows its reader's progress: the texts read, or what it reports by `progress`."""

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

    def report_to(self, show: Progress) -> None:
        """Show what the reader reports by `progress` with `show`, and reading itself no longer."""
        self._show, self._reader_reports = show, True

    def progress(self, done: int) -> None:
        self._reader_reports = True
        self._show(done, len(self))


@dataclass
class Task:
    """One step to execute, with the folder to write to and the store to read."""

    record: Whole
    folder: Path
    store: Store
    catalogue: Catalogue
    progress: Progress
    compiling: Callable[[bool], None] = lambda begins: None  # called when numba begins and ends to compile
    part: PartOfStep | None = None  # given if only some blocks of the step are to be done
    whole: str = ""  # the id of the step; for a part, the id of the step that it is a part of
    kept: dict[str, Any] = dataclasses.field(default_factory=dict)  # objects that parts of one step share

    def once(self, make: Callable[[], T]) -> T:
        """The result of `make`, which is called once for all parts of a step that this process executes."""
        if self.whole not in self.kept:
            self.kept.clear()
            self.kept[self.whole] = make()
        kept: T = self.kept[self.whole]
        return kept

    def built(self, method: Method, **changed: JSON) -> Any:
        """A method, built from its parameters. `changed` replaces some of them."""
        return self.record_of(method).build(self.values(method, **changed))

    def record_of(self, method: Method) -> Any:
        return self.catalogue.find(method.kind, method.name).record

    def values(self, method: Method, **changed: JSON) -> Any:
        """The parameters of a method, some of them `changed`. What other steps make is put in its place."""
        record = self.record_of(method)
        bound = [each for each in method.bound if each.parameter not in changed]
        given = placed({**method.given, **changed}, bound, self._value)
        values, problems = params.convert(record.params, given, Path("/"))
        if problems:
            raise ContractError(
                f"the parameters of '{record.name}' did not survive planning: {problems[0].text}"
            )
        if record.resolve is not None and method.bound:  # the folder of a made model is known only now
            facts = Facts(method.language, method.query_language, method.unit)
            return record.resolve(values, facts)
        return values

    def _value(self, value: Found | Model) -> JSON:
        if isinstance(value, Found):
            return self.store.read(value.step).facts["found"][value.name]
        return str(self._model(value))

    def backbones(self) -> tuple[Path, ...]:
        """The folders of the models without which made models of the step cannot be loaded."""
        needed = [item for method in methods_in(self.record) for item in method.backbones]
        return tuple(dict.fromkeys(self._backbone(item) for item in needed))

    def _backbone(self, backbone: Backbone) -> Path:
        return Path(backbone.folder) if backbone.model is None else self._model(backbone.model)

    def _model(self, model: Model) -> Path:
        """The verified folder of a model that a step trained, or of the checkpoint that the step chose."""
        chosen = self.store.read(model.step)
        if isinstance(chosen.record, Validate):
            chosen = self.store.read(chosen.facts["validation"]["model"])
        return chosen.folder / model.part

    @property
    def libraries(self) -> tuple[str, ...]:
        """The libraries that the method's record names for its parameters; none without a method."""
        method = method_of(self.record)
        if method is None:
            return ()
        record = self.record_of(method)
        by_param = record.libraries_by_param(self.values(method)) if record.libraries_by_param else {}
        return (*record.libraries, *(name for names in by_param.values() for name in names))

    def read(self, ref: Ref[Any]) -> Artifact:
        """The verified artifact of a step."""
        return self.store.read(ref.step)

    def corpus(self, ref: Ref[results.Corpus]) -> Corpus:
        return Corpus(self.read(ref).folder)

    def queries(self, ref: Ref[results.Queries]) -> Queries:
        return read_queries(self.read(ref).folder)

    def judgements(self, ref: Ref[results.Judgements]) -> Judgements:
        return read_judgements(self.read(ref).folder)

    def hits(self, ref: Ref[results.Hits]) -> Hits:
        return hits_files.load(self.read(ref))

    def texts(self, texts: texts_of_step.Texts) -> Texts:
        stages = [context_additions.Additions(self.read(stage).folder) for stage in texts.stages]
        return Texts(self.corpus(texts.corpus), stages, texts.unit, texts.language, self.progress)


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
