"""Plans the systems of a suite: the steps that make a system's hits on one collection, each step once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness import made_models
from harness.plan import making, models, rewriting, searching
from harness.plan import tuning as tune
from harness.plan.chosen_methods import named, work_of
from harness.plan.graph import Collection
from harness.plan.guard import Broken
from harness.plan.steps import Base
from harness.problems import Keys, Need, Place
from harness.suite import Chosen, DatasetSpec, System
from harness.types import JSON, Unit


class Searched(NamedTuple):
    """A retriever with its index, for the combiners and rewriters that search with it again."""

    described: dict[str, JSON]
    work: dict[str, JSON]
    inputs: tuple[str, ...]  # the index and the stages of context
    needs: tuple[Need, ...]
    queries: str | None = None  # the step that rewrites the queries


class Output(NamedTuple):
    """A planned system, as the systems that build on it need it."""

    hits: str  # the id of the step
    unit: Unit
    context: tuple[str, ...]  # the `augment` steps of the system's first input that ranks passages
    searched: Searched | None = None  # how to search again, if the hits are a retriever's own


@dataclass
class Systems(Base):
    """The planner of a suite's systems. Work that two systems share becomes one step."""

    done: dict[tuple[str, str], Output | str] = field(default_factory=dict)  # a text is the error
    trained: dict[tuple[str, int], models.Trained | str] = field(default_factory=dict)  # by name and seed
    begun: list[str] = field(default_factory=list)  # the made datasets that are being planned
    apart: list[tuple[str, Place, Keys, str]] = field(default_factory=list)  # splits tuned or trained on

    def collection(self, spec: DatasetSpec) -> Collection:
        """The collection of a dataset. For a made dataset, its stages are applied."""
        return making.made(self, spec, super().collection(spec))

    def add(
        self, kind: str, dataset: str, subject: str, described: JSON, work: JSON, inputs: Sequence[str],
        needs: Sequence[Need],
    ) -> str:  # fmt: skip
        """Add a step unless there is one with its key, and return its id. The steps that make its models and
        their backbones, and that find its tuned values, become inputs."""
        backbones = models.backbones(self, described)
        made = [*made_models.steps_in(described), *made_models.steps_in(backbones)]
        inputs = (*inputs, *dict.fromkeys(made), *searching.steps_in(described))
        work = {**searching.placed(described, work), **({"backbones": backbones} if backbones else {})}
        return super().add(kind, dataset, subject, described, work, inputs, needs)

    def method(
        self, collection: Collection, chosen: Chosen, values: Any, leave_out: tuple[str, ...] = ()
    ) -> dict[str, JSON]:
        """The description of a method for a key. Tuned values are named by the steps that find them."""
        method = super().method(collection, chosen, values, leave_out)
        return searching.described(chosen, method, leave_out)

    def resolved(self, collection: Collection, chosen: Chosen, unit: Unit) -> tuple[Any, list[Need]]:
        """The method's parameters with every `auto` replaced, and its missing needs. The parameters refer to
        a made model by the id of the step that makes it."""
        values = made_models.replaced(
            chosen.params, lambda reference: models.planned(self, reference, chosen.place)
        )
        return super().resolved(collection, chosen._replace(params=values), unit)

    def output(self, collection: Collection, name: str) -> Output:
        """The output of a suite's system, planned once per collection. Raises Broken."""
        key = (collection.spec.name, name)
        if key not in self.done:
            try:
                self.done[key] = self.unshared(collection, self.suite.system(name))
            except Broken as error:
                self.done[key] = str(error)
        output = self.done[key]
        if isinstance(output, str):
            raise Broken(output)
        return output

    def unshared(self, collection: Collection, system: System) -> Output:
        """The output of a system, which need not be one of the suite's. It is planned again in each call."""
        if (output := searching.output(self, collection, system)) is not None:
            return output
        if system.retriever is not None:
            context = self.stages(collection, system.context or ())
            output = self.search(collection, system, context)
        else:
            inputs = [self.output(collection, name) for name in system.of]
            output = inputs[0] if system.combine is None else self.combined(collection, system, inputs)
        for i in range(len(system.rerank)):
            output = self.reranked(collection, system, i, output)
        return output

    def stages(self, collection: Collection, chosen: Sequence[Chosen]) -> tuple[str, ...]:
        return tuple(self.stage(collection, stage) for stage in chosen)

    def stage(self, collection: Collection, chosen: Chosen) -> str:
        values, needs = self.resolved(collection, chosen, "passage")
        described = {
            "method": self.method(collection, chosen, values),
            "language": collection.card.language,
        }
        work = {"method": work_of(chosen, values), "language": collection.card.language}
        subject = named(chosen.name, chosen.as_written)
        inputs = (collection.parts["corpus"],)
        return self.add("augment", collection.spec.name, subject, described, work, inputs, needs)

    def search(self, collection: Collection, system: System, context: tuple[str, ...]) -> Output:
        """The output of a system's retriever for the queries as the system's rewriters leave them."""
        chosen = system.retriever
        assert chosen is not None
        values, needs = self.resolved(collection, chosen, system.unit)
        index = self.index(collection, chosen, values, needs, context, system.unit)
        method = self.method(collection, chosen, values)
        texts = self.texts(collection, context, system.unit)
        again = {"method": work_of(chosen, values), "texts": texts, "index": index}
        searched = Searched({"method": method}, again, (index, *context), tuple(needs))
        for i in range(len(system.queries)):
            searched = searched._replace(queries=rewriting.step(self, collection, system, i, searched))
        return self.searched(collection, system.name, searched, system.unit, context)

    def searched(
        self, collection: Collection, subject: str, searched: Searched, unit: Unit, context: tuple[str, ...]
    ) -> Output:
        """The output of the step that searches an index for all queries."""
        described = {**searched.described, "depth": self.suite.depth}
        work = {name: item for name, item in searched.work.items() if name != "index"}
        work["depth"] = self.suite.depth
        index = searched.work["index"]
        rewritten = () if searched.queries is None else (searched.queries,)
        inputs = (index, collection.parts["queries"], collection.parts["corpus"], *context, *rewritten)
        step = self.add("search", collection.spec.name, subject, described, work, inputs, searched.needs)
        return Output(step, unit, context, searched)

    def index(
        self, collection: Collection, chosen: Chosen, values: Any, needs: Sequence[Need],
        context: tuple[str, ...], unit: Unit,
    ) -> str:  # fmt: skip
        record = chosen.entry.record
        texts = self.texts(collection, context, unit)
        described = {
            "method": self.method(collection, chosen, values, record.search_only),
            "texts": {"unit": unit, "language": collection.card.language},
        }
        work = {"method": work_of(chosen, values), "texts": texts}
        subject = self.variant(chosen, context, unit)
        inputs = (collection.parts["corpus"], *context)
        needs = self.index_needs(chosen, values, needs)
        return self.add("index", collection.spec.name, subject, described, work, inputs, needs)

    def combined(self, collection: Collection, system: System, inputs: list[Output]) -> Output:
        chosen = system.combine
        assert chosen is not None
        unit: Unit = "document" if all(output.unit == "document" for output in inputs) else "passage"
        values, needs = self.resolved(collection, chosen, unit)
        tuning = chosen.tuned
        leave_out = (tuning.parameter,) if tuning else ()
        described = {
            "method": self.method(collection, chosen, values, leave_out),
            "depth": self.suite.depth,
        }
        work = {"method": work_of(chosen, values), "depth": self.suite.depth, "unit": unit}
        ids = [*(output.hits for output in inputs), collection.parts["corpus"], collection.parts["queries"]]
        self.add_rescoring(chosen, system, inputs, described, work, ids, needs)
        if tuning is not None:
            work["tuned"] = tuning.parameter
            ids.append(tune.step(self, collection, system, unit, inputs))
        step = self.add("combine", collection.spec.name, system.name, described, work, ids, needs)
        first = next((output for output in inputs if output.unit == "passage"), inputs[0])
        return Output(step, unit, first.context)

    def add_rescoring(
        self, chosen: Chosen, system: System, inputs: Sequence[Output], described: dict[str, JSON],
        work: dict[str, JSON], ids: list[str], needs: list[Need],
    ) -> None:  # fmt: skip
        """Add to a combiner's step how its inputs score further passages. Raises Broken if an input that must
        do so is no retriever of passages."""
        again: dict[str, Searched] = {}
        for i in chosen.entry.record.within:
            searched = inputs[i].searched
            if searched is None or inputs[i].unit != "passage":
                what = f"'{chosen.name}' scores further passages with '{system.of[i]}'"
                text = f"{what}, which must be a retriever of passages; name one"
                self.refuse(chosen.place, ("systems", system.base, "of"), text)
            again[str(i)] = searched
        if again:
            described["within"] = {i: item.described for i, item in again.items()}
            work["within"] = {i: {**item.work, "queries": item.queries} for i, item in again.items()}
            ids += dict.fromkeys(step for item in again.values() for step in item.inputs)
            ids += dict.fromkeys(item.queries for item in again.values() if item.queries is not None)
            needs += [need for item in again.values() for need in item.needs]

    def reranked(self, collection: Collection, system: System, i: int, below: Output) -> Output:
        item = system.rerank[i]
        chosen, depth = item.chosen, item.depth or self.suite.depth
        if system.retriever is None and system.context is not None:
            context = self.stages(collection, system.context)
        else:
            context = below.context
        values, needs = self.resolved(collection, chosen, below.unit)
        texts = self.texts(collection, context, below.unit)
        index = None
        if chosen.entry.record.indexed:
            index = self.index(collection, chosen, values, needs, context, below.unit)
        described = {
            "method": self.method(collection, chosen, values),
            "texts": {"unit": below.unit, "language": collection.card.language},
            "depth": depth,
            "tail": item.tail,
        }
        work = {
            "method": work_of(chosen, values), "texts": texts, "depth": depth, "tail": item.tail,
            "indexed": index is not None,
        }  # fmt: skip
        first = (index,) if index else ()
        ids = (*first, below.hits, collection.parts["queries"], collection.parts["corpus"], *context)
        subject = system.name if len(system.rerank) == 1 else f"{system.name} ({i + 1}: {chosen.name})"
        step = self.add("rerank", collection.spec.name, subject, described, work, ids, needs)
        return Output(step, below.unit, context)
