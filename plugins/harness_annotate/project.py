"""Opens a judging folder, new for a pool or continued with the same pool, and replays its log."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.plugin import HarnessError, StoreError, shown_path
from harness.toolkit.files import writing
from harness_annotate import journal as journals
from harness_annotate import pool_files, results
from harness_annotate.events import Opened
from harness_annotate.journal import Journal
from harness_annotate.pool_files import Pool
from harness_annotate.scheme import Rules, Scheme
from harness_annotate.state import NotAllowed, State

FORM = "harness judging 1"


class Project(NamedTuple):
    pool: Pool
    journal: Journal


def open_project(
    pool: Pool, folder: Path, scheme: Scheme | None, rules: dict[str, int | float], gold: Path | None,
    again: bool,
) -> Project:  # fmt: skip
    """Opens a judging folder: begins a new one, which needs a scheme, or continues one. The scheme, rules and
    pool of a folder cannot change; other ones are refused. With `again`, pairs that have a grade in the
    dataset are judged too."""
    journal = Journal(folder, create=True)
    with journal.reading() as state:
        begun = state.opened
    if begun is None:
        if scheme is None:
            raise HarnessError("--scheme: a new folder needs one; see docs/annotate.md for their names")
        wanted = _opened(pool, scheme, rules, gold, again)
        with journal.writing() as (state, append):
            if state.opened is None:  # no other process opened it first
                append(wanted)
        return Project(pool, journal)
    wanted = _opened(pool, scheme or begun.scheme, msgspec.to_builtins(begun.rules) | rules, gold, again)
    differing = [
        option
        for option, differs in {
            "the pool": wanted.pool != begun.pool,
            "--scheme": scheme is not None and wanted.scheme != begun.scheme,
            "the rules": bool(rules) and wanted.rules != begun.rules,
            "--gold": gold is not None and wanted.gold != begun.gold,
            "--again": again and wanted.judged != begun.judged,
        }.items()
        if differs
    ]
    if differing:
        what = f"was begun with another value of {', '.join(differing)}"
        raise HarnessError(f"{shown_path(folder)}: {what}; leave it out, or begin a new folder")
    return Project(pool, journal)


def _opened(
    pool: Pool, scheme: Scheme, rules: dict[str, int | float], gold: Path | None, again: bool
) -> Opened:
    try:
        merged = msgspec.convert(msgspec.to_builtins(scheme.rules) | rules, Rules)
    except msgspec.ValidationError as error:
        raise HarnessError(f"rules: {error}; choose another value") from None
    known = pool_files.read_gold(gold, pool, scheme) if gold is not None else {}
    judged = () if again else tuple(
        number for number, pair in enumerate(pool.pairs) if pair.grade is not None and number not in known
    )  # fmt: skip
    return Opened(FORM, pool.head.digest, len(pool.pairs), judged, known, scheme, merged)


class Replayed(NamedTuple):
    entries: int
    state: State
    problems: list[str]


def replay(folder: Path) -> Replayed:
    """Applies the whole log from its beginning. Each entry's digest must follow from the entries before it,
    and each entry must have been allowed at its place. An export there must cite an entry of it."""
    journal = Journal(folder)
    state, digest, count, seen = State(), journals.START, 0, set()
    problems: list[str] = []
    try:
        for entry in journal.entries():
            journals.apply(state, entry, digest, count + 1)
            digest, count = entry.digest, entry.seq
            seen.add(digest)
    except (NotAllowed, StoreError) as error:
        problems.append(str(error))
    problems += _export_problems(folder, seen)
    if not count:
        problems.append("the log is empty")
    journal.close()
    return Replayed(count, state, problems)


def is_project(folder: Path) -> bool:
    return (folder / journals.FILE).is_file()


def _export_problems(folder: Path, digests: set[str]) -> list[str]:
    """The problems of an export in the folder: it cites no entry of the log, or its files were changed."""
    path = folder / results.ABOUT
    if not path.is_file():
        return []
    try:
        about = msgspec.json.decode(path.read_bytes(), type=results.About)
    except msgspec.MsgspecError as error:
        return [f"{path.name} cannot be read ({error})"]
    problems = [] if about.log in digests else [f"{path.name} cites an entry that the log does not hold"]
    for name, digest in sorted(about.files.items()):
        if not (folder / name).is_file() or writing.sha256(folder / name) != digest:
            problems.append(f"{name} is not as it was exported")
    return problems
