"""Checks between the parts of a suite: names that exist, depths, tuning, no circles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.catalogue import params
from harness.problems import Named, Problem, nearest, unknown
from harness.suite import made_datasets
from harness.suite.keys import Split
from harness.suite.model import Chosen, DatasetSpec, System


def problems(
    systems: Sequence[System],
    datasets: Sequence[DatasetSpec],
    written: Mapping[str, set[str]],
    referred: Mapping[str, Sequence[Named]],
    depth: int,
) -> Iterator[Problem]:
    """The problems between systems and datasets. `written` are the names of all systems and datasets in the
    file, and `referred` all names by which its parts refer to these, also in parts that could not be read."""
    yield from _depths(systems, depth)
    yield from _tuning(systems)
    misnamed = [*_splits(datasets, written["dataset"], referred)]
    misnamed += _references(systems, written["system"], referred["system"])
    yield from misnamed
    yield from _rewriting(systems, depth)
    everything = written["system"] == {system.base for system in systems}
    if everything and written["dataset"] == {spec.name for spec in datasets} and not misnamed:
        yield from _unscored(systems, datasets, referred)


def _depths(systems: Sequence[System], depth: int) -> Iterator[Problem]:
    for system in systems:
        for item in system.rerank:
            if item.depth is not None and item.depth > depth:
                text = f"re-ranks {item.depth}, but the suite's depth is {depth}"
                advice = f"set depth: {item.depth} or more"
                path = ("systems", system.base, "rerank")
                yield Problem(item.chosen.place, path, f"{text}; {advice}")


def _tuning(systems: Sequence[System]) -> Iterator[Problem]:
    for system in systems:
        searched = [chosen for chosen in system.methods if chosen.searched or chosen.tuned]
        if len(searched) > 1:
            text = "tunes more than one of its methods; tune one, and build on it with 'of'"
            yield Problem(system.place, ("systems", system.base), text)
        for chosen in searched:
            if chosen.tuned and chosen.tuned.learned and len(system.of) != 2:
                text = f"a value for each query is learned of two systems, and 'of' names {len(system.of)}"
                yield Problem(chosen.tuned.place, ("systems", system.base, chosen.name, "learned"), text)
            text_of, tuning = _unfit(chosen), chosen.tuned or chosen.searched
            if text_of is not None and tuning is not None:
                word = chosen.tuned.word if chosen.tuned else "tune"
                yield Problem(tuning.place, ("systems", system.base, chosen.name, word, "grid"), text_of)


def _splits(
    datasets: Sequence[DatasetSpec], written: set[str], referred: Mapping[str, Sequence[Named]]
) -> Iterator[Problem]:
    """The problems with datasets that others are made of, and with splits that are tuned or trained on."""
    specs = {spec.name: spec for spec in datasets if spec.chosen.params is not None}
    for place, path, name in referred["dataset"]:
        base = made_datasets.parted(name, written)[0]
        if base not in written:
            yield Problem(place, path, unknown("dataset", base, written - {str(path[1])}))
    for place, path, name in referred["split"]:
        base = name.rpartition("/")[0]
        text = _why_no_split(specs, name) if base in specs else unknown("dataset", base, written)
        if text is not None and (base in specs or base not in written):
            yield Problem(place, path, text)


def _why_no_split(specs: Mapping[str, DatasetSpec], name: str) -> str | None:
    base, _, split = name.rpartition("/")
    other = made_datasets.with_split(specs[base], split, Path())
    return f"{other}; name another" if isinstance(other, str) else None


def sound_splits(datasets: Sequence[DatasetSpec], referred: Sequence[Named]) -> set[Split]:
    """The splits that the suite names, of datasets that could be read."""
    specs = {spec.name: spec for spec in datasets}
    pairs = ((item.name, item.name.rpartition("/")) for item in referred)
    return {
        (base, split) for name, (base, _, split) in pairs if base in specs and not _why_no_split(specs, name)
    }


def _unfit(chosen: Chosen) -> str | None:
    """Why a value that a method is tuned over does not fit; None if all fit, or if the method is unknown."""
    if chosen.params is None:  # its problems are noted already
        return None
    # the first point was checked with the other parameters; the other points must fit too
    plain = params.plain(chosen.params)
    points = []
    if chosen.tuned is not None:
        points = [{chosen.tuned.parameter: chosen.tuned.values[-1]}]
    elif chosen.searched is not None:
        names = chosen.searched.parameters
        points = [dict(zip(names, point, strict=True)) for point in chosen.searched.points]
    for point in points:
        problems = params.convert(chosen.entry.record.params, {**plain, **point}, Path("/"))[1]
        if problems:
            return problems[0].text
    return None


def _references(
    systems: Sequence[System], written: set[str], references: Sequence[Named]
) -> Iterator[Problem]:
    known = {system.name: system for system in systems}
    bases = {system.base for system in systems}
    for place, path, name in references:
        grid = name.partition(",")[0]  # a system of a grid that could not be read has no problem here
        if name not in known and name not in written and (grid in bases or grid not in written):
            yield Problem(place, path, unknown("system", name, {*known, *written}))
    for system in systems:
        path = ("systems", system.base, "of")
        for name in system.below:
            # a grid whose systems refer to each other is not fanned out
            if name not in known and name in bases:
                text = f"the systems refer to each other in a circle through the grid '{name}'; break it"
                yield Problem(system.place, path, text)
        if system.combine is not None and _is_sound(system.combine) and not _takes(system):
            least, most = system.combine.entry.record.inputs
            bounds = f"at least {least}" if most is None else f"{least} to {most}"
            text = f"'{system.combine.name}' combines {bounds} systems, not {len(system.of)}"
            yield Problem(system.place, path, text)
    for circle in _circles(known):
        text = f"the systems refer to each other in a circle: {' -> '.join(circle)}; break it"
        yield Problem(known[circle[0]].place, ("systems", circle[0], "of"), text)


def _unscored(
    systems: Sequence[System], datasets: Sequence[DatasetSpec], referred: Mapping[str, Sequence[Named]]
) -> Iterator[Problem]:
    used = {item.name for item in referred["system"]}
    for system in systems:
        if not system.scored and used.isdisjoint((system.name, system.base)):
            text = "'scored: false' is for a system that another system, a model or a made dataset reads"
            yield Problem(system.place, ("systems", system.base), f"{text}; nothing does")
    if systems and not any(system.scored for system in systems):
        yield Problem(
            systems[0].place,
            ("systems",),
            "all have 'scored: false', so the leaderboard has no row; score at least one",
        )
    names = {spec.name for spec in datasets}
    read = {
        made_datasets.parted(item.name, names)[0] for kind in ("split", "dataset") for item in referred[kind]
    }
    for spec in datasets:
        if not spec.scored and spec.name not in read:
            text = "'scored: false' is for a dataset that something is tuned, trained or made of; nothing is"
            yield Problem(spec.chosen.place, ("datasets", spec.name), text)
    if datasets and not any(spec.scored for spec in datasets):
        yield Problem(
            datasets[0].chosen.place,
            ("datasets",),
            "all have 'scored: false', so the leaderboard has no row; score at least one",
        )


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
    """Whether the system has a sound combiner that takes as many systems as `of` names."""
    if system.combine is None or not _is_sound(system.combine):
        return False
    least, most = system.combine.entry.record.inputs
    return len(system.of) >= least and (most is None or len(system.of) <= most)


def sound(systems: Sequence[System], unread: Sequence[System], splits: set[Split]) -> tuple[System, ...]:
    """Systems in whose place these can be planned, so that planning finds the other problems of the suite. A
    misspelt name in `of` is taken for the name that was probably meant. Methods that could not be read are
    left out, a retriever is replaced by another one of the suite, and what is tuned on none of `splits` keeps
    its first value."""
    given = (*systems, *unread)
    names = {name for system in given for name in (system.name, system.base)}
    stand_in = next(
        (item.retriever for item in systems if item.retriever and _is_sound(item.retriever)), None
    )

    def meant(name: str, others: list[str]) -> str:
        return name if name in names else nearest(name.partition(",")[0], others) or name

    def planned(system: System) -> System:
        others = sorted(names - {system.base})
        of = tuple(meant(name, others) for name in system.of)
        queries = [
            item._replace(of=item.of and meant(item.of, others), chosen=_untuned(item.chosen, splits))
            for item in system.queries if _is_sound(item.chosen)
        ]  # fmt: skip
        reranks = [
            item._replace(chosen=_untuned(item.chosen, splits)) for item in system.rerank
            if _is_sound(item.chosen)
        ]  # fmt: skip
        combine = system.combine if of and _takes(system) else None
        context = [_untuned(item, splits) for item in system.context or () if _is_sound(item)]
        retriever = system.retriever if system.retriever and _is_sound(system.retriever) else stand_in
        return system._replace(
            of=of if combine else of[:1],
            combine=combine and _untuned(combine, splits),
            rerank=tuple(reranks),
            queries=tuple(queries),
            context=None if system.context is None else tuple(context),
            retriever=None if of or retriever is None else _untuned(retriever, splits),
        )

    readable = [system for system in map(planned, given) if system.retriever or system.of]
    kept: dict[str, System] = {}
    while more := [
        system
        for system in readable
        if system.name not in kept and all(name in kept for name in system.below)
    ]:
        kept |= {system.name: system for system in more}
    return tuple(system for system in readable if system.name in kept)


def _is_sound(chosen: Chosen) -> bool:
    return chosen.params is not None and _unfit(chosen) is None


def _untuned(chosen: Chosen, splits: set[Split]) -> Chosen:
    """The method without its tuning if that is on another split than these."""
    tuning = chosen.tuned or chosen.searched
    if tuning is None or tuning.on is None or tuning.on in splits:
        return chosen
    return chosen._replace(tuned=None, searched=None)


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
