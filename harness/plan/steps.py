"""The base of planning: steps that are added once, collections, and the descriptions of methods for keys."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Any, NoReturn, Self

from harness.catalogue import KINDS, Catalogue, Entry, missing_modules, params
from harness.catalogue.rehearsal import Rehearsals
from harness.errors import HarnessError, NoLanguage
from harness.plan import answers, keys, plugin_sources
from harness.plan.graph import Analysis, Collection, Step
from harness.plan.guard import Broken, guarded
from harness.plan.keys import Digest
from harness.plan.kinds import FORMATS, PARTS
from harness.problems import Keys, Need, Place, Problem, exists, missing_path, unknown
from harness.records import NoParams
from harness.suite import Chosen, DatasetSpec, Suite
from harness.types import JSON, Card, Facts, Inputs, Part, Unit

OR_AT_METHODS = "or choose at each method, as in `analyser: english` (harness list analysers)"


@dataclass
class Datasets:
    """The state of planning datasets, with each step and each problem once."""

    catalogue: Catalogue
    digest: Digest
    steps: dict[str, Step] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    timeout: float | None = None  # seconds that one call of a plugin may take
    rehearsals: Rehearsals = field(init=False)

    def __post_init__(self) -> None:
        self.rehearsals = Rehearsals(self.timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.rehearsals.close()

    def add(
        self, kind: str, dataset: str, subject: str, described: JSON, work: JSON, inputs: Sequence[str],
        needs: Sequence[Need],
    ) -> str:  # fmt: skip
        """Add a step unless there is one with its key. Returns the step's id."""
        full = {"kind": kind, "format": FORMATS[kind], **described, "inputs": list(inputs)}
        inherited = [need for step in inputs for need in self.steps[step].needs]
        step = Step(
            kind, keys.key(full), dataset, subject, full, {**work, "inputs": list(inputs)}, tuple(inputs),
            tuple(dict.fromkeys([*needs, *inherited])),
        )  # fmt: skip
        self.steps.setdefault(step.id, step)
        return step.id

    def refuse(self, place: Place | None, path: Keys, text: str) -> NoReturn:
        """Note a user's mistake and raise Broken, because the rows that depend on it cannot be planned."""
        problem = Problem(place, path, text)
        self.problems.append(problem)
        raise Broken(str(problem))

    def guarded(self, chosen: Chosen) -> AbstractContextManager[None]:
        return guarded(chosen.name, self.timeout)

    def rehearse(self, chosen: Chosen, values: Any, facts: Facts | None = None) -> None:
        """Try the calls of another author's plugin in a child process. Raises Broken if they would end or
        hang this process."""
        with self.guarded(chosen):
            plugin = chosen.entry.plugin
            sources = plugin_sources.digest(plugin.module, plugin.distribution)
        crash = self.rehearsals.crash_of(chosen.entry, sources, values, facts)
        if crash is not None:
            raise Broken(f"'{chosen.name}' {crash}")

    def collection(self, spec: DatasetSpec) -> Collection:
        record, values = spec.chosen.entry.record, spec.chosen.params
        unknown = Card(None, "?")
        parts: dict[Part, str] = {}
        needs: list[Need] = []
        try:
            self.rehearse(spec.chosen, values)
            with self.guarded(spec.chosen):
                if absent := needs_of(spec.chosen, values):
                    return Collection(spec, unknown, {}, tuple(absent), None)
                source = record.build(values)
                card = answers.card(source)
                inputs_by_part = limited_inputs({part: answers.inputs(source, part) for part in PARTS}, spec)
                method = keys.method(spec.chosen.entry, NoParams(), self.digest)
            for part, inputs in inputs_by_part.items():
                absent = [missing_path(path) for path in inputs.files if not exists(path)]
                needs += absent
                described = {
                    "method": method,
                    "params": params.plain(inputs.params),
                    "files": [keys.addressed(path, self.digest) for path in inputs.files],
                }
                work = {"method": work_of(spec.chosen, values)}
                if part == "corpus":
                    work["file_bytes"] = sum(file_bytes(path) for path in inputs.files)
                if limited := limits_of(spec, part):
                    described["limited"] = work["limited"] = limited
                parts[part] = self.add(part, spec.name, "", described, work, (), absent)
        except HarnessError as error:
            self.problems += error.below(spec.chosen.place, ("datasets", spec.name))
            return Collection(spec, unknown, {}, (), str(error))
        except Broken as error:
            return Collection(spec, unknown, {}, (), f"dataset {error}")
        return Collection(spec, card, parts, tuple(dict.fromkeys(needs)), None)


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
        said = None if named_by is None else getattr(chosen.params, named_by)
        noted = len(self.problems)
        try:
            self.rehearse(chosen, chosen.params)
            with self.guarded(chosen):
                left_out = (named_by,) if said is not None else ()
                described = keys.method(chosen.entry, chosen.params, self.digest, left_out)
                work = work_of(chosen, chosen.params)
            if said is not None:
                given = next(iter(self.collections.values()))
                described["encoder"], encoder, more = self.encoder(given, chosen, said)
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

    def encoder(self, given: Collection, chosen: Chosen, said: Any) -> tuple[JSON, JSON, list[Need]]:
        """The parts of the retriever that a maker or an analysis encodes texts with: its description for the
        key, its work, and its needs. `said` is what the parameter says: `{RETRIEVER: {parameters}}`."""
        path = (chosen.name, str(chosen.entry.record.encoder))
        if len(said) != 1:
            text = "expected one retriever with its parameters: {dense: {model: ...}}"
            self.refuse(chosen.place, path, text)
        (name, inner), *_ = said.items()
        try:
            entry = self.catalogue.find("retrievers", name)
        except HarnessError as error:
            self.refuse(chosen.place, path, str(error))
        values, problems = params.convert(entry.record.params, inner or {}, self.suite.path.parent)
        if problems:
            self.refuse(chosen.place, (*path, name, *problems[0].path), problems[0].text)
        retriever = Chosen(entry, dict(inner or {}), values, chosen.place)
        values, needs = self.resolved(given, retriever, "passage")
        return self.method(given, retriever, values), {"method": work_of(retriever, values)}, needs

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
        """The description of a method for a key, with the records that the method builds on."""
        with self.guarded(chosen):
            described = keys.method(chosen.entry, values, self.digest, leave_out)
            record = chosen.entry.record
            # parameters are not resolved while data is missing, so names among them may still be `auto`
            asked = record.depends_on is not None and not collection.needs
            names = answers.depends_on(record, values) if asked else None
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
            name: value for name, value in chosen.given.items() if name not in chosen.entry.record.search_only
        }
        words = [
            named(chosen.name, kept),
            *(["documents"] if unit == "document" else []),
            *(f"+{stage}" for stage in stages),
        ]
        return " ".join(words)


def file_bytes(path: Path) -> int:
    """The size of a file, or of the files in a folder; 0 for what cannot be looked up."""
    try:
        stats = [file.stat() for file in (path.rglob("*") if path.is_dir() else (path,))]
    except OSError:
        return 0
    return sum(stat.st_size for stat in stats if S_ISREG(stat.st_mode))


def limits_of(spec: DatasetSpec, part: Part) -> dict[str, int]:
    """The limits of a trial that change a part of its dataset. A limit of queries changes the corpus only
    with a sample, because the queries decide which passages must be in the sample."""
    if part == "corpus":
        return spec.limits if spec.sample is not None else {}
    return {name: number for name, number in spec.limits.items() if name == "queries"}


def limited_inputs(inputs: Mapping[Part, Inputs], spec: DatasetSpec) -> dict[Part, Inputs]:
    """The inputs of each part of a limited dataset. The queries that are kept depend on the judgements, and
    the passages of a sample on the queries and judgements, so these parts have further inputs."""
    needed: dict[Part, tuple[Part, ...]] = {}
    if spec.limit is not None:
        needed |= {"queries": ("judgements",), "judgements": ("queries",)}
    if spec.sample is not None:
        needed["corpus"] = ("queries", "judgements")
    joined = {}
    for part, own in inputs.items():
        others = [inputs[name] for name in needed.get(part, ())]
        further = {f"of {name}": inputs[name].params for name in needed.get(part, ())}
        files = (file for other in (own, *others) for file in other.files)
        joined[part] = Inputs({**own.params, **further}, tuple(dict.fromkeys(files)))
    return joined


def named(name: str, given: dict[str, JSON]) -> str:
    """A method with the parameters that a suite gives it, such as `bm25 (k1=0.9)`. Long values are left out:
    texts of several lines, and mappings other than a made model."""
    kept = {
        key: value
        for key, value in given.items()
        if not ("\n" in value if isinstance(value, str) else isinstance(value, dict) and "made" not in value)
    }
    pairs = [f"{key}={params.shown(value)}" for key, value in kept.items()]
    return f"{name} ({', '.join(pairs)})" if pairs else name


def work_of(chosen: Chosen, values: Any) -> JSON:
    kind = next(kind for kind, record in KINDS.items() if type(chosen.entry.record) is record)
    plugin = f"{chosen.entry.plugin.distribution} {chosen.entry.plugin.version}"
    cores = chosen.entry.record.cores
    work = {
        "kind": kind, "name": chosen.name, "params": params.plain(values), "plugin": plugin, "cores": cores,
        "resources": dict(chosen.resources),
    }  # fmt: skip
    reason = chosen.entry.record.unkeyed(values) if chosen.entry.record.unkeyed else None
    return {**work, "unkeyed": reason} if reason else work


def needs_of(chosen: Chosen, values: Any) -> list[Need]:
    """The needs of a method with the parameters `values` that are missing here: modules and files."""
    return [*missing_modules_of(chosen), *answers.missing_files(chosen.entry.record, values)]


def missing_modules_of(chosen: Chosen) -> list[Need]:
    need = missing_modules(chosen.entry.record, chosen.entry.plugin.distribution)
    return [] if need is None else [need]


def missing_paths(values: Any) -> list[Need]:
    return [missing_path(path) for path in params.paths_in(values) if not exists(path)]
