"""Merges leaderboards of several machines, if they have the same rules of scoring and the same data."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from harness.errors import HarnessError, Problems
from harness.findings import Finding
from harness.leaderboard import board_file, hints, ids_only, readme
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.cited_files import within
from harness.leaderboard.means import SEEDS, with_averages, with_seeds
from harness.leaderboard.model import Board, Dataset, Environment, File, Row
from harness.leaderboard.same_rules import different_data, redefined_columns
from harness.problems import shown_path
from harness.scoring.limits import Scored
from harness.store import disk
from harness.suite.systems import why_no_file

COMMAND = "harness run SUITE --only ROWS  # on each machine"


class Source(NamedTuple):
    """A leaderboard to merge, and its name in messages."""

    board: Leaderboard
    name: str


class Merged(NamedTuple):
    board: Leaderboard
    path: Path
    notes: tuple[str, ...]


class _ChosenRow(NamedTuple):
    """A row of the merged leaderboard. `places` holds the paths of its files, which are new ones if its
    system was renamed."""

    row: Row
    source: Source
    places: Mapping[str, str]  # kind -> path


def merge(paths: Sequence[Path], out: Path, drop: Sequence[str] = (), rename: Sequence[str] = ()) -> Merged:
    """Writes the rows of several leaderboards, with their files, into `out`. A row that is in several
    leaderboards with the same fingerprint and numbers is taken once. If a row failed in one leaderboard and
    not in another, the one that did not fail is taken. `drop` lists the rows to leave out
    (`[LEADERBOARD:]SYSTEM`, a pattern), `rename` the systems to rename (`[LEADERBOARD:]OLD=NEW`). Raises
    HarnessError, naming every conflict, before anything is written."""
    sources = [Source(board_file.read(path), shown_path(path)) for path in paths]
    target = out.resolve()
    if any(source.board.folder.resolve() == target for source in sources):
        raise HarnessError(f"--out {shown_path(out)}: is one of the leaderboards; name another folder")
    if problems := _datasets(sources) or _scoring(sources):  # other data is reason enough
        raise Problems(problems)
    notes: list[str] = []
    rows, problems = _once(_chosen(sources, drop, rename), notes)
    files, wrong = _files(rows, notes)
    if problems or wrong:
        raise Problems([*problems, *wrong])
    board = Leaderboard(_content(sources, rows, notes), out)
    with disk.explaining(out):
        for source, place in files:
            (out / place).parent.mkdir(parents=True, exist_ok=True)
            with disk.replacing(out / place) as beside:
                shutil.copyfile(source, beside)
        board = with_seeds(with_averages(board))
        path = board.write()
        hints.merge([source.board.folder for source in sources], out)
        readme.write(out, readme.page(board, COMMAND))
    return Merged(board, path, tuple(notes))


def _scoring(sources: Sequence[Source]) -> list[str]:
    """The reason for each leaderboard whose rules are not those of the first. Columns follow from a protocol
    and are not named where protocols differ."""
    first = sources[0]
    problems = []
    for source in sources[1:]:
        suites = [item.board.data.suite for item in (first, source)]
        labels = [set(item.board.columns) for item in (first, source)]
        redefined = redefined_columns(first.board, source.board)
        reasons = [
            f"has {setting} {theirs}, {first.name} has {ours}"
            for setting in ("protocol", "depth", "seed")
            if (ours := getattr(suites[0], setting)) != (theirs := getattr(suites[1], setting))
        ]
        if suites[0].protocol == suites[1].protocol:
            for name, only in ((first.name, labels[0] - labels[1]), (source.name, labels[1] - labels[0])):
                if only:
                    reasons.append(f"only {name} has the columns {', '.join(sorted(only))}")
            if redefined:
                reasons.append(f"{', '.join(redefined)} is not computed as in {first.name}")
        if reasons:
            text = "; ".join(reasons)
            problems.append(f"{source.name}: is scored by other rules: {text}; score both alike")
    return problems


def _datasets(sources: Sequence[Source]) -> list[str]:
    names = [source.name for source in sources]
    problems = different_data([source.board for source in sources], names, queries=True)
    first: dict[str, Source] = {}
    for source in sources:
        for dataset in source.board.data.datasets:
            name, other = dataset.name, first.setdefault(dataset.name, source)
            alone = [bool(ids_only.citing(each.board, name)) for each in (other, source)]
            if alone[0] != alone[1]:
                problem = f"{name}: {(other if alone[0] else source).name} knows its judgements alone"
                problems.append(f"{source.name}: {problem}; score those runs with `harness score --suite`")
    return problems


def _chosen(sources: Sequence[Source], drop: Sequence[str], rename: Sequence[str]) -> list[_ChosenRow]:
    """All rows, without those that `drop` names, and with the new names of `rename`. Raises HarnessError for
    an option that matches no row."""
    unused = {f"--drop {text}" for text in drop} | {f"--rename {text}" for text in rename}
    rows = []
    for source in sources:
        renamed = {}
        for text in rename:
            old, _, new = _of_source(text, source).rpartition("=")
            if why_no_file(new) is not None:
                problem = f"'{new}' cannot name a system; write OLD=NEW with letters, digits, + - _"
                raise HarnessError(f"--rename {text}: {problem}")
            renamed[old] = new, text
        for row in source.board.rows:
            dropping = [text for text in drop if fnmatchcase(row.system, _of_source(text, source))]
            unused -= {f"--drop {text}" for text in dropping}
            if dropping:
                continue
            places = {kind: file.path for kind, file in row.files.items()}
            if row.system in renamed:
                new, text = renamed[row.system]
                unused.discard(f"--rename {text}")
                places = {kind: _renamed(path, row.system, new) for kind, path in places.items()}
                row = structs.replace(row, system=new)
            rows.append(_ChosenRow(row, source, places))
    if unused:
        raise HarnessError(f"{min(unused)}: fits no system of the leaderboards; check its name")
    return rows


def _of_source(text: str, source: Source) -> str:
    """The option without a leading `LEADERBOARD:` that names this leaderboard."""
    return text.removeprefix(f"{source.name}:")


def _renamed(path: str, old: str, new: str) -> str:
    """The path of a file after its system was renamed. A file that does not begin with the system's name,
    such as shared judgements, keeps its path."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{new}{name.removeprefix(old)}" if name.startswith(f"{old}.") else path


def _once(rows: Sequence[_ChosenRow], notes: list[str]) -> tuple[list[_ChosenRow], list[str]]:
    """Each row once, by dataset; and the problems of rows of one name and different content."""
    rows_by_key: dict[tuple[str, ...], _ChosenRow] = {}
    problems = []
    for new in rows:
        row, source = new.row, new.source
        key = row.dataset, row.split, row.system, row.origin
        before = rows_by_key.setdefault(key, new)
        if before is new:
            continue
        if "failed" in (row.status, before.row.status):
            if row.status == "ok":
                rows_by_key[key] = new
            notes.append(
                f"{row.name}: failed in one of them, and is taken from {rows_by_key[key].source.name}"
            )
            continue
        why = _conflict(before.row, row)
        if why:
            problem = f"{row.name}: is another row than in {before.source.name}: {why}"
            advice = f"--rename '{source.name}:{row.system}=NEW', or --drop '{source.name}:{row.system}'"
            problems.append(f"{source.name}: {problem}; {advice}")
        else:
            notes.append(f"{row.name}: stands in {before.source.name} and {source.name}, and is taken once")
    names = list(dict.fromkeys(item.row.dataset for item in rows))
    return sorted(rows_by_key.values(), key=lambda item: names.index(item.row.dataset)), problems


def _conflict(one: Row, other: Row) -> str | None:
    """How two rows of one name differ, or None if they agree."""
    prints = [row.provenance.fingerprint for row in (one, other)]
    if prints[0] != prints[1]:
        return f"its fingerprint is {str(prints[1])[:12]}, not {str(prints[0])[:12]}"
    for part in ("measures", "slices", "scored", "limits"):
        mine, theirs = (getattr(row, part) or {} for row in (one, other))
        if isinstance(mine, Scored) and isinstance(theirs, Scored):
            mine, theirs = structs.asdict(mine), structs.asdict(theirs)
        for key in [*mine, *theirs]:
            if mine.get(key) != theirs.get(key):
                return f"its {part} differ in {key}"
    return None


def _files(rows: Sequence[_ChosenRow], notes: list[str]) -> tuple[list[tuple[Path, str]], list[str]]:
    """The files to copy, each with its path below the target folder; and the problems of files that cannot be
    copied."""
    files: dict[str, tuple[Path, str]] = {}
    problems = []
    for row, source, places in rows:
        for kind, cited in sorted(row.files.items()):
            place, shown = places[kind], f"{source.name}: {cited.path}"
            path = within(source.board.folder, cited.path)
            if path is None:
                problems.append(f"{shown}: lies outside of its folder; mend the leaderboard")
            elif not path.is_file():
                notes.append(f"{shown}: is not here; the row cites it all the same ({kind})")
            elif disk.sha256(path) != cited.sha256:
                problems.append(
                    f"{shown}: is not the file that the row cites (its SHA-256 differs); run it again"
                )
            elif place in files and files[place][1] != cited.sha256:
                problems.append(f"{shown}: has the path of another row's file; rename one of the systems")
            else:
                files[place] = path, cited.sha256
    return [(path, place) for place, (path, _) in files.items()], problems


def _content(sources: Sequence[Source], chosen: Sequence[_ChosenRow], notes: list[str]) -> Board:
    first = sources[0].board.data
    suites = sorted({source.board.data.suite.digest for source in sources})
    digest = suites[0] if len(suites) == 1 else hashlib.sha256(" ".join(suites).encode()).hexdigest()
    rows = []
    for row, source, places in chosen:
        machine = source.board.data.environment
        cost = row.cost
        if cost.seconds is not None:
            on = f"{machine.cpu or 'unknown'}, {machine.cores or '?'} cores"
            cost = structs.replace(cost, machine=on)
        files = {kind: File(places[kind], file.sha256) for kind, file in row.files.items()}
        rows.append(structs.replace(row, cost=cost, files=files))
    named = {row.dataset for row in rows}
    return structs.replace(
        first,
        suite=structs.replace(first.suite, digest=digest),
        datasets=tuple(dataset for dataset in _blocks(sources) if dataset.name in named),
        rows=tuple(rows),
        analyses=_analyses(sources, notes),
        environment=_environment([source.board.data.environment for source in sources]),
    )


def _environment(machines: Sequence[Environment]) -> Environment:
    """The versions of this machine, with the processors and cores of the machines that made the rows. Where
    the machines differ, their values are joined by "and"."""

    def words(values: Sequence[int | str | None]) -> str:
        return " and ".join(dict.fromkeys(map(str, values)))

    cores = [machine.cores for machine in machines]
    return structs.replace(
        board_file.environment(),
        cpu=words([machine.cpu for machine in machines]),
        cores=cores[0] if len(set(cores)) == 1 else words(cores),
        merged=tuple(machines),
    )


def _analyses(sources: Sequence[Source], notes: list[str]) -> tuple[Finding, ...]:
    """The analyses of all leaderboards. If two leaderboards have different analyses under the same name, each
    was computed from only a part of the rows, so the analysis is left out."""
    analyses: dict[str, Finding] = {}
    differ: dict[str, None] = {}
    for source in sources:
        for analysis in source.board.data.analyses or ():
            if analysis.name.startswith(SEEDS):  # computed anew from all rows
                continue
            if analyses.setdefault(analysis.name, analysis) != analysis:
                differ[analysis.name] = None
    notes += [f"the analysis '{name}' differs between them, and is left out" for name in differ]
    return tuple(analysis for name, analysis in analyses.items() if name not in differ)


def _blocks(sources: Sequence[Source]) -> list[Dataset]:
    """Each dataset once, from the first leaderboard that read its data, else from the first that names it."""
    blocks: dict[str, Dataset] = {}
    for source in sources:
        for dataset in source.board.data.datasets:
            if dataset.name not in blocks or not blocks[dataset.name].counts:
                blocks[dataset.name] = dataset
    return list(blocks.values())
