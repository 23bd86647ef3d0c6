"""Checks between the parts of a suite: names that exist, depths, tuning, no circles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.catalogue import params
from harness.problems import Problem, nearest, unknown
from harness.suite.model import Chosen, DatasetSpec, System
from harness.suite.systems import Reference


def problems(
    systems: Sequence[System],
    datasets: Sequence[DatasetSpec],
    written: set[str],
    references: Sequence[Reference],
    depth: int,
    trained_on: set[str],
    used: set[str],
) -> Iterator[Problem]:
    """The problems between systems and datasets. `written` are the names of all systems in the file, and
    `references` all names of systems in them, those of systems that could not be read included. `used` are
    the names of the systems that models and made datasets read."""
    yield from _depths(systems, depth)
    yield from _tuning(systems, datasets, trained_on)
    yield from _references(systems, written, references)
    yield from _rewriting(systems, depth)
    if written == {system.base for system in systems}:  # else a system that could not be read may read others
        yield from _unscored(systems, used)


def _depths(systems: Sequence[System], depth: int) -> Iterator[Problem]:
    for system in systems:
        for item in system.rerank:
            if item.depth is not None and item.depth > depth:
                text = f"re-ranks {item.depth}, but the suite's depth is {depth}"
                advice = f"set depth: {item.depth} or more"
                path = ("systems", system.base, "rerank")
                yield Problem(item.chosen.place, path, f"{text}; {advice}")


def _tuning(
    systems: Sequence[System], datasets: Sequence[DatasetSpec], trained_on: set[str]
) -> Iterator[Problem]:
    names = {spec.name for spec in datasets}
    tuned_on = set(trained_on)
    for system in systems:
        searched = [chosen for chosen in system.methods if chosen.searched or chosen.tuned]
        if len(searched) > 1:
            text = "tunes more than one of its methods; tune one, and build on it with 'of'"
            yield Problem(system.place, ("systems", system.base), text)
        for chosen in searched:
            yield from _tuned(system, chosen, names, tuned_on)
    for spec in datasets:
        if not spec.scored and spec.name not in tuned_on:
            text = "'scored: false' is for a dataset that something is tuned, trained or made of; nothing is"
            yield Problem(spec.chosen.place, ("datasets", spec.name), text)
    if datasets and not any(spec.scored for spec in datasets):
        yield Problem(datasets[0].chosen.place, ("datasets",), "none is scored; score at least one")


def _tuned(system: System, chosen: Chosen, names: set[str], tuned_on: set[str]) -> Iterator[Problem]:
    """The problems of one tuned method. Adds the dataset that the method is tuned on to `tuned_on`."""
    tuning = chosen.tuned or chosen.searched
    assert tuning is not None
    path = ("systems", system.base, chosen.name, "tune")
    if tuning.on is not None:
        tuned_on.add(tuning.on[0])
        if tuning.on[0] not in names:
            yield Problem(tuning.place, (*path, "on"), unknown("dataset", tuning.on[0], names))
    if chosen.params is None:  # its other problems are noted already
        return
    # the first point was checked with the other parameters; the other points must fit too
    plain = params.plain(chosen.params)
    if chosen.tuned is not None:
        rest = [{**plain, chosen.tuned.parameter: chosen.tuned.values[-1]}]
    else:
        assert chosen.searched is not None
        rest = [
            {**plain, **dict(zip(chosen.searched.parameters, point, strict=True))}
            for point in chosen.searched.points
        ]
    for values in rest:
        problems = params.convert(chosen.entry.record.params, values, Path("/"))[1]
        if problems:
            yield Problem(tuning.place, (*path, "grid"), problems[0].text)
            return


def _references(
    systems: Sequence[System], written: set[str], references: Sequence[Reference]
) -> Iterator[Problem]:
    known = {system.name: system for system in systems}
    bases = {system.base for system in systems}
    feedback = [Reference(system.base, system.place, item.of) for system in systems for item in system.queries
                if item.of is not None]  # fmt: skip
    for base, place, name in dict.fromkeys([*references, *feedback]):
        grid = name.partition(",")[0]  # a system of a grid that could not be read has no problem here
        if name not in known and name not in written and (grid in bases or grid not in written):
            yield Problem(place, ("systems", base, "of"), unknown("system", name, {*known, *written}))
    for system in systems:
        path = ("systems", system.base, "of")
        for name in system.below:
            # a grid whose systems refer to each other is not fanned out
            if name not in known and name in bases:
                text = f"the systems refer to each other in a circle through the grid '{name}'; break it"
                yield Problem(system.place, path, text)
        if system.combine is not None and not _takes(system):
            least, most = system.combine.entry.record.inputs
            bounds = f"at least {least}" if most is None else f"{least} to {most}"
            text = f"'{system.combine.name}' combines {bounds} systems, not {len(system.of)}"
            yield Problem(system.place, path, text)
    for circle in _circles(known):
        text = f"the systems refer to each other in a circle: {' -> '.join(circle)}; break it"
        yield Problem(known[circle[0]].place, ("systems", circle[0], "of"), text)


def _unscored(systems: Sequence[System], used: set[str]) -> Iterator[Problem]:
    used = used | {name for system in systems for name in system.below}
    for system in systems:
        if not system.scored and used.isdisjoint((system.name, system.base)):
            text = "'scored: false' is for a system that another system, a model or a made dataset reads"
            yield Problem(system.place, ("systems", system.base), f"{text}; nothing does")
    if systems and not any(system.scored for system in systems):
        yield Problem(systems[0].place, ("systems",), "none is scored; score at least one")


def _rewriting(systems: Sequence[System], depth: int) -> Iterator[Problem]:
    """The problems of rewriters. A rewriter must give what the next rewriter or the retriever takes."""
    known = {system.name: system for system in systems}
    grids = {system.base for system in systems if system.name != system.base}
    for system in systems:
        for i, item in enumerate(system.queries):
            path = ("systems", system.base, "queries", i)
            record = item.chosen.entry.record
            retriever = system.retriever.entry.record if system.retriever else None
            if i + 1 < len(system.queries) and record.gives != "text":
                text = f"'{record.name}' gives {record.gives}, which no rewriter reads; put it last"
                yield Problem(item.chosen.place, path, text)
            elif retriever is not None and record.gives not in retriever.queries:
                text = f"'{record.name}' gives {record.gives}, and '{retriever.name}' takes "
                text += f"{' or '.join(retriever.queries)}; choose another rewriter or retriever"
                yield Problem(item.chosen.place, path, text)
            read = record.feedback(item.chosen.params) if item.chosen.params is not None else 1
            if read > depth:
                text = f"reads {read} hits, but the suite's depth is {depth}; set depth: {read} or more"
                yield Problem(item.chosen.place, path, text)
            if item.of is None:
                continue
            if item.of in grids and item.of not in known:
                members = [other.name for other in systems if other.base == item.of]
                text = f"'{item.of}' is a grid; name one of its systems, such as '{members[0]}'"
                yield Problem(item.chosen.place, path, text)
            elif not read:
                text = f"'{record.name}' reads no hits; remove 'of'"
                yield Problem(item.chosen.place, path, text)


def _takes(system: System) -> bool:
    """Whether the system's combiner takes as many systems as `of` names."""
    assert system.combine is not None
    least, most = system.combine.entry.record.inputs
    return len(system.of) >= least and (most is None or len(system.of) <= most)


def sound(systems: Sequence[System], datasets: set[str]) -> tuple[System, ...]:
    """The systems that can be planned: they and all systems that they build on were read without a problem.
    A misspelt name in `of` is taken for the name that was probably meant, so that planning finds the other
    problems of its system too."""
    names = {name for system in systems for name in (system.name, system.base)}

    def meant(system: System) -> System:
        others = sorted(names - {system.base})
        of = (name if name in names else nearest(name, others) or name for name in system.of)
        return system._replace(of=tuple(of))

    readable = [system for system in map(meant, systems) if _is_sound(system, datasets)]
    kept: dict[str, System] = {}
    while more := [
        system
        for system in readable
        if system.name not in kept and all(name in kept for name in system.below)
    ]:
        kept |= {system.name: system for system in more}
    return tuple(system for system in readable if system.name in kept)


def _is_sound(system: System, datasets: set[str]) -> bool:
    """Whether a system's own keys were read without a problem. The systems in its `of` are not checked."""
    if (system.retriever is None) == (not system.of):
        return False
    if len(system.of) > 1 and system.combine is None:
        return False
    if system.combine is not None and not _takes(system):
        return False
    chosen = [system.retriever, system.combine, *(system.context or ())]
    chosen += [item.chosen for item in system.queries]
    chosen += [item.chosen for item in system.rerank]
    tunings = [item.tuned or item.searched for item in chosen if item is not None]
    tuned = [item.on for item in tunings if item is not None]
    readable = all(item is None or item.params is not None for item in chosen)
    return readable and all(on is None or on[0] in datasets for on in tuned)


def _circles(known: dict[str, System]) -> list[list[str]]:
    """The circles of systems that refer to each other, each once, beginning with its first system by name."""
    circles = []
    for start in sorted(known):
        stack, seen = [(start, [start])], set()
        while stack:
            name, path = stack.pop()
            for below in known[name].below if name in known else ():
                if below == start:
                    if start == min(path):
                        circles.append([*path, start])
                elif below not in seen:
                    seen.add(below)
                    stack.append((below, [*path, below]))
    return circles
