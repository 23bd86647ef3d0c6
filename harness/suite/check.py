"""Checks a suite's mapping against the catalogue and reports all problems at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.problems import Keys, by_place
from harness.suite import made_datasets, models, relations
from harness.suite.changes import Changes
from harness.suite.model import Beside, Chosen, DatasetSpec, Suite, System, Unsound, digest
from harness.suite.sections import Dataset, MadeDataset, SuiteKeys
from harness.suite.systems import SystemForms
from harness.suite.yaml_nodes import Node
from harness.types import JSON

NO_CHANGES = Changes()
FOR_PLANNING = "RR@10"  # measures a suite without a sound measure, so that planning finds its other problems


class Checker(SystemForms):
    """Reads all nodes of a suite, collects their problems and raises only at the end."""

    def suite(self, root: Node, changes: Changes = NO_CHANGES) -> Suite:
        """The checked suite. Raises Unsound with all problems and the suite without its wrong parts."""
        self.made = models.seeds_of(root)
        keys = self.section(SuiteKeys, root, ()) or SuiteKeys()
        given = root.value.keys()
        for name in ("datasets", "systems"):
            if name not in given:
                self.note(root, (), f"'{name}' is missing; see `harness schema suite` for what a suite holds")
        if "measures" in given and "protocol" in given:
            self.note(root, (), "only one of 'measures' and 'protocol' may be given; remove the other")
        if "measures" not in given and "protocol" not in given:
            self.note(root, (), "nothing to measure; add 'measures: [nDCG@10, R@100]', or a 'protocol'")
        datasets, systems, averages = keys.datasets or (), keys.systems or (), keys.averages or {}
        made = tuple(spec._replace(seeds=spec.seeds or (keys.seed,)) for spec in keys.models)
        analyses = tuple(analysis.chosen for analysis in keys.analyses)
        together = {item.chosen.name: item.together for item in keys.analyses if item.together}
        beside = tuple(Beside(rows.published, rows.as_) for rows in keys.beside)
        for key, listed in (
            ("analyses", [item.name for item in analyses]),
            ("beside", [item.published for item in beside]),
        ):
            for name in sorted({name for name in listed if listed.count(name) > 1}):
                self.note(root.at((key,)), (key,), f"'{name}' is listed twice; remove one of the two")
        written = {kind: _names(root.at((f"{kind}s",))) for kind in ("system", "dataset")}
        read = {spec.name for spec in datasets}
        scored = {spec.name for spec in datasets if spec.scored} | (written["dataset"] - read)
        self.check_groups(root, scored, keys)
        for kind, item in made_datasets.references(datasets, analyses):
            self.referred[kind].append(item)
        self.problems += models.problems(made, keys.depth)
        self.problems += relations.problems(systems, datasets, written, self.referred, keys.depth)
        problems = sorted(set(self.problems), key=by_place)
        measures, protocol = keys.measures, keys.protocol
        if problems:
            datasets = tuple(spec for spec in datasets if spec.chosen.params is not None)
            splits = relations.sound_splits(datasets, self.referred["split"])
            systems = relations.sound(systems, self.unread, splits)
            made = tuple(models.sound(made, splits, systems))
            analyses = tuple(chosen for chosen in analyses if chosen.params is not None)
            measures = measures or (() if protocol else (FOR_PLANNING,))
        rules = (measures, protocol, keys.depth, keys.seed)
        compared = {"averages": averages, "together": together, "beside": [list(rows) for rows in beside]}
        name = keys.suite or root.file.parent.name
        digested = _digest(name, datasets, systems, analyses, compared, rules, made)
        scoring = root.value.get("measures") or root.value.get("protocol")
        suite = Suite(
            name, keys.description, root.file, datasets, systems, measures, analyses, protocol, keys.depth,
            keys.seed, keys.timeout, keys.memory, scoring and scoring.place, digested, made,
            tuple(averages.items()), together, beside, changes, tuple(self.referred["measure"]),
        )  # fmt: skip
        if problems:
            raise Unsound(problems, suite)
        return suite

    def check_groups(self, root: Node, scored: set[str], keys: SuiteKeys) -> None:
        """Checks that averages, and analyses of several datasets, are of scored datasets."""
        averages = keys.averages or {}
        groups: dict[Keys, tuple[str, ...]] = {("averages", name): group for name, group in averages.items()}
        groups |= {(*analysis.path, "together"): analysis.together for analysis in keys.analyses}
        for path, group in groups.items():
            for name in [name for name in group if name not in scored][:1]:
                self.note(
                    root.at(path), path, f"'{name}' is no scored dataset of the suite; name one of them"
                )
        for name in averages.keys() & scored:
            path = ("averages", name)
            text = f"'{name}' is the name of a dataset; call the average something else"
            self.note(root.at(path), path, text)

    def datasets(self, node: Node) -> Iterator[DatasetSpec]:
        """The datasets in the order written."""
        nodes = dict(self.named(node, "datasets"))
        specs: dict[str, DatasetSpec] = {}
        made: dict[str, DatasetSpec] = {}
        for name, item in nodes.items():
            path = ("datasets", name)
            if made_datasets.is_made(item):
                keys = self.section(MadeDataset, item, path)
                if keys is not None:
                    # its plugin is filled in by `made_datasets.joined`, from the dataset in `of`
                    nothing = Chosen(keys.make[0].chosen.entry, {}, None, item.place)
                    made[name] = _spec(name, nothing, keys)._replace(make=keys.make, of=keys.of)
                continue
            beside, variants = self.variants(item, path, "datasets", default=name, fan=False)
            if variants:
                specs[name] = _spec(name, variants[0][0], beside)
        specs |= made_datasets.joined(self, nodes, specs, made)
        yield from (specs[name] for name in nodes if name in specs)


def _names(node: Node) -> set[str]:
    """The names of all datasets or systems as written, also of those that cannot be read."""
    if isinstance(node.value, list):
        return {item.value for item in node.value if isinstance(item.value, str)}
    return set(node.value) if isinstance(node.value, dict) else set()


def _spec(name: str, chosen: Chosen, keys: Dataset) -> DatasetSpec:
    return DatasetSpec(name, chosen, keys.unknown_judgements, keys.scored, (), "", keys.limit, keys.sample)


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
