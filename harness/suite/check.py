"""Checks a suite's mapping against the catalogue and reports all problems at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from harness.problems import Keys, Problem
from harness.suite import across, made_datasets, models, relations
from harness.suite.changes import Changes
from harness.suite.model import Chosen, DatasetSpec, Suite, System, Unsound, digest
from harness.suite.systems import SystemForms
from harness.suite.yaml_nodes import Node
from harness.types import JSON

KEYS = (  # the keys of a suite, in the usual order of writing
    "suite", "description", "include", "datasets", "systems", "models",
    "measures", "protocol", "averages", "beside", "analyses", "depth", "seed", "timeout", "memory",
)  # fmt: skip
NO_CHANGES = Changes()
DATASET_KEYS = ("unknown_judgements", "scored", "limit", "sample")


class Checker(SystemForms):
    """Reads all nodes of a suite, collects their problems and raises only at the end."""

    def suite(self, root: Node, changes: Changes = NO_CHANGES) -> Suite:
        """The checked suite. Raises Unsound with all problems and the suite without its wrong parts."""
        values = self.mapping(root, (), KEYS)
        name = self.scalar(values, "suite", str, "a text", root.file.parent.name)
        description = self.scalar(values, "description", str, "a text", "")
        depth = self.scalar(values, "depth", int, "a whole number", 1000, least=1, most=1_000_000)
        seed = self.scalar(values, "seed", int, "a whole number", 0, least=0, most=2**63 - 1)
        timeout = self.scalar(values, "timeout", float, "a number of seconds", None, least=0.001)
        memory = self.scalar(values, "memory", float, "a number of gigabytes", None, least=0.001)
        datasets = tuple(self.datasets(values["datasets"])) if self.required(root, values, "datasets") else ()
        self.made = models.seeds_of(self, values.get("models"), seed)
        systems = self.systems(values["systems"]) if self.required(root, values, "systems") else ()
        protocol = self.scalar(values, "protocol", str, "a name", None)
        measures = self.names(values["measures"], ("measures",), "measure") if "measures" in values else ()
        scored = [spec.name for spec in datasets if spec.scored]
        averages = self.averages(values, scored)
        beside = across.beside(self, values.get("beside"))
        analyses, together = self.analyses(values, scored)
        if "measures" in values and "protocol" in values:
            self.note(root, (), "only one of 'measures' and 'protocol' may be given; remove the other")
        if "measures" not in values and "protocol" not in values:
            self.note(root, (), "nothing to measure; add 'measures: [nDCG@10, R@100]', or a 'protocol'")
        if protocol is not None:
            self.find(values["protocol"], ("protocol",), "protocols", protocol)
        written = set(values["systems"].value) if systems else set()
        made = models.read(self, values.get("models"))
        self.problems += models.problems(made, datasets, systems)
        used = models.splits_used(made) | made_datasets.used(datasets, analyses)
        read = {*models.systems_used(made), *made_datasets.systems_used(datasets)}
        self.problems += relations.problems(systems, datasets, written, depth, used, read)
        names = {*written, *(system.name for system in systems)}
        self.problems += made_datasets.problems(datasets, names, analyses)
        scoring = values.get("measures") or values.get("protocol")
        problems = sorted(set(self.problems), key=_by_place)
        if problems and (scoring is None or not (measures or protocol)):
            raise Unsound(problems, None)
        assert scoring is not None
        if problems:
            datasets = tuple(spec for spec in datasets if spec.chosen.params is not None)
            systems = relations.sound(systems, {spec.name for spec in datasets})
            analyses = tuple(chosen for chosen in analyses if chosen.params is not None)
        rules = (measures, protocol, depth, seed)
        named = [list(entry) for entry in beside]
        compared = {"averages": dict(averages), "together": together, "beside": named}
        digested = _digest(name, datasets, systems, analyses, compared, rules, made)
        suite = Suite(
            name, description, root.file, datasets, systems, measures, analyses, protocol, depth, seed,
            timeout, memory, scoring.place, digested, made, averages, together, beside, changes,
        )  # fmt: skip
        if problems:
            raise Unsound(problems, suite)
        return suite

    def datasets(self, node: Node) -> Iterator[DatasetSpec]:
        """The datasets in the order written."""
        nodes = dict(self.named(node, "datasets"))
        specs: dict[str, DatasetSpec] = {}
        made: dict[str, DatasetSpec] = {}
        for name, item in nodes.items():
            path = ("datasets", name)
            values = item.value if isinstance(item.value, dict) else {}
            keys = {key: values[key] for key in DATASET_KEYS if key in values}
            policy = self.choice(keys, "unknown_judgements", ("keep", "drop", "refuse"), path)
            scored = self.scalar(keys, "scored", bool, "true or false", True, path=path)
            limit, sample = (
                self.scalar(keys, key, int, "a whole number", None, least=1, path=path)
                for key in ("limit", "sample")
            )
            if made_datasets.is_made(item):
                spec = self.made_dataset(name, item, path)
                if spec is not None:
                    made[name] = spec._replace(
                        unknown_judgements=policy, scored=scored, limit=limit, sample=sample
                    )
                continue
            chosen = self.chosen(item, path, "datasets", DATASET_KEYS, default=name)
            if chosen is not None:
                specs[name] = DatasetSpec(name, chosen, policy, scored, limit=limit, sample=sample)
        specs |= made_datasets.joined(self, nodes, specs, made)
        yield from (specs[name] for name in nodes if name in specs)

    def made_dataset(self, name: str, item: Node, path: Keys) -> DatasetSpec | None:
        """A made dataset, or None if it could not be read. Its plugin is filled in later:
        `made_datasets.joined` takes it from the dataset in `of`."""
        values = self.mapping(item, path, (*made_datasets.KEYS, *DATASET_KEYS))
        for key, words in (("of", "the dataset that it is made of"), ("make", "a list of makers")):
            if key not in values:
                self.note(item, path, f"'{key}' is missing; a made dataset has 'of' and 'make': say {words}")
        of = self.scalar(values, "of", str, "the name of a dataset", None, path=path)
        stages = made_datasets.stages(self, values["make"], (*path, "make")) if "make" in values else None
        if of is None or stages is None:
            return None
        nothing = Chosen(stages[0].chosen.entry, {}, None, item.place)  # replaced in `made_datasets.joined`
        return DatasetSpec(name, nothing, "keep", True, stages, of)

    def analyses(
        self, values: dict[str, Node], datasets: Sequence[str]
    ) -> tuple[tuple[Chosen, ...], dict[str, tuple[str, ...]]]:
        """The analyses, and for each analysis with `together` the datasets that it draws in one picture."""
        node = values.get("analyses")
        if node is None:
            return (), {}
        items = node.value if isinstance(node.value, list) else [node]
        chosen: tuple[Chosen, ...] = ()
        together = {}
        for i, item in enumerate(items):
            path = ("analyses", i)
            read = self.chosen(item, path, "analyses", beside=("together",))
            names = across.together(self, item, path, datasets)
            if read is not None:
                chosen = (*chosen, read)
                together.update({read.name: names} if names else {})
        for name, count in Counter(item.name for item in chosen).items():
            if count > 1:
                self.note(node, ("analyses",), f"'{name}' is listed twice; remove one of the two")
        return chosen, together

    def averages(
        self, values: dict[str, Node], datasets: Sequence[str]
    ) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The averages: pairs of a name and the scored datasets that are averaged."""
        node = values.get("averages")
        if node is None:
            return ()
        if not isinstance(node.value, dict):
            self.note(node, ("averages",), "expected names with lists of datasets; write `Avg.: [a, b]`")
            return ()
        averages = []
        for name, item in node.value.items():
            path = ("averages", name)
            group = self.names(item, path, "dataset")
            missing = [dataset for dataset in group if dataset not in datasets]
            if name in datasets:
                self.note(item, path, f"'{name}' is the name of a dataset; call the average something else")
            elif missing:
                self.note(item, path, f"'{missing[0]}' is no scored dataset of the suite; name one of them")
            elif len(set(group)) < max(2, len(group)):
                self.note(item, path, "an average is over two or more different datasets; name them")
            else:
                averages.append((name, tuple(group)))
        return tuple(averages)

    def required(self, root: Node, values: dict[str, Node], key: str) -> bool:
        if key not in values:
            self.note(root, (), f"'{key}' is missing; see `harness schema suite` for what a suite holds")
        return key in values


def _digest(
    name: str,
    datasets: tuple[DatasetSpec, ...],
    systems: tuple[System, ...],
    analyses: tuple[Chosen, ...],
    compared: dict[str, JSON],
    scoring: tuple[Any, ...],
    made: tuple[models.ModelSpec, ...],
) -> str:
    content = list(scoring)
    content += [{key: value} for key, value in compared.items() if value]
    if analyses:
        content.append([[chosen.name, chosen.as_written] for chosen in analyses])
    if made:
        content.append(["models", [models.plain(spec) for spec in made]])
    return digest(name, datasets, systems, content)


def _by_place(problem: Problem) -> tuple[str, int, str]:
    if problem.place is None:
        return "", 0, str(problem)
    return str(problem.place.file), problem.place.line, str(problem)
