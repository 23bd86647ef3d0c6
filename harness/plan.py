"""Suite -> a graph of content-addressed steps, with every problem told before anything runs."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness import keys, params
from harness.catalogue import Catalogue, missing
from harness.errors import HarnessError, Problems
from harness.graph import Collection, Plan, Row, Step
from harness.keys import Digest
from harness.records import NoParams
from harness.suite import Chosen, DatasetSpec, Suite, System
from harness.types import JSON, Card, Facts, Part, Unit
from harness.yamlfile import shown_path

# Raised when the harness itself writes an artifact of that kind differently, or other numbers into it.
FORMATS = {
    "corpus": 1, "queries": 1, "judgements": 1, "augment": 1, "index": 1, "search": 1, "combine": 1,
    "rerank": 1,
}  # fmt: skip
PARTS: tuple[Part, ...] = ("corpus", "queries", "judgements")


class Searched(NamedTuple):
    """A retriever over its index: what a combiner needs to have it score further positions."""

    described: dict[str, JSON]
    work: dict[str, JSON]
    inputs: tuple[str, ...]  # the index and the stages of context
    needs: tuple[str, ...]


class Output(NamedTuple):
    """What a system hands on while planning."""

    hits: str
    unit: Unit
    context: tuple[str, ...]  # the augment steps of its first passage input
    searched: Searched | None = None  # how to search again, if the hits are a retriever's own


class Broken(Exception):
    """A plugin failed while planning: its rows fail, the suite goes on."""


@dataclass
class _Planner:
    suite: Suite
    catalogue: Catalogue
    digest: Digest
    steps: dict[str, Step] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(
        self, kind: str, label: str, described: JSON, work: JSON, inputs: Sequence[str], needs: Sequence[str]
    ) -> str:
        full = {"kind": kind, "format": FORMATS[kind], **described, "inputs": list(inputs)}
        below = [need for step in inputs for need in self.steps[step].needs]
        every = tuple(dict.fromkeys([*needs, *below]))
        step = Step(kind, keys.key(full), label, full, {**work, "inputs": list(inputs)}, tuple(inputs), every)
        self.steps.setdefault(step.id, step)
        return step.id

    def collection(self, spec: DatasetSpec) -> Collection:
        record, values = spec.chosen.entry.record, spec.chosen.params
        absent = missing(record, spec.chosen.entry.plugin.distribution)
        unknown = Card(None, "?")
        if absent:
            return Collection(spec, unknown, {}, (absent,), None)
        parts: dict[Part, str] = {}
        needs: list[str] = []
        try:
            source = record.build(values)
            card = source.card()
            for part in PARTS:
                inputs = source.inputs(part)
                lacking = [f"{shown_path(path)} (not there)" for path in inputs.files if not path.exists()]
                needs += lacking
                described = {
                    "method": keys.method(spec.chosen.entry, NoParams(), self.digest),
                    "params": params.plain(inputs.params),
                    "files": [keys.addressed(path, self.digest) for path in inputs.files],
                }
                work = {"method": _work(spec.chosen, values)}
                parts[part] = self.add(part, f"{part} · {spec.name}", described, work, (), lacking)
        except HarnessError as error:
            self.problems.append(f"{spec.chosen.place}: datasets.{spec.name}: {error}")
            return Collection(spec, unknown, {}, (), str(error))
        except Exception as error:  # a stranger's plugin may fail in any way
            text = f"dataset '{spec.chosen.name}' failed while planning: {type(error).__name__}: {error}"
            return Collection(spec, unknown, {}, (), text)
        return Collection(spec, card, parts, tuple(dict.fromkeys(needs)), None)

    def output(self, collection: Collection, name: str, done: dict[str, Output | str]) -> Output:
        """The step that makes a system's hits, planned once per dataset; raises Broken."""
        if name not in done:
            system = self.suite.system(name)
            try:
                done[name] = self._output(collection, system, done)
            except Broken as error:
                done[name] = str(error)
        found = done[name]
        if isinstance(found, str):
            raise Broken(found)
        return found

    def _output(self, collection: Collection, system: System, done: dict[str, Output | str]) -> Output:
        if system.retriever is not None:
            context = self.stages(collection, system.context or ())
            output = self.search(collection, system, context)
        else:
            inputs = [self.output(collection, name, done) for name in system.of]
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
        work = {"method": _work(chosen, values), "language": collection.card.language}
        label = f"augment · {collection.spec.name} · {_named(chosen.name, chosen.given)}"
        return self.add("augment", label, described, work, (collection.parts["corpus"],), needs)

    def search(self, collection: Collection, system: System, context: tuple[str, ...]) -> Output:
        chosen = system.retriever
        assert chosen is not None
        values, needs = self.resolved(collection, chosen, system.unit)
        index = self.index(collection, chosen, values, needs, context, system.unit)
        described = {
            "method": self.method(collection, chosen, values),
            "depth": self.suite.depth,
        }
        texts = self.texts(collection, context, system.unit)
        work = {"method": _work(chosen, values), "depth": self.suite.depth, "texts": texts}
        inputs = (index, collection.parts["queries"], collection.parts["corpus"], *context)
        label = f"search · {collection.spec.name} · {system.name}"
        step = self.add("search", label, described, work, inputs, needs)
        again = {"method": work["method"], "texts": texts, "index": index}
        searched = Searched({"method": described["method"]}, again, (index, *context), tuple(needs))
        return Output(step, system.unit, context, searched)

    def index(
        self, collection: Collection, chosen: Chosen, values: Any, needs: Sequence[str],
        context: tuple[str, ...], unit: Unit,
    ) -> str:  # fmt: skip
        record = chosen.entry.record
        texts = self.texts(collection, context, unit)
        described = {
            "method": self.method(collection, chosen, values, record.search_only),
            "texts": {"unit": unit, "language": collection.card.language},
        }
        work = {"method": _work(chosen, values), "texts": texts}
        label = f"index · {collection.spec.name} · {self.variant(chosen, context, unit)}"
        return self.add("index", label, described, work, (collection.parts["corpus"], *context), needs)

    def combined(self, collection: Collection, system: System, inputs: list[Output]) -> Output:
        chosen = system.combine
        assert chosen is not None
        unit: Unit = "document" if all(output.unit == "document" for output in inputs) else "passage"
        values, needs = self.resolved(collection, chosen, unit)
        described = {
            "method": self.method(collection, chosen, values),
            "depth": self.suite.depth,
        }
        work = {"method": _work(chosen, values), "depth": self.suite.depth, "unit": unit}
        label = f"combine · {collection.spec.name} · {system.name}"
        ids = [*(output.hits for output in inputs), collection.parts["corpus"], collection.parts["queries"]]
        within = chosen.entry.record.within
        if within:
            again = self.searched(chosen, system, inputs)
            described["within"] = {str(i): item.described for i, item in again.items()}
            work["within"] = {str(i): item.work for i, item in again.items()}
            ids += dict.fromkeys(step for item in again.values() for step in item.inputs)
            needs += [need for item in again.values() for need in item.needs]
        step = self.add("combine", label, described, work, ids, needs)
        first = next((output for output in inputs if output.unit == "passage"), inputs[0])
        return Output(step, unit, first.context)

    def searched(self, chosen: Chosen, system: System, inputs: Sequence[Output]) -> dict[int, Searched]:
        """The inputs that a combiner has score further passages; raises Broken if one cannot."""
        found: dict[int, Searched] = {}
        for i in chosen.entry.record.within:
            again = inputs[i].searched
            if again is None or inputs[i].unit != "passage":
                what = f"'{chosen.name}' scores further passages with '{system.of[i]}'"
                text = (
                    f"{chosen.place}: systems.{system.base}.of: {what}, which must be a retriever of passages"
                )
                self.problems.append(text)
                raise Broken(text)
            found[i] = again
        return found

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
            "method": _work(chosen, values), "texts": texts, "depth": depth, "tail": item.tail,
            "indexed": index is not None,
        }  # fmt: skip
        first = (index,) if index else ()
        ids = (*first, below.hits, collection.parts["queries"], collection.parts["corpus"], *context)
        label = f"rerank · {collection.spec.name} · {system.name}"
        if len(system.rerank) > 1:
            label += f" ({i + 1}: {chosen.name})"
        return Output(self.add("rerank", label, described, work, ids, needs), below.unit, context)

    def method(
        self, collection: Collection, chosen: Chosen, values: Any, leave_out: tuple[str, ...] = ()
    ) -> dict[str, JSON]:
        """What of a method goes into a key, with the records that it builds on."""
        described = keys.method(chosen.entry, values, self.digest, leave_out)
        uses = chosen.entry.record.uses
        if uses is not None and not collection.needs:  # what lacks data is not resolved
            found = [self.catalogue.find(kind, name) for kind, name in uses(values)]
            described["uses"] = [keys.method(entry, NoParams(), self.digest) for entry in found]
        return described

    def resolved(self, collection: Collection, chosen: Chosen, unit: Unit) -> tuple[Any, list[str]]:
        """The parameters with nothing left `auto`, and what the method lacks here."""
        record = chosen.entry.record
        absent = missing(record, chosen.entry.plugin.distribution)
        needs = [absent] if absent else []
        needs += [
            f"{shown_path(path)} (not there)" for path in keys.paths_in(chosen.params) if not path.exists()
        ]
        if collection.needs:
            return chosen.params, needs
        card = collection.card
        facts = Facts(card.language, card.query_language or card.language, unit)
        try:
            values = record.resolve(chosen.params, facts) if record.resolve else chosen.params
            return values, [*needs, *(record.lacks(values) if record.lacks else ())]
        except HarnessError as error:
            text = f"{chosen.place}: {chosen.name} on dataset '{collection.spec.name}': {error}"
            self.problems.append(text)
            raise Broken(text) from error
        except Exception as error:  # a stranger's plugin may fail in any way
            text = f"'{chosen.name}' failed while planning: {type(error).__name__}: {error}"
            raise Broken(text) from error

    def texts(self, collection: Collection, context: tuple[str, ...], unit: Unit) -> JSON:
        language = collection.card.language
        return {
            "corpus": collection.parts["corpus"],
            "stages": list(context),
            "unit": unit,
            "language": language,
        }

    def variant(self, chosen: Chosen, context: tuple[str, ...], unit: Unit) -> str:
        """What an index is of, for people: the method with what the suite set, the unit, the context."""
        stages = [self.steps[step].label.rpartition(" · ")[2] for step in context]
        kept = {
            name: value for name, value in chosen.given.items() if name not in chosen.entry.record.search_only
        }
        words = [
            _named(chosen.name, kept),
            *(["documents"] if unit == "document" else []),
            *(f"+{x}" for x in stages),
        ]
        return " ".join(words)


def _named(name: str, given: dict[str, JSON]) -> str:
    """`bm25 (k1=0.9)`: a method with the parameters that a suite gives it."""
    pairs = [f"{key}={params.shown(value)}" for key, value in given.items()]
    return f"{name} ({', '.join(pairs)})" if pairs else name


def _work(chosen: Chosen, values: Any) -> JSON:
    kind = type(chosen.entry.record).__name__.lower() + "s"
    plugin = f"{chosen.entry.plugin.distribution} {chosen.entry.plugin.version}"
    return {"kind": kind, "name": chosen.name, "params": params.plain(values), "plugin": plugin}


def build(suite: Suite, catalogue: Catalogue, digest: Digest, only: Sequence[str] = ()) -> Plan:
    """The whole graph of a suite. With `only`, rows that no pattern matches are marked as not selected."""
    planner = _Planner(suite, catalogue, digest)
    collections = {spec.name: planner.collection(spec) for spec in suite.datasets}
    rows = []
    for spec in suite.datasets:
        collection = collections[spec.name]
        done: dict[str, Output | str] = {}
        for system in suite.systems:
            chosen = _selected(spec.name, system.name, only)
            rows.append(_row(planner, collection, system, done, chosen))
    unmatched = [
        pattern for pattern in only
        if not any(_selected(row.dataset, row.system, [pattern]) for row in rows)
    ]  # fmt: skip
    planner.problems += [f"--only '{pattern}': no dataset or system has such a name" for pattern in unmatched]
    if planner.problems:
        raise Problems(dict.fromkeys(planner.problems))
    return Plan(suite, planner.steps, collections, tuple(rows))


def _row(
    planner: _Planner, collection: Collection, system: System, done: dict[str, Output | str], selected: bool
) -> Row:
    name, split = collection.spec.name, collection.card.split
    if not collection.parts:
        error = collection.error or collection.needs[0]
        return Row(name, split, system.name, system.unit, None, error, selected)
    try:
        output = planner.output(collection, system.name, done)
    except Broken as broken:
        return Row(name, split, system.name, system.unit, None, str(broken), selected)
    return Row(name, split, system.name, output.unit, output.hits, None, selected)


def _selected(dataset: str, system: str, only: Sequence[str]) -> bool:
    names = (dataset, system, f"{dataset}/{system}")
    return not only or any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in only)
