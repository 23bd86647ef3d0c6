"""`harness datasets`: shows the identity card of a dataset, exports it, and downloads missing data."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from harness import catalogue, plan, suite, user_cache
from harness.catalogue import Catalogue, params
from harness.cli import arguments as shared
from harness.collection import cards
from harness.contracts import Fetching, Traced
from harness.errors import HarnessError, Problems
from harness.execution import open_dataset, progress
from harness.plan.graph import Collection, Step
from harness.problems import Problem, shown_path
from harness.running import made
from harness.store.artifacts import Store
from harness.suite import Chosen, DatasetSpec, Suite
from harness.types import JSON, PARTS

WIDTH = 100
_COUNTS = (
    ("documents", "documents"), ("titled_documents", "with a title"), ("passages", "passages"),
    ("candidates", "that can be retrieved"), ("empty_passages", "without text"), ("queries", "queries"),
    ("queries_without_judgement", "without a judgement"),
    ("queries_without_positive", "judged, without a positive"), ("judgements", "judgements"),
    ("judged_passages", "passages judged"), ("positives", "positives (grade 1 or more)"),
    ("judgements_of_unknown_passages", "of passages that are not there"),
    ("judgements_of_unknown_queries", "of queries that are not asked"),
)  # fmt: skip
_SPREADS = (
    ("passages_per_document", "passages a document"), ("passage_characters", "characters a passage"),
    ("passage_words", "words a passage"), ("title_words", "words a title"),
    ("query_characters", "characters a query"),
    ("query_words", "words a query"), ("judgements_per_query", "judgements a judged query"),
    ("positives_per_query", "positives a judged query"),
)  # fmt: skip
_COLUMNS = ("mean", "sd", "min", *(f"p{q}" for q in cards.PERCENTILES), "max")


def arguments(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, work, text in (
        ("show", show, "print a collection's identity card: counts, lengths, judgements"),
        ("fetch", fetch, "download the files of a collection that are not here"),
    ):
        action = actions.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        action.set_defaults(work=work)
        of = "a suite, SUITE#DATASET for one of its datasets, or one of `harness list datasets`"
        action.add_argument("target", metavar="SUITE|NAME", help=of)
        pairs = "parameters of the dataset that is named, as path=data/scifact"
        action.add_argument("given", nargs="*", metavar="PARAMETER=VALUE", help=pairs)
        if work is show:
            shared.store(action)
    text = "write a dataset of a suite as files for other tools, or the pool that it makes"
    action = actions.add_parser("export", help=text, description=text[0].upper() + text[1:] + ".")
    action.set_defaults(work=export)
    action.add_argument("suite", type=Path, metavar="SUITE", help="the suite's file")
    action.add_argument("name", metavar="NAME", help="one of its datasets")
    form = "the form to write: beir, dureader, t2ranking, trec, mteb, pool, or a plugin's"
    action.add_argument("--form", metavar="FORM", required=True, help=form)
    action.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="a folder that is new or empty"
    )
    shared.store(action)


def show(options: argparse.Namespace) -> int:
    """Prints the cards of datasets. Parts that the store lacks are read into it, as by a run."""
    records = catalogue.load()
    store = Store(options.store or user_cache.default_store()).open()
    specs, whole = _specs(options, records)
    planned = []
    problems: list[Problem] = []
    for spec in specs:
        try:
            planned.append(plan.dataset(spec, records, store.digests.of, whole))
        except HarnessError as error:
            problems += error.problems
    if problems:
        raise Problems(problems)
    return max(_show(collection, steps, store) for collection, steps in planned)


def export(options: argparse.Namespace) -> int:
    """Exports a dataset by the command of a plugin that writes the form."""
    from harness.cli import plugin_commands

    words = [f"--form={options.form}", f"--out={options.out}", "--", str(options.suite), options.name]
    if options.store:
        words.insert(0, f"--store={options.store}")
    return plugin_commands.load().run_form("dataset_forms", options.form, (), words)


def fetch(options: argparse.Namespace) -> int:
    """Downloads missing data of datasets whose plugin knows where the data are."""
    specs, _ = _specs(options, catalogue.load())
    for spec in specs:
        source = spec.chosen.entry.record.build(spec.chosen.params)
        if not isinstance(source, Fetching):
            where = source.card().url
            hint = f"; see {where}" if where else ""
            raise HarnessError(
                f"{spec.name}: '{spec.chosen.name}' has nothing that can be fetched beforehand{hint}"
            )
        files = list(source.fetch())
        for file in files:
            shared.say(f"{spec.name}: {shown_path(file)}")
        if not files:
            shared.say(f"{spec.name}: everything is here")
    return 0


def _specs(options: argparse.Namespace, records: Catalogue) -> tuple[tuple[DatasetSpec, ...], Suite | None]:
    """The named datasets, with the suite that they are from, if any."""
    target, _, wanted = options.target.partition("#")
    if Path(target).suffix not in (".yaml", ".yml"):
        return (_of_plugin(records, options.target, options.given),), None
    if options.given:
        raise HarnessError(f"'{options.given[0]}': a suite has its parameters; leave this out")
    whole = suite.load(Path(target), records)
    return of_suite(whole, wanted), whole


def of_suite(loaded: Suite, wanted: str) -> tuple[DatasetSpec, ...]:
    specs = tuple(spec for spec in loaded.datasets if wanted in ("", spec.name))
    if not specs:
        names = ", ".join(spec.name for spec in loaded.datasets)
        raise HarnessError(f"{shown_path(loaded.path)}: there is no dataset '{wanted}'; it has {names}")
    return specs


def _of_plugin(records: Catalogue, name: str, arguments: Sequence[str]) -> DatasetSpec:
    if name not in records.entries["datasets"] and Path(name).is_dir():
        raise HarnessError(f"{name}: is a folder; name the dataset that reads it, as `files path={name}`")
    entry = records.find("datasets", name)
    pairs = {}
    for text in arguments:
        key, equals, value = text.partition("=")
        if not equals:
            raise HarnessError(f"'{text}': expected PARAMETER=VALUE, as path=data/scifact")
        try:
            pairs[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            what = getattr(error, "problem", None) or "cannot be parsed"
            raise HarnessError(f"'{text}': is no YAML ({what}); check the quotes and brackets") from None
    values, problems = params.convert(entry.record.params, pairs, Path.cwd())
    if problems:
        raise Problems(problem._replace(path=(name, *problem.path)) for problem in problems)
    return DatasetSpec(name, Chosen(entry, pairs, values, None), "keep")


def _show(collection: Collection, steps: Mapping[str, Step], store: Store) -> int:
    shared.say("\n".join(_described(collection)))
    if not collection.parts or collection.needs:
        for need in collection.needs or (collection.error,):
            shared.say(f"  needs: {need}")
        return 1
    with progress.reporter(sys.stderr) as reporter:
        parts = open_dataset.made_parts(collection, steps, store, reporter)
    corpus, queries, judgements = (parts[part].folder for part in PARTS)
    facts = cards.card(corpus, queries, judgements, collection.card)
    shared.say("\n".join(_stages(collection, steps, store)))
    shared.say("\n".join([*_counted(facts), *_held_against(facts, collection)]))
    if facts["judgements_of_unknown_passages"]:
        shared.say("\n".join(_wrapped(_first_unknown(collection, corpus, judgements))))
    for part in PARTS:
        shared.say(f"  contents of the {part}: {open_dataset.contents_of(parts[part])}")
    return 0


def _described(collection: Collection) -> Iterator[str]:
    card, chosen = collection.card, collection.spec.chosen
    yield f"{collection.spec.name}: {chosen.entry.record.summary}"
    query_language = card.query_language or card.language
    also = f", queries {query_language}" if query_language != card.language else ""
    yield f"  split {card.split}, language {card.language or 'not said'}{also}"
    for label, text in (("licence", card.licence), ("cite", card.citation), ("from", card.url)):
        if text:
            yield from _wrapped(f"{label}: {text}")
    for note in (*card.notes, *card.flags):
        yield from _wrapped(f"note: {note}")


def _stages(collection: Collection, steps: Mapping[str, Step], store: Store) -> Iterator[str]:
    """Lines on how a dataset was made: what each stage took in, gave out and dropped."""
    for number, (step, known) in enumerate(made.stage_facts(collection, steps, store), start=1):
        yield ""
        yield f"  stage {number}: {step.subject}"
        for name, count in known["after"].items():
            before = known["before"].get(name)
            came = f" from {before:,}" if before is not None and before != count else ""
            yield f"  {count:>14,}  {name}{came}"
        for item in known["dropped"]:
            yield f"  {-item['count']:>14,}  {item['what']}: {item['why']}"
            for example in item["examples"]:
                yield f"  {'':16}such as {' '.join(example.split())[: WIDTH - 26]}"
        for name, value in known["facts"].items():
            yield from _wrapped(f"{name}: {value}")
        for flag in known["flags"]:
            yield from _wrapped(f"note: {flag}")


def _counted(facts: dict[str, JSON]) -> Iterator[str]:
    yield ""
    for key, words in _COUNTS:
        if facts[key] or key in ("documents", "passages", "queries", "judgements"):
            yield f"  {facts[key]:>14,}  {words}"
    whole = sum(facts["levels"].values())
    levels = ", ".join(
        f"{count:,} of grade {grade} ({count / whole:.1%})" for grade, count in facts["levels"].items()
    )
    yield f"  judgements: {levels or 'none'}"
    if facts["labels"]:
        labels = ", ".join(f"{count:,} {label}" for label, count in facts["labels"].items())
        yield from _wrapped(f"labels of judged pairs: {labels}")
    yield ""
    yield f"  {'':26}" + "".join(f"{column:>9}" for column in _COLUMNS)
    for key, words in _SPREADS:
        if facts[key]:
            yield f"  {words:26}" + "".join(_cell(facts[key][column]) for column in _COLUMNS)
    yield ""


def _cell(value: float) -> str:
    return f"{value:>9,.1f}" if isinstance(value, float) else f"{value:>9,}"


def _held_against(facts: dict[str, JSON], collection: Collection) -> Iterator[str]:
    """Lines that compare the dataset with the counts that papers print for the whole collection."""
    officials = collection.card.official
    part = cards.share(facts, officials)
    if part is not None:
        yield f"  {part:.2%} of the official collection is here"
    for check in cards.checks(facts, officials):
        here = "not counted" if check.here is None else f"{check.here:,}"
        word = "beside" if check.agrees is None else "agrees" if check.agrees else "differs"
        yield f"  {word:8} {check.name}: {check.printed:,} in {check.source}, {here} here"
    if officials:
        yield ""


def _first_unknown(collection: Collection, corpus: Path, judgements: Path) -> str:
    query, passage = cards.first_unknown(corpus, judgements) or ("", "")
    chosen = collection.spec.chosen
    source = chosen.entry.record.build(chosen.params)
    where = f"{source.locate_judgement(query, passage)}: " if isinstance(source, Traced) else ""
    return f"{where}the passage '{passage}' is judged for query '{query}', and is not in the corpus"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
