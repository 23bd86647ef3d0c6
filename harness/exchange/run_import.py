"""Turns run files made elsewhere into rows of a leaderboard, with measures and files like all other rows."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from harness.catalogue import OWN, Catalogue
from harness.collection import qrels_files
from harness.collection.judgements import excluded_positions
from harness.collection.queries import Judgements
from harness.errors import HarnessError, Problems
from harness.exchange import run_forms
from harness.exchange.run_forms import ForeignRun
from harness.execution import checked
from harness.execution.open_dataset import Opened, Unavailable, open_collection
from harness.execution.progress import Reporter
from harness.leaderboard import board_file, hints, ids_only, readme
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Board, Cost, Dataset, File, Provenance, Reported, Row, Step, SuiteFacts
from harness.plan import keys
from harness.problems import shown_path
from harness.running import preparation, scored_numbers
from harness.running.rows import columns_of, dataset_of, suite_facts
from harness.scoring import protocols
from harness.scoring.protocols import Scoring
from harness.scoring.run_files import Run
from harness.store import disk
from harness.store.artifacts import Store
from harness.suite import DatasetSpec, Suite
from harness.suite.systems import why_no_file
from harness.types import JSON, Hits

Naming: TypeAlias = Literal["file", "tag"]
ENDINGS = (".gz", ".run", ".trec", ".txt", ".tsv", ".res", ".json")  # left out of a system's name
DEPTH = 1000  # the default depth of a suite
STEP = "import"


class Foreign(NamedTuple):
    """A run file, and the name of the system that made it."""

    system: str
    path: Path
    read: ForeignRun

    @property
    def run(self) -> Run:
        return self.read.run


class Places(NamedTuple):
    """Where the suite, its dataset and the store are, for the `verify.yaml` beside the leaderboard."""

    suite: Path
    store: Path
    dataset: DatasetSpec


class Target(NamedTuple):
    """The dataset on which runs are scored, and the measures."""

    name: str  # the name of the leaderboard
    suite: SuiteFacts
    dataset: Dataset
    opened: Opened
    scoring: Scoring
    judgements: Judgements | None  # judgements to keep beside the leaderboard; None if a suite names them
    places: Places | None = None  # of a suite


def read_runs(paths: Sequence[Path], naming: Naming = "file", form: str | None = None) -> list[Foreign]:
    """Reads runs in `form`, or in the form that each file shows. Systems are named by the files or by the
    tags in them. Raises one error with the problems of all files."""
    by_system: dict[str, Foreign] = {}
    problems = []
    for path in paths:
        try:
            read = run_forms.read_run(path, form)
        except HarnessError as error:
            problems.append(str(error))
            continue
        system = read.run.tag if naming == "tag" else name_of(path)
        reason = why_no_file(system)
        if reason is not None:
            other = "file" if naming == "tag" else "tag"
            problems.append(f"{path}: '{system}' cannot name a system: {reason}, or name by {other}")
        elif system in by_system:
            problem = f"the name '{system}' is that of {by_system[system].path} already"
            problems.append(f"{path}: {problem}; rename the {naming} of one, or leave one out")
        else:
            by_system[system] = Foreign(system, path, read)
    if problems:
        raise Problems(problems)
    return list(by_system.values())


def name_of(path: Path) -> str:
    """The name of a file of a run or of judgements without its endings: `bm25.run.gz` is `bm25`."""
    name = path.name
    while (ending := next((end for end in ENDINGS if name.endswith(end)), "")) and name != ending:
        name = name.removesuffix(ending)
    return name


def on_qrels(
    qrels: Path,
    runs: Sequence[Foreign],
    catalogue: Catalogue,
    *,
    measures: Sequence[str] = (),
    protocol: str | None = None,
    depth: int = DEPTH,
    name: str,
    dataset: str | None = None,
    split: str = "test",
) -> Target:
    """A target whose dataset consists of judgements only. Its passages are those judged or ranked."""
    scoring = _scoring(measures, protocol, depth, catalogue)
    dataset = dataset or name_of(qrels.with_suffix("") if qrels.suffix == ".qrels" else qrels)
    for text, option in ((dataset, "--dataset"), (split, "--split")):
        reason = why_no_file(text)
        if reason is not None:
            raise HarnessError(f"{option} {text!r}: cannot name a file: {reason}")
    judgements, digest = ids_only.judgements_in(qrels)
    ranked = (passage for each in runs for passage in each.run.passage_ids)
    opened = ids_only.opened(judgements, digest, ranked)
    facts = {"depth": depth, "seed": 0, "protocol": protocol, "measures": list(measures)}
    digest_of_all = keys.key({**facts, "name": name, "dataset": [dataset, split, digest]})
    suite = SuiteFacts(digest=digest_of_all, depth=depth, seed=0, protocol=protocol, measures=tuple(measures))
    block = Dataset(
        name=dataset, split=split, plugin=None, params={}, language=None, query_language=None, licence="",
        citation="", url="", notes=("known by its judgements alone: neither passages nor queries were read",),
        unknown_judgements="keep", counts=opened.facts, digests={}, contents=opened.contents,
    )  # fmt: skip
    return Target(name, suite, block, opened, scoring, judgements)


def on_suite(
    suite: Suite, dataset: str | None, catalogue: Catalogue, store: Store, reporter: Reporter
) -> Target:
    """A suite's dataset, scored as the suite says. Its rows can be merged into the suite's leaderboard."""
    prepared = preparation.prepare(suite, catalogue, store)
    names = list(prepared.plan.collections)
    if dataset is None and len(names) == 1:
        dataset = names[0]
    where = shown_path(suite.path)
    if dataset is None or dataset not in names:
        problem = f"has no dataset '{dataset}'" if dataset else "has several datasets"
        raise HarnessError(f"{where}: {problem}; name one with --dataset: {', '.join(names)}")
    collection = prepared.plan.collections[dataset]
    try:
        opened = open_collection(collection, prepared.plan.steps, store, reporter)
    except Unavailable as error:
        raise HarnessError(f"{where}: datasets.{dataset}: {error}") from None
    block = dataset_of(collection, opened)
    places = Places(suite.path, store.root, collection.spec)
    return Target(suite.name, suite_facts(suite), block, opened, prepared.scoring, None, places)


def write(target: Target, runs: Sequence[Foreign], out: Path, command: str) -> Leaderboard:
    """Scores the runs and writes their leaderboard, with its files, into `out`. Writes nothing if a run
    cannot be scored."""
    _refuse_to_replace(out)
    ranked, problems = [], []
    for each in runs:
        try:
            ranked.append((each, *_ranking(target, each)))
        except HarnessError as error:
            problems.append(f"{each.path}: {error}")
    if problems:
        raise Problems(problems)
    with disk.explaining(out):
        cited = _judgements(target, out)
        rows = [_row(target, each, hits, facts, out, cited) for each, hits, facts in ranked]
        board = Leaderboard(_content(target, rows), out)
        board.write()
        readme.write(out, readme.page(board, command))
        if target.places is not None:
            hints.write(out, target.places.suite, target.places.store, [target.places.dataset])
    return board


def _scoring(measures: Sequence[str], protocol: str | None, depth: int, catalogue: Catalogue) -> Scoring:
    """The scoring by these measures or this protocol. Raises HarnessError if it needs more than these."""
    if protocol is not None:
        try:
            scoring: Scoring | None = protocols.of_protocol(protocol, depth, catalogue)
        except HarnessError as error:
            raise HarnessError(f"--protocol: {error}") from error
    else:
        scoring, problems = protocols.of_measures(measures, depth, catalogue)
        if problems:
            raise Problems(f"--measures: {problem.text}" for problem in problems)
    assert scoring is not None
    lacking = [column.label for column in scoring.columns if column.unit != "passage"]
    if scoring.by_answers or lacking:
        problem = "looks for answers in texts" if scoring.by_answers else f"'{lacking[0]}' is of documents"
        raise HarnessError(
            f"--{'protocol' if protocol else 'measures'}: {problem}, and judgements tell neither texts nor "
            "the documents of passages; score on a suite's dataset (--suite SUITE), or by other measures"
        )
    return scoring


def _ranking(target: Target, each: Foreign) -> tuple[Hits, dict[str, JSON]]:
    """The ranking that is scored, and facts on how it differs from the one in the file."""
    opened, depth = target.opened, target.suite.depth or DEPTH
    corpus = opened.corpus
    hits = ids_only.placed(each.run, "passage", opened, strict=False)
    counts = np.count_nonzero(hits.passages >= 0, axis=1)
    if not counts.any():
        raise HarnessError("none of its queries is one of the dataset; check that the ids are the same")
    strange = hits.passages[(hits.passages >= 0) & ~corpus.candidate[hits.passages]]
    if len(strange):
        problem = f"the passage '{corpus.ids(strange[:1])[0]}' is no candidate"
        raise HarnessError(f"{problem}: it is context for others; take such passages out of the run")
    excluded = excluded_positions(corpus, opened.queries, "passage")
    width = hits.passages.shape[1]
    kept = checked.canonical(hits, corpus, depth, len(opened.queries.ids), width, excluded)
    known = set(opened.queries.ids)
    facts = {
        "file": each.path.name,
        "form": each.read.form,
        "ordered by": "rank" if each.read.by_rank else "score",
        "tag": each.run.tag,
        "queries of the file": len(each.run.query_ids),
        "queries that the dataset lacks, left out": sum(name not in known for name in each.run.query_ids),
        "results beyond the depth or excluded, left out": int(
            counts.sum() - np.count_nonzero(kept.passages >= 0)
        ),
    }
    return kept, facts


def _row(
    target: Target, each: Foreign, hits: Hits, facts: dict[str, JSON], out: Path, cited: dict[str, File]
) -> Row:
    opened, dataset, suite = target.opened, target.dataset.name, target.suite
    numbers, values = scored_numbers.scored(hits, opened, target.scoring, suite.seed)
    params = {"sha256": disk.sha256(each.path), "depth": suite.depth}
    # the ranking depends on the file, on the dataset's queries, and on the passages that they exclude
    part = "queries" if "queries" in opened.contents else "judgements"
    fingerprint = keys.key({"step": STEP, **params, part: opened.contents[part]})
    step = Step(
        step=STEP, key=fingerprint, name="run file", version="1", sources=None, libraries={}, params=params,
        plugin=f"{OWN} {importlib.metadata.version(OWN)}",
    )  # fmt: skip
    files = scored_numbers.write_files(out, opened, dataset, each.system, hits, values)
    return Row(
        dataset=dataset,
        split=target.dataset.split,
        system=each.system,
        unit="passage",
        protocol=suite.protocol,
        origin="imported",
        status="ok",
        error=None,
        **numbers._asdict(),
        reported=(Reported(STEP, "run file", facts),),
        tuning=(),
        files={**files, **cited},
        provenance=Provenance(fingerprint, suite.seed, (step,)),
        cost=Cost(),
    )


def _judgements(target: Target, out: Path) -> dict[str, File]:
    """Keeps the judgements beside the leaderboard, so that it can be verified without other data."""
    if target.judgements is None:
        return {}
    path = Path("qrels", f"{target.dataset.name}.qrels")
    (out / path).parent.mkdir(parents=True, exist_ok=True)
    with disk.replacing(out / path) as beside:
        qrels_files.write_qrels(beside, target.judgements)
    return {ids_only.JUDGEMENTS: scored_numbers.cited(out, path)}


def _content(target: Target, rows: Sequence[Row]) -> Board:
    return Board(
        schema=board_file.SCHEMA,
        name=target.name,
        description="Runs that were made elsewhere, scored here.",
        suite=target.suite,
        datasets=(target.dataset,),
        columns=columns_of(target.scoring),
        rows=tuple(rows),
        analyses=(),
        environment=board_file.environment(),
    )


def _refuse_to_replace(out: Path) -> None:
    """Raises HarnessError if `out` holds a leaderboard with rows that were not imported. Such a leaderboard
    is never overwritten; `harness merge` adds to it."""
    if not (out / board_file.FILE).exists():
        return
    if any(row.origin != "imported" for row in board_file.read(out).rows):
        problem = "holds a leaderboard with other rows than imported ones"
        raise HarnessError(
            f"--out {shown_path(out)}: {problem}; name another folder, then use `harness merge`"
        )
