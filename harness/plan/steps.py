"""What all of planning shares: steps that are added once, collections, and what of a method enters a key."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from harness import params
from harness.catalogue import KINDS, Catalogue, Entry, missing
from harness.errors import HarnessError, NoLanguage
from harness.plan import keys, plugin_sources
from harness.plan.graph import Collection, Step
from harness.plan.keys import Digest
from harness.records import NoParams
from harness.suite import Chosen, DatasetSpec, Suite
from harness.suite.yaml_nodes import shown_path
from harness.types import JSON, Card, Facts, Part, Unit

# Raised when the harness itself writes an artifact of that kind differently, or other numbers into it.
FORMATS = {
    "corpus": 1, "queries": 1, "judgements": 1, "augment": 1, "index": 1, "search": 1, "combine": 1,
    "rerank": 1, "tune": 1, "analyse": 1, "label": 1,
}  # fmt: skip
OR_AT_METHODS = "or choose at each method, as in `analyser: english` (harness list analysers)"
PARTS: tuple[Part, ...] = ("corpus", "queries", "judgements")


class Broken(Exception):
    """A plugin failed while planning: its rows fail, the suite goes on."""


@dataclass
class Datasets:
    """The state of planning datasets: each step and each problem once."""

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
        lacking = [absent] if absent else list(record.missing_files(values)) if record.missing_files else []
        if lacking:
            return Collection(spec, unknown, {}, tuple(lacking), None)
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
                work = {"method": work_of(spec.chosen, values)}
                parts[part] = self.add(part, f"{part} · {spec.name}", described, work, (), lacking)
        except HarnessError as error:
            self.problems.append(f"{spec.chosen.place}: datasets.{spec.name}: {error}")
            return Collection(spec, unknown, {}, (), str(error))
        except Exception as error:  # a stranger's plugin may fail in any way
            text = f"dataset '{spec.chosen.name}' failed while planning: {type(error).__name__}: {error}"
            return Collection(spec, unknown, {}, (), text)
        return Collection(spec, card, parts, tuple(dict.fromkeys(needs)), None)


@dataclass
class Base(Datasets):
    """What planning a suite adds to planning its datasets."""

    suite: Suite = field(kw_only=True)
    collections: dict[str, Collection] = field(default_factory=dict)  # of the suite, by name
    tuned_on: dict[str, Collection] = field(default_factory=dict)  # by DATASET/SPLIT

    def analysis(self, chosen: Chosen) -> JSON:
        """What the steps of an analysis have in common."""
        record = chosen.entry.record
        absent = missing(record, chosen.entry.plugin.distribution)
        described = keys.method(chosen.entry, chosen.params, self.digest)
        needs = [absent] if absent else []
        measures = {name: self.measured(name) for name in self.catalogue.names("measures")}
        work = work_of(chosen, chosen.params)
        return {"described": described, "work": work, "needs": needs, "measures": measures}

    def rules(self, collection: Collection) -> JSON:
        """`harness.scoring.rules.Rules` for a collection, as plain data."""
        offers = self.catalogue.entries["protocols"].get(self.suite.protocol or "", ())
        protocol = offers[0].record if len(offers) == 1 else None
        return {
            "drop": collection.spec.unknown_judgements == "drop",
            "depth": protocol.depth if protocol else None,
            "by_answers": protocol is not None and protocol.judgements == "answers",
        }

    def measured(self, measure: str) -> JSON:
        """What of a plugin's measure goes into a key; nothing of those that the harness has itself."""
        named = re.match(r"(?:document )?(\w+)", measure)
        offers: Sequence[Entry] = self.catalogue.entries["measures"].get(named[1], ()) if named else ()
        if len(offers) != 1:
            return None
        record, plugin = offers[0].record, offers[0].plugin
        sources = plugin_sources.digest(plugin.module, plugin.distribution)
        return {"name": record.name, "version": record.version, "sources": sources}

    def method(
        self, collection: Collection, chosen: Chosen, values: Any, leave_out: tuple[str, ...] = ()
    ) -> dict[str, JSON]:
        """What of a method goes into a key, with the records that it builds on."""
        described = keys.method(chosen.entry, values, self.digest, leave_out)
        depends_on = chosen.entry.record.depends_on
        if depends_on is not None and not collection.needs:  # what lacks data is not resolved
            found = [self.catalogue.find(kind, name) for kind, name in depends_on(values)]
            described["uses"] = [keys.method(entry, NoParams(), self.digest) for entry in found]
        return described

    def resolved(self, collection: Collection, chosen: Chosen, unit: Unit) -> tuple[Any, list[str]]:
        """The parameters with nothing left `auto`, and what the method lacks here."""
        record = chosen.entry.record
        absent = missing(record, chosen.entry.plugin.distribution)
        needs = [absent] if absent else []
        paths = keys.paths_in(chosen.params)
        lacking = [f"{shown_path(path)} (not there)" for path in paths if not path.exists()]
        needs += lacking
        if lacking:
            return chosen.params, needs
        card = collection.card
        facts = Facts(card.language, card.query_language or card.language, unit)
        try:
            values = record.resolve(chosen.params, facts) if record.resolve else chosen.params
            return values, [*needs, *(record.missing_files(values) if record.missing_files else ())]
        except HarnessError as error:
            if collection.needs and card.language is None:  # it may lie in what is not here
                return chosen.params, needs
            if isinstance(error, NoLanguage):  # of the dataset, and so told once for all that go by it
                spec = collection.spec
                what = "does not say its language, by which methods choose how to read it; say it here"
                text = f"{spec.chosen.place}: datasets.{spec.name}: {what} (`language: en`), {OR_AT_METHODS}"
            else:
                text = f"{chosen.place}: {chosen.name} on dataset '{collection.spec.name}': {error}"
            self.problems.append(text)
            raise Broken(text) from error
        except Exception as error:  # a stranger's plugin may fail in any way
            text = f"'{chosen.name}' failed while planning: {type(error).__name__}: {error}"
            raise Broken(text) from error

    def index_needs(self, chosen: Chosen, values: Any, needs: Sequence[str]) -> list[str]:
        """Of what a method lacks, that without which it cannot index: another system may share the index
        and search it otherwise."""
        record = chosen.entry.record
        defaults = {
            name: field.default
            for name, (field, _) in params.fields_of(type(values)).items()
            if name in record.search_only and field.default is not dataclasses.MISSING
        }
        if not defaults:
            return list(needs)
        plain = dataclasses.replace(values, **defaults)
        absent = missing(record, chosen.entry.plugin.distribution)
        paths = [path for path in keys.paths_in(plain) if not path.exists()]
        if absent or paths:
            return [*([absent] if absent else []), *(f"{shown_path(path)} (not there)" for path in paths)]
        return [
            need for need in needs if record.missing_files is not None and need in record.missing_files(plain)
        ]

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
            named(chosen.name, kept),
            *(["documents"] if unit == "document" else []),
            *(f"+{x}" for x in stages),
        ]
        return " ".join(words)


def named(name: str, given: dict[str, JSON]) -> str:
    """`bm25 (k1=0.9)`: a method with the parameters that a suite gives it."""
    pairs = [f"{key}={params.shown(value)}" for key, value in given.items()]
    return f"{name} ({', '.join(pairs)})" if pairs else name


def work_of(chosen: Chosen, values: Any) -> JSON:
    kind = next(kind for kind, record in KINDS.items() if type(chosen.entry.record) is record)
    plugin = f"{chosen.entry.plugin.distribution} {chosen.entry.plugin.version}"
    return {"kind": kind, "name": chosen.name, "params": params.plain(values), "plugin": plugin}
