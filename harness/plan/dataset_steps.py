"""Plans the steps of datasets, each step once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Any, NoReturn, Self

from harness.catalogue import Catalogue, params
from harness.catalogue.rehearsal import Rehearsals
from harness.errors import HarnessError
from harness.plan import answers, keys, plugin_sources
from harness.plan.chosen_methods import needs_of, work_of
from harness.plan.graph import Collection, Step
from harness.plan.guard import Broken, guarded
from harness.plan.keys import Digest
from harness.plan.kinds import FORMATS, PARTS
from harness.problems import Keys, Need, Place, Problem, exists, missing_path
from harness.records import NoParams
from harness.suite import Chosen, DatasetSpec
from harness.types import JSON, Card, Facts, Inputs, Part


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


def file_bytes(path: Path) -> int:
    """The size of a file, or of all files in a folder. 0 if they cannot be read."""
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
    for part, of_part in inputs.items():
        others = [inputs[name] for name in needed.get(part, ())]
        further = {f"of {name}": inputs[name].params for name in needed.get(part, ())}
        files = (file for other in (of_part, *others) for file in other.files)
        joined[part] = Inputs({**of_part.params, **further}, tuple(dict.fromkeys(files)))
    return joined
