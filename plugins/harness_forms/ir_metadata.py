"""Writes the ir_metadata of each run (www.ir-metadata.org, schema 0.1) as a YAML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml

from harness.plugin import JSON
from harness.toolkit.boards import Leaderboard, Row
from harness.toolkit.boards.exchange import Cost, Step, tag_of
from harness.toolkit.boards.stored import Store
from harness_forms.measure_names import trec_eval
from harness_forms.written_files import Written, put, scored, target

START, END = "# ir_metadata.start", "# ir_metadata.end"
SCHEMA, RUN = 0.1, 1.0
ENDING = ".ir_metadata.yaml"
TOLD = "# actor, venue and publication are for whoever publishes the run to fill in\n"
TIES = "descending id, compared as bytes (trec_eval's rule)"
MAKING = ("augment", "index")
RANKING = {"search": "retrieval", "combine": "combination", "pick": "combination", "rerank": "re-ranking"}


def write(board: Leaderboard, out: Path, store: Store) -> Written:
    """Writes `DATASET/SYSTEM.ir_metadata.yaml`, beside the `DATASET/SYSTEM.run` of the form `trec`."""
    notes: list[str] = []
    paths = []
    for row in scored(board, notes):
        text = yaml.safe_dump(metadata(board, row), sort_keys=False, allow_unicode=True, width=110)
        path = target(out, row.dataset, f"{row.system}{ENDING}")
        paths.append(put(path, f"{START}\n{TOLD}{text}{END}\n".encode()))
    return Written(tuple(paths), tuple(notes))


def metadata(board: Leaderboard, row: Row) -> dict[str, JSON]:
    """The six components of PRIMAD, as far as the leaderboard knows them, and the resources of schema 0.2."""
    components: dict[str, JSON] = {
        "schema-version": SCHEMA,
        "run-version": RUN,
        "tag": tag_of(row.system),
        "platform": _platform(board, row),
        "research goal": _goal(board, row),
        "implementation": _implementation(board, row),
        "method": {"score ties": TIES, **_method(row)},
        "actor": {"name": None, "team": None, "role": None},
        "data": _data(board, row),
    }
    if row.cost.seconds is not None:
        components["resources"] = _resources(row.cost, row.cost.seconds)
    if row.origin == "imported":  # how an imported run was made is not known
        for component in ("platform", "implementation"):
            del components[component]
    return components


def _platform(board: Leaderboard, row: Row) -> JSON:
    made = board.data.environment
    system, _, architecture = (made.system or "").partition(" ")
    libraries = dict(made.libraries or {})
    for step in row.provenance.steps:
        libraries.update(step.libraries)
    return {
        "hardware": {
            "cpu": {
                "model": row.cost.machine or made.cpu,
                "architecture": architecture or None,
                "number of cores": made.cores,
            }
        },
        "operating system": {"kernel": system or None},
        "software": {
            "libraries": {"python": [f"{name}=={version}" for name, version in sorted(libraries.items())]},
            "retrieval toolkit": [f"passage-harness=={made.harness}"],
        },
    }


def _goal(board: Leaderboard, row: Row) -> JSON:
    measures = [column.measure for column in board.data.columns if column.label in row.measures]
    reported = [trec_eval(measure) or measure for measure in measures]
    return {
        "venue": {"name": None, "year": None},
        "publication": {"doi": None, "url": None},
        "evaluation": {"reported measures": list(dict.fromkeys(reported))},
    }


def _implementation(board: Leaderboard, row: Row) -> JSON:
    plugins = dict.fromkeys(step.plugin for step in row.provenance.steps)
    return {
        "executable": {"cmd": f"harness run suite.yaml --only '{row.dataset}/{row.system}'"},
        "source": {"lang": ["python"], "plugins": [name for name in plugins if name]},
        "suite digest": board.data.suite.digest,
        "fingerprint": row.provenance.fingerprint,
    }


def _method(row: Row) -> JSON:
    """Context and indexing in order, followed by every stage that ranks. A stage names the rankings that it
    reads if they are certain."""
    steps = row.provenance.steps
    if row.origin == "imported":
        return {"run file": next((step.params for step in steps), None)}
    making = [_stage(step) for step in steps if step.step in MAKING]
    stages: list[JSON] = []
    unread: list[str] = []  # rankings that no later stage has read yet
    for number, step in enumerate(item for item in steps if item.step in RANKING):
        stage = {"name": f"{number + 1} {RANKING[step.step]}", **_stage(step)}
        if step.step == "rerank" and len(unread) == 1:
            stage["reranks"] = unread.pop()
        elif RANKING[step.step] == "combination":
            stage["interpolates"], unread = unread, []
        unread.append(stage["name"])
        stages.append(stage)
    indexing = {"indexing": {"stages": making}} if making else {}
    return {"automatic": True, **indexing, "retrieval": stages}


def _stage(step: Step) -> JSON:
    params = {key: value for key, value in step.params.items() if value is not None}
    return {"method": step.name, "version": step.version, "params": params}


def _data(board: Leaderboard, row: Row) -> JSON:
    dataset = board.dataset(row.dataset)
    known: Sequence[tuple[str, JSON]] = (
        ("name", row.dataset),
        ("split", row.split),
        ("source", dataset.url),
        ("citation", dataset.citation),
        ("licence", dataset.licence),
        ("sha256", dataset.contents or dataset.digests),
    )
    return {"test collection": {key: value for key, value in known if value}}


def _resources(cost: Cost, seconds: float) -> JSON:
    runtime = {"wallclock": f"{seconds * 1000:.0f} ms"}
    if cost.cpu_seconds is not None:
        runtime["cpu"] = f"{cost.cpu_seconds * 1000:.0f} ms"
    used = {} if cost.peak_mb is None else {"used process": f"{cost.peak_mb * 1024:.0f} KB"}
    return {"runtime": runtime, **({"ram": used} if used else {})}
