"""The base of planning a suite: the descriptions of methods for keys, and their needs."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.catalogue import Entry, params
from harness.errors import HarnessError, NoLanguage
from harness.plan import answers, keys, plugin_sources
from harness.plan.chosen_methods import missing_modules_of, missing_paths, named, needs_of, work_of
from harness.plan.dataset_steps import Datasets
from harness.plan.graph import Analysis, Collection
from harness.plan.guard import Broken
from harness.problems import Need, Problem, unknown
from harness.records import NoParams
from harness.suite import Chosen, Suite
from harness.types import JSON, Facts, Unit

OR_AT_METHODS = "or choose at each method, as in `analyser: english` (harness list analysers)"


@dataclass
class Base(Datasets):
    """The state of planning a suite: its collections, the splits that it tunes or trains on, and its
    steps."""

    suite: Suite = field(kw_only=True)
    collections: dict[str, Collection] = field(default_factory=dict)  # the suite's collections by name
    tuned_on: dict[str, Collection] = field(default_factory=dict)  # by DATASET/SPLIT

    def analysis(self, chosen: Chosen) -> Analysis:
        described: JSON = {}
        work: JSON = {}
        encoder, needs = None, missing_modules_of(chosen)
        named_by = chosen.entry.record.encoder
        encoder_given = None if named_by is None else getattr(chosen.params, named_by)
        noted = len(self.problems)
        try:
            self.rehearse(chosen, chosen.params)
            with self.guarded(chosen):
                left_out = (named_by,) if encoder_given is not None else ()
                described = keys.method(chosen.entry, chosen.params, self.digest, left_out)
                work = work_of(chosen, chosen.params)
            if encoder_given is not None:
                collection = next(iter(self.collections.values()))
                described["encoder"], encoder, more = self.encoder(collection, chosen, encoder_given)
                needs += more
        except Broken as error:
            if len(self.problems) == noted:  # not a user's mistake, which `refuse` has noted
                text = f"{error}; leave it out, and report it to its author"
                self.problems.append(Problem(chosen.place, ("analyses",), text))
        names = tuple(str(getattr(chosen.params, name)) for name in chosen.entry.record.datasets)
        scored = {spec.name for spec in self.suite.datasets if spec.scored}
        for name in names:
            if name not in scored:
                text = f"{unknown('dataset', name, scored)}; it must be scored"
                self.problems.append(Problem(chosen.place, ("analyses", chosen.name), text))
        return Analysis(
            datasets=names,
            name=chosen.name,
            described=described,
            work=work,
            measures={name: self.measured(name) for name in self.catalogue.names("measures")},
            needs=tuple(needs),
            encoder=encoder,
        )

    def encoder(
        self, collection: Collection, chosen: Chosen, encoder_given: Any
    ) -> tuple[JSON, JSON, list[Need]]:
        """The parts of the retriever that a maker or an analysis encodes texts with: its description for the
        key, its work, and its needs. `encoder_given` is the parameter's value:
        `{RETRIEVER: {parameters}}`."""
        path = (chosen.name, str(chosen.entry.record.encoder))
        if len(encoder_given) != 1:
            text = "expected one retriever with its parameters: {dense: {model: ...}}"
            self.refuse(chosen.place, path, text)
        (name, inner), *_ = encoder_given.items()
        try:
            entry = self.catalogue.find("retrievers", name)
        except HarnessError as error:
            self.refuse(chosen.place, path, str(error))
        values, problems = params.convert(entry.record.params, inner or {}, self.suite.path.parent)
        if problems:
            self.refuse(chosen.place, (*path, name, *problems[0].path), problems[0].text)
        retriever = Chosen(entry, dict(inner or {}), values, chosen.place)
        values, needs = self.resolved(collection, retriever, "passage")
        return self.method(collection, retriever, values), {"method": work_of(retriever, values)}, needs

    def rules(self, collection: Collection) -> JSON:
        """The rules for scoring a collection (`harness.scoring.rules.Rules`) as plain data."""
        offers = self.catalogue.entries["protocols"].get(self.suite.protocol or "", ())
        protocol = offers[0].record if len(offers) == 1 else None
        return {
            "drop": collection.spec.unknown_judgements == "drop",
            "depth": protocol.depth if protocol else None,
            "by_answers": protocol is not None and protocol.judgements == "answers",
        }

    def measured(self, measure: str) -> JSON:
        """The description of a plugin's measure for a key, or None for the harness' own measures."""
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
        """The description of a method for a key, with the records that the method builds on. Raises Broken if
        a file that a parameter names cannot be read."""
        try:
            with self.guarded(chosen):
                described = keys.method(chosen.entry, values, self.digest, leave_out)
        except HarnessError as error:
            self.refuse(chosen.place, (), f"{chosen.name}: {error}")
        with self.guarded(chosen):
            record = chosen.entry.record
            # parameters are not resolved while data is missing, so names among them may still be `auto`
            can_ask = record.depends_on is not None and not collection.needs
            names = answers.depends_on(record, values) if can_ask else None
        if names is not None:
            entries = [self.catalogue.find(kind, name) for kind, name in names]
            described["uses"] = [keys.method(entry, NoParams(), self.digest) for entry in entries]
        return described

    def resolved(self, collection: Collection, chosen: Chosen, unit: Unit) -> tuple[Any, list[Need]]:
        """The method's parameters with every `auto` replaced, and the needs that are missing here."""
        record = chosen.entry.record
        card, name = collection.card, collection.spec.name
        facts = Facts(card.language, card.query_language or card.language, unit)
        absent = missing_paths(chosen.params)
        self.rehearse(chosen, chosen.params, None if absent else facts)
        if absent:
            return chosen.params, [*missing_modules_of(chosen), *absent]
        try:
            with self.guarded(chosen):
                values = answers.resolved(record, chosen.params, facts)
                return values, needs_of(chosen, values)
        except HarnessError as error:
            if collection.needs and card.language is None:  # a missing file may hold the language
                return chosen.params, missing_modules_of(chosen)
            if isinstance(error, NoLanguage):  # a problem of the dataset, reported once
                what = "does not say its language, by which methods choose how to read it; say it here"
                self.refuse(
                    collection.spec.chosen.place, ("datasets", name),
                    f"{what} (`language: en`), {OR_AT_METHODS}",
                )  # fmt: skip
            self.refuse(chosen.place, (), f"{chosen.name} on dataset '{name}': {error}")

    def index_needs(self, chosen: Chosen, values: Any, needs: Sequence[Need]) -> list[Need]:
        """Those of a method's needs that indexing has. The needs of searching are left out, because another
        system may share the index and search it with other parameters."""
        record = chosen.entry.record
        defaults = {
            name: field.default
            for name, (field, _) in params.fields_of(type(values)).items()
            if name in record.search_only and field.default is not dataclasses.MISSING
        }
        if not defaults:
            return list(needs)
        try:
            plain = dataclasses.replace(values, **defaults)
        except ValueError:  # the defaults do not go with the other parameters
            return list(needs)
        absent = [*missing_modules_of(chosen), *missing_paths(plain)]
        if absent:
            return absent
        self.rehearse(chosen, plain)
        with self.guarded(chosen):
            wanted = needs_of(chosen, plain)
        return [need for need in needs if need in wanted]

    def texts(self, collection: Collection, context: tuple[str, ...], unit: Unit) -> JSON:
        language = collection.card.language
        return {
            "corpus": collection.parts["corpus"],
            "stages": list(context),
            "unit": unit,
            "language": language,
        }

    def variant(self, chosen: Chosen, context: tuple[str, ...], unit: Unit) -> str:
        """The subject of an index step: the method with the suite's parameters, the unit and the context."""
        stages = [self.steps[step].subject for step in context]
        kept = {
            name: value
            for name, value in chosen.as_written.items()
            if name not in chosen.entry.record.search_only
        }
        words = [
            named(chosen.name, kept),
            *(["documents"] if unit == "document" else []),
            *(f"+{stage}" for stage in stages),
        ]
        return " ".join(words)
