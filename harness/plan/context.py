"""What all planning shares, and how a method that a suite chooses becomes the method of a step."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from msgspec import structs

from harness import made_models
from harness.catalogue import Catalogue, Entry, params
from harness.catalogue.rehearsal import Rehearsals
from harness.errors import HarnessError, NoLanguage
from harness.made_models import Made, Planned
from harness.plan import keys, methods, plugin_calls
from harness.plan.graph import Collection, Graph, Output
from harness.plan.keys import Digest
from harness.plan.methods import Resolved
from harness.plan.plugin_calls import Broken, guarded
from harness.problems import Keys, Need, Place, Problem
from harness.records import NoParams
from harness.steps import Train, Validate
from harness.steps.record import Backbone, Bound, Method, Model, Uses
from harness.steps.rules import Measured, Rules
from harness.steps.texts import Encoder
from harness.suite import Chosen, DatasetSpec, Suite
from harness.types import Facts, Unit

if TYPE_CHECKING:
    from harness.plan.models import Trained

OR_AT_METHODS = "or choose at each method, as in `analyser: english` (harness list analysers)"


class SplitOfItsOwn(NamedTuple):
    """A split that is tuned or trained on, so that it must not be scored."""

    name: str
    place: Place
    path: Keys
    advice: str


@dataclass
class Memo:
    """What is planned once, and asked for often."""

    collections: dict[str, Collection] = field(default_factory=dict)  # the suite's collections by name
    splits: dict[str, Collection] = field(default_factory=dict)  # other splits, by DATASET/SPLIT
    outputs: dict[tuple[str, str], Output | Broken] = field(default_factory=dict)  # by dataset and system
    # by name and seed; None while a model is being planned
    trained: dict[tuple[str, int], Trained | Broken | None] = field(default_factory=dict)
    begun: list[str] = field(default_factory=list)  # the made datasets that are being planned
    unscored: list[SplitOfItsOwn] = field(default_factory=list)
    refused: set[tuple[Place | None, str, str]] = field(
        default_factory=set
    )  # methods with why they cannot be


@dataclass(frozen=True)
class Context:
    """What the functions of this package share while a suite is planned."""

    suite: Suite
    catalogue: Catalogue
    digest: Digest
    rehearsals: Rehearsals
    timeout: float | None  # seconds that one call of a plugin may take
    # the step that makes a model, which `harness.plan.models` plans; it needs methods as these need models
    model_of: Callable[[Context, Made, Place | None], Planned]
    graph: Graph = field(default_factory=Graph)
    problems: list[Problem] = field(default_factory=list)
    memo: Memo = field(default_factory=Memo)

    def refuse(self, place: Place | None, path: Keys, text: str) -> NoReturn:
        """Note a user's mistake and raise Broken, because the rows that depend on it cannot be planned."""
        problem = Problem(place, path, text)
        self.problems.append(problem)
        raise Broken(str(problem))

    def guarded(self, chosen: Chosen) -> AbstractContextManager[None]:
        return guarded(chosen.name, self.timeout)


def alone(spec: DatasetSpec) -> Suite:
    """A suite of one dataset."""
    return Suite(
        name=spec.name, description="", path=Path(), datasets=(spec,), systems=(), measures=(), analyses=(),
        protocol=None, depth=1, seed=0, timeout=None, memory=None, scoring_place=None, digest="",
    )  # fmt: skip


def rehearse(context: Context, chosen: Chosen, values: Any, facts: Facts | None = None) -> None:
    """Try the calls of another author's plugin in a child process. Raises Broken if they end or hang it."""
    with context.guarded(chosen):
        plugin = chosen.entry.plugin
        sources = keys.sources(plugin.module, plugin.distribution)
    crash = context.rehearsals.crash_of(chosen.entry, sources, values, facts)
    if crash is not None:
        raise Broken(f"'{chosen.name}' {crash}")


def facts_of(collection: Collection, unit: Unit) -> Facts:
    card = collection.card
    return Facts(card.language, card.query_language or card.language, unit)


def resolved(
    context: Context, collection: Collection, chosen: Chosen, unit: Unit, leave_out: Sequence[str] = ()
) -> Resolved:
    """A method for a step on `collection`. The parameters in `leave_out` are not keyed. Raises Broken."""
    values, needs = _values(context, collection, chosen, unit)
    method = _method(context, collection, chosen, values, unit, leave_out)
    return Resolved(chosen, values, method, tuple(needs))


def of_index(context: Context, collection: Collection, method: Resolved, unit: Unit) -> Resolved:
    """The same method for the step of its index: without the parameters of searching alone and their needs,
    because another system may share the index and search it with other parameters."""
    chosen, values = method.chosen, method.values
    kept = _method(context, collection, chosen, values, unit, chosen.entry.record.search_only)
    return method._replace(method=kept, needs=tuple(_index_needs(context, chosen, values, method.needs)))


def _values(context: Context, collection: Collection, chosen: Chosen, unit: Unit) -> tuple[Any, list[Need]]:
    """The method's parameters with every `auto` and every made model replaced, and the missing needs."""
    given = made_models.replaced(
        chosen.params, lambda reference: context.model_of(context, reference, chosen.place)
    )
    given = _of_collection(given, collection)
    record, name = chosen.entry.record, collection.spec.name
    facts, absent = facts_of(collection, unit), methods.missing_paths(given)
    rehearse(context, chosen, given, None if absent else facts)
    if absent:
        return given, [*methods.missing_modules_of(chosen), *absent]
    try:
        with context.guarded(chosen):
            values = plugin_calls.resolved(record, given, facts)
            return values, methods.needs_of(chosen, values)
    except HarnessError as error:
        if collection.needs and facts.language is None and _by_language(context, chosen, given, unit, error):
            return given, methods.missing_modules_of(chosen)  # a missing file may hold the language
        if isinstance(error, NoLanguage):  # a problem of the dataset, reported once
            what = "does not say its language, by which methods choose how to read it; say it here"
            context.refuse(
                collection.spec.chosen.place, ("datasets", name), f"{what} (`language: en`), {OR_AT_METHODS}"
            )
        refusal = (chosen.place, chosen.name, str(error))
        text = f"{chosen.name} on dataset '{name}': {error}" if name else f"{chosen.name}: {error}"
        if refusal in context.memo.refused:  # on another dataset, most likely on every dataset
            raise Broken(text) from None
        context.memo.refused.add(refusal)
        context.refuse(chosen.place, (), text)


def _by_language(context: Context, chosen: Chosen, given: Any, unit: Unit, error: HarnessError) -> bool:
    """Whether a method's refusal may depend on the language of the dataset, which is not known."""
    if isinstance(error, NoLanguage):
        return True
    try:
        with context.guarded(chosen):
            plugin_calls.resolved(chosen.entry.record, given, Facts("en", "en", unit))
    except HarnessError as further:
        return str(further) != str(error)
    return True


def _of_collection(values: Any, collection: Collection) -> Any:
    """The parameters with the names of the dataset and its split in paths that have a place for them."""
    split = collection.card.split
    names = {"{dataset}": collection.spec.name.removesuffix(f"/{split}"), "{split}": split}

    def named(path: Path) -> Path:
        text = str(path)
        for place, name in names.items():
            text = text.replace(place, name)
        return Path(text)

    return params.with_paths(values, named) if any("{" in str(p) for p in params.paths_in(values)) else values


def _method(
    context: Context, collection: Collection, chosen: Chosen, values: Any, unit: Unit,
    leave_out: Sequence[str],
) -> Method:  # fmt: skip
    """The method, with the records and the models that it builds on. Raises Broken if a file that a parameter
    names cannot be read."""
    try:
        with context.guarded(chosen):
            method = methods.method(chosen, values, context.digest, facts_of(collection, unit), leave_out)
    except HarnessError as error:
        context.refuse(chosen.place, (), f"{chosen.name}: {error}")
    with context.guarded(chosen):
        record = chosen.entry.record
        # parameters are not resolved while data is missing, so names among them may still be `auto`
        can_ask = record.depends_on is not None and not collection.needs
        names = plugin_calls.depends_on(record, values) if can_ask else None
    entries = [context.catalogue.find(kind, name) for kind, name in names or ()]
    return structs.replace(
        method,
        uses=tuple(methods.uses(entry, NoParams(), context.digest) for entry in entries),
        backbones=_backbones(context.graph, method.bound),
    )


def _backbones(graph: Graph, bound: Sequence[Bound]) -> tuple[Backbone, ...]:
    """The models without which the made models among a method's parameters cannot be loaded. A made model may
    change another one, and that one a third."""
    needed: list[Backbone] = []
    for item in bound:
        if isinstance(item.value, Model):
            training = graph.record(item.value.step)
            if isinstance(training, Validate):
                training = graph.record(training.checkpoints[0])
            if isinstance(training, Train) and training.backbone is not None:
                needed += [training.backbone, *training.method.backbones]
    return tuple(dict.fromkeys(needed))


def _index_needs(context: Context, chosen: Chosen, values: Any, needs: Sequence[Need]) -> list[Need]:
    """Those of a method's needs that indexing has."""
    defaults = {
        name: field.default
        for name, (field, _) in params.fields_of(type(values)).items()
        if name in chosen.entry.record.search_only and field.default is not dataclasses.MISSING
    }
    if not defaults:
        return list(needs)
    try:
        plain = dataclasses.replace(values, **defaults)
    except ValueError:  # the defaults do not go with the other parameters
        return list(needs)
    if absent := [*methods.missing_modules_of(chosen), *methods.missing_paths(plain)]:
        return absent
    rehearse(context, chosen, plain)
    with context.guarded(chosen):
        wanted = methods.needs_of(chosen, plain)
    return [need for need in needs if need in wanted]


def helper(
    context: Context, collection: Collection, chosen: Chosen, parameter: str, kind: str = "retrievers"
) -> tuple[Encoder, tuple[Need, ...]]:
    """The retriever that a maker or an analysis encodes texts with, or the re-ranker that it scores pairs
    with, and its needs. The parameter's value is `{METHOD: {parameters}}`."""
    path, given = (chosen.name, parameter), getattr(chosen.params, parameter)
    if len(given) != 1:
        example = "{dense: {model: ...}}" if kind == "retrievers" else "{crossencoder: {models: [...]}}"
        text = f"expected one {kind[:-1]} with its parameters: {example}"
        context.refuse(chosen.place, path, text)
    (name, inner), *_ = given.items()
    try:
        entry = context.catalogue.find(kind, name)
    except HarnessError as error:
        context.refuse(chosen.place, path, str(error))
    values, problems = params.convert(entry.record.params, inner or {}, context.suite.path.parent)
    if problems:
        context.refuse(chosen.place, (*path, name, *problems[0].path), problems[0].text)
    if kind == "rerankers" and entry.record.indexed:
        context.refuse(chosen.place, path, f"'{name}' needs an index; name one that reads pairs of texts")
    method = resolved(context, collection, Chosen(entry, dict(inner or {}), values, chosen.place), "passage")
    return Encoder(method.method), method.needs


def rules(context: Context, collection: Collection) -> Rules:
    """The rules for scoring a collection."""
    offers = context.catalogue.entries["protocols"].get(context.suite.protocol or "", ())
    protocol = offers[0].record if len(offers) == 1 else None
    return Rules(
        drop=collection.spec.unknown_judgements == "drop",
        depth=protocol.depth if protocol else None,
        by_answers=protocol is not None and protocol.judgements == "answers",
    )


def measured(context: Context, measure: str, collection: Collection) -> Measured:
    return Measured(measure, rules(context, collection), plugin_of(context, measure))


def plugin_of(context: Context, measure: str) -> Uses | None:
    """A plugin's measure for a key, or None for the harness' own measures."""
    named = re.match(r"(?:document )?(\w+)", measure)
    offers: Sequence[Entry] = context.catalogue.entries["measures"].get(named[1], ()) if named else ()
    if len(offers) != 1:
        return None
    record, plugin = offers[0].record, offers[0].plugin
    sources = keys.sources(plugin.module, plugin.distribution)
    return Uses(record.name, record.version, sources)
