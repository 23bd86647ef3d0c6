"""Checks a suite's mapping against the catalogue, all problems at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness import params
from harness.errors import HarnessError
from harness.suite import grid
from harness.suite.forms import Forms
from harness.suite.model import Chosen, DatasetSpec, Rerank, Suite, System, Unsound, digest
from harness.suite.yaml_nodes import Node
from harness.types import Unit

KEYS = (  # of a suite, in the order that one writes them
    "suite", "description", "include", "datasets", "systems",
    "measures", "protocol", "analyses", "depth", "seed", "timeout",
)  # fmt: skip
SYSTEM_KEYS = ("context", "retriever", "unit", "of", "combine", "rerank", "depth")
DATASET_KEYS = ("unknown_judgements", "scored")
RERANK_KEYS = ("depth", "tail")
LONGEST = 160  # bytes of a name, so that it can name a file with what is added to it
UNITS: tuple[Unit, ...] = ("passage", "document")


class Checker(Forms):
    """Walks the nodes of a suite and gives up only at the end."""

    def suite(self, root: Node) -> Suite:
        values = self.mapping(root, "", KEYS)
        name = self.scalar(values, "suite", str, "a text", root.file.parent.name)
        description = self.scalar(values, "description", str, "a text", "")
        depth = self.scalar(values, "depth", int, "a whole number", 1000, least=1, most=1_000_000)
        seed = self.scalar(values, "seed", int, "a whole number", 0, least=0, most=2**63 - 1)
        timeout = self.scalar(values, "timeout", float, "a number of seconds", None, least=0.001)
        datasets = tuple(self.datasets(values["datasets"])) if self.required(root, values, "datasets") else ()
        systems = self.systems(values["systems"]) if self.required(root, values, "systems") else ()
        protocol = self.scalar(values, "protocol", str, "a name", None)
        measures = self.measures(values)
        analyses = self.analyses(values)
        if ("measures" in values) == ("protocol" in values):
            both = "only one of 'measures' and 'protocol' may be given" if "measures" in values else ""
            self.say(root, "", both or "say what to measure: 'measures: [nDCG@10, R@100]', or a 'protocol'")
        if protocol is not None:
            self.find(values["protocol"], "protocol", "protocols", protocol)
        self.check_depths(systems, depth)
        self.check_tuning(systems, datasets)
        self.check_references(systems, set(values["systems"].value) if systems else set())
        scoring = values.get("measures") or values.get("protocol")
        found = sorted(set(self.problems), key=_by_place)
        if found and (scoring is None or not (measures or protocol)):
            raise Unsound(found, None)
        assert scoring is not None
        if found:
            names = {spec.name for spec in datasets}
            systems = _whole(tuple(system for system in systems if _is_sound(system, names)))
        scored = [list(measures), protocol, depth, seed]
        if analyses:
            scored.append([[chosen.name, chosen.given] for chosen in analyses])
        digested = digest(name, datasets, systems, scored)
        suite = Suite(
            name, description, root.file, datasets, systems, measures, analyses, protocol, depth, seed,
            timeout, scoring.place, digested,
        )  # fmt: skip
        if found:
            raise Unsound(found, suite)
        return suite

    # what a suite consists of

    def datasets(self, node: Node) -> Iterator[DatasetSpec]:
        for name, item in self.named(node, "datasets"):
            where = f"datasets.{name}"
            if isinstance(item.value, dict):
                own = {key: item.value[key] for key in DATASET_KEYS if key in item.value}
            else:
                own = {}
            policy = self.choice(own, "unknown_judgements", ("keep", "drop", "refuse"), where)
            scored = self.scalar(own, "scored", bool, "true or false", True, where=where)
            chosen = self.chosen(item, where, "datasets", DATASET_KEYS, default=name)
            if chosen is not None:
                yield DatasetSpec(name, chosen, policy, scored)

    def systems(self, node: Node) -> tuple[System, ...]:
        expanded: dict[str, list[System]] = {}
        for name, item in self.named(node, "systems"):
            where = f"systems.{name}"
            values = self.mapping(item, where, SYSTEM_KEYS)
            try:
                expanded[name] = list(self.system(name, item, values, where)) if values else []
            except HarnessError as error:
                self.say(item, where, str(error))
                expanded[name] = []
            if not values and isinstance(item.value, dict) and not item.value:
                self.say(item, where, "is empty; give it a 'retriever', or 'of' with 'combine' or 'rerank'")
        try:
            systems = grid.fan_out(expanded)
        except HarnessError as error:
            self.say(node, "systems", str(error))
            return ()
        for system in systems:
            if len(system.name.encode()) > LONGEST:
                self.say(
                    node, f"systems.{system.base}", f"the name '{system.name[:40]}...' is too long for a file"
                )
        for name, count in _counts(system.name for system in systems).items():
            if count > 1:
                self.say(node, f"systems.{name}", "two systems get this name; rename one or its grid")
        return systems

    def system(self, name: str, item: Node, values: dict[str, Node], where: str) -> Iterator[System]:
        if "depth" in values:
            text = "is the suite's, or stands beside a re-ranker: 'rerank: {NAME: {}, depth: 100}'"
            self.say(values["depth"], f"{where}.depth", text)
        unit = self.choice(values, "unit", UNITS, where)
        of = self.names(values["of"], f"{where}.of") if "of" in values else ()
        retrievers = self.variants(values.get("retriever"), f"{where}.retriever", "retrievers")
        combiners = self.variants(values.get("combine"), f"{where}.combine", "combiners")
        contexts = self.chain(values.get("context"), f"{where}.context", "contexts")
        rerankers = self.rerankers(values.get("rerank"), f"{where}.rerank")
        if not values:
            return
        self.check_shape(item, where, values, of)
        for option in grid.product(retrievers, combiners, contexts, rerankers):
            (retriever, combine, context, rerank), varied = option
            if retriever is not None and unit not in retriever.entry.record.units:
                text = f"'{retriever.name}' does not index a {unit} as its unit"
                self.say(values.get("unit", item), f"{where}.unit", text)
            named = None if "context" not in values else context
            full = grid.name(name, varied)
            yield System(full, name, varied, named, retriever, unit, of, combine, rerank, item.place)

    def check_shape(self, item: Node, where: str, values: dict[str, Node], of: tuple[str, ...]) -> None:
        if ("retriever" in values) == ("of" in values):
            self.say(item, where, "expected either a 'retriever' or 'of' other systems, not both or neither")
        elif "of" in values and "combine" not in values and len(of) > 1:
            self.say(values["of"], f"{where}.of", "several systems need a 'combine'")
        elif "of" in values and "combine" not in values and "rerank" not in values:
            self.say(item, where, "'of' one system needs a 'rerank'")
        elif "of" not in values and "combine" in values:
            self.say(values["combine"], f"{where}.combine", "needs 'of': the systems to combine")
        if "of" in values and "unit" in values:
            self.say(
                values["unit"], f"{where}.unit", "is the unit of a retriever; name it at the system in 'of'"
            )
        if "of" in values and "context" in values and "rerank" not in values:
            self.say(
                values["context"], f"{where}.context", "is read by a retriever or re-ranker; there is none"
            )

    def check_depths(self, systems: tuple[System, ...], depth: int) -> None:
        for system in systems:
            for item in system.rerank:
                if item.depth is not None and item.depth > depth:
                    text = f"re-ranks {item.depth}, but the suite's depth is {depth}"
                    text += f"; set depth: {item.depth} or more"
                    self.problems.append(f"{item.chosen.place}: systems.{system.base}.rerank: {text}")

    def check_tuning(self, systems: tuple[System, ...], datasets: tuple[DatasetSpec, ...]) -> None:
        names = {spec.name for spec in datasets}
        used = set()
        for system in systems:
            tuning = system.combine.tuned if system.combine else None
            if system.combine is None or tuning is None:
                continue
            where = f"{tuning.place}: systems.{system.base}.combine.{system.combine.name}.{tuning.parameter}"
            if tuning.on is not None and tuning.on[0] not in names:
                text = params.unknown("dataset", tuning.on[0], names)
                self.problems.append(f"{where}.tune.on: {text}")
            # the first value was checked with the other parameters; the last must lie in the range too
            used.add(tuning.on[0] if tuning.on else "")
            if system.combine.params is None:  # something else is wrong with them, and told
                continue
            record = system.combine.entry.record
            last = {**params.plain(system.combine.params), tuning.parameter: tuning.values[-1]}
            for problem in params.convert(record.params, last, Path("/"))[1]:
                self.problems.append(f"{where}.tune.grid: {problem.text}")
        for spec in datasets:
            if not spec.scored and spec.name not in used:
                text = "'scored: false' is for a dataset that a system tunes on; none does"
                self.problems.append(f"{spec.chosen.place}: datasets.{spec.name}: {text}")
        if datasets and not any(spec.scored for spec in datasets):
            self.problems.append(f"{datasets[0].chosen.place}: datasets: none is scored")

    def check_references(self, systems: tuple[System, ...], written: set[str]) -> None:
        """`written` are the names in the file: what is wrong with one of them is told where it stands."""
        known = {system.name: system for system in systems}
        for system in systems:
            for name in system.of:
                if name not in known and name not in written:
                    text = params.unknown("system", name, {*known, *written})
                    self.problems.append(f"{system.place}: systems.{system.base}.of: {text}")
            combiner = system.combine
            if combiner is not None:
                least, most = combiner.entry.record.inputs
                if len(system.of) < least or (most is not None and len(system.of) > most):
                    bounds = f"at least {least}" if most is None else f"{least} to {most}"
                    text = f"'{combiner.name}' combines {bounds} systems, not {len(system.of)}"
                    self.problems.append(f"{system.place}: systems.{system.base}.of: {text}")
        for circle in _circles(known):
            text = f"the systems refer to each other in a circle: {' -> '.join(circle)}; break it"
            self.problems.append(f"{known[circle[0]].place}: systems.{circle[0]}.of: {text}")

    def rerankers(self, node: Node | None, where: str) -> list[tuple[tuple[Rerank, ...], grid.Varied]]:
        if node is None:
            return [((), ())]
        parts = []
        for i, item in enumerate(node.value if isinstance(node.value, list) else [node]):
            here = f"{where}[{i}]" if isinstance(node.value, list) else where
            own = item.value if isinstance(item.value, dict) else {}
            depth = self.scalar(own, "depth", int, "a whole number", None, least=1, where=here)
            tail = self.choice(own, "tail", ("keep", "drop"), here)
            options = self.variants(item, here, "rerankers", RERANK_KEYS)
            parts.append([(Rerank(chosen, depth, tail), varied) for chosen, varied in options if chosen])
        return [(tuple(values), varied) for values, varied in grid.product(*parts)]

    def named(self, node: Node, where: str) -> Iterator[tuple[str, Node]]:
        """The items of `datasets` or `systems`, whose names also name files."""
        if isinstance(node.value, list) and where == "datasets":  # `datasets: [tour]`
            values = {item.value: item for item in node.value if isinstance(item.value, str)}
            if len(values) < len(node.value):
                self.say(node, where, "expected a list of different names, or a mapping of name to plugin")
        else:
            values = self.mapping(node, where, tuple(node.value) if isinstance(node.value, dict) else ())
            if isinstance(node.value, dict) and not values:
                self.say(node, where, "is empty; name at least one")
        for name, item in values.items():
            if not names_a_file(name):
                self.say(item, where, f"the name {name!r} cannot name a file; use letters, digits, + - _ , =")
            else:
                yield name, item

    def measures(self, values: dict[str, Node]) -> tuple[str, ...]:
        if "measures" not in values:
            return ()
        return self.names(values["measures"], "measures", "measure")

    def analyses(self, values: dict[str, Node]) -> tuple[Chosen, ...]:
        node = values.get("analyses")
        items = node.value if node is not None and isinstance(node.value, list) else [node] if node else []
        chosen = [self.chosen(item, f"analyses[{i}]", "analyses") for i, item in enumerate(items)]
        found = [item for item in chosen if item is not None]
        for name, count in _counts(item.name for item in found).items():
            if count > 1 and node is not None:
                self.say(node, "analyses", f"'{name}' stands here twice; remove one of the two")
        return tuple(found)

    def required(self, root: Node, values: dict[str, Node], key: str) -> bool:
        if key not in values:
            self.say(root, "", f"'{key}' is missing; see `harness schema suite` for what a suite holds")
        return key in values


def _is_sound(system: System, datasets: set[str]) -> bool:
    """Whether all that it names itself could be read."""
    chosen = [system.retriever, system.combine, *(system.context or ())]
    chosen += [item.chosen for item in system.rerank]
    tuned = [item.tuned.on for item in chosen if item is not None and item.tuned is not None]
    read = all(item is None or item.params is not None for item in chosen)
    return read and all(on is None or on[0] in datasets for on in tuned)


def _whole(systems: tuple[System, ...]) -> tuple[System, ...]:
    """Those whose inputs are all there, and theirs, and so on."""
    kept: dict[str, System] = {}
    while more := [
        system for system in systems if system.name not in kept and all(name in kept for name in system.of)
    ]:
        kept |= {system.name: system for system in more}
    return tuple(system for system in systems if system.name in kept)


def _circles(known: dict[str, System]) -> list[list[str]]:
    """One circle for each system that takes part in one and stands first in it by name."""
    found = []
    for start in sorted(known):
        stack, seen = [(start, [start])], set()
        while stack:
            name, path = stack.pop()
            for below in known[name].of if name in known else ():
                if below == start:
                    if start == min(path):
                        found.append([*path, start])
                elif below not in seen:
                    seen.add(below)
                    stack.append((below, [*path, below]))
    return found


def _counts(names: Iterator[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


def names_a_file(name: str) -> bool:
    """Whether a dataset or a system may have this name: their files do."""
    if not name.strip() or name.startswith((".", "~")) or len(name.encode()) > LONGEST:
        return False
    return not any(character in '/\\:*?"<>|' or ord(character) < 32 for character in name)


def _by_place(text: str) -> tuple[str, int, str]:
    file, _, rest = text.partition(":")
    line = rest.partition(":")[0]
    return file, int(line) if line.isdigit() else 0, text
