"""A tiny stand-in of every model that a registry or a committed suite names, in the form in which it is published.

`make(name, root)` writes one to `root/models/OWNER/NAME`, where `standins.server` serves it. The table is
`published.txt`; `forms.py` says what weights and configuration a form has, `tokenisers.py` writes vocabularies.
What is not known of a repository is as its family commonly has it, and the table says so.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple


class Published(NamedTuple):
    name: str
    form: str
    known: str  # where its list of files was seen
    commit: str | None
    files: tuple[str, ...]


def _table() -> dict[str, Published]:
    sets: dict[str, list[str]] = {}
    rows: dict[str, Published] = {}
    for line in Path(__file__).with_name("published.txt").read_text(encoding="utf-8").splitlines():
        words = line.partition("#")[0].split()
        if words and words[0].startswith("+"):
            sets[words[0]] = words[1:]
        elif words:
            name, form, known, commit, *files = words
            every = {file for word in files for file in sets.get(word, [word])}
            rows[name] = Published(name, form, known, None if commit == "-" else commit, tuple(sorted(every)))
    return rows


PUBLISHED = _table()
NAMES = tuple(PUBLISHED)
GATED = {"naver/splade-v3-doc", "google/embeddinggemma-300m"}
MOVED = {f"cross-encoder/ms-marco-MiniLM-L-{n}-v2": f"cross-encoder/ms-marco-MiniLM-L{n}-v2" for n in (2, 4)}


def make(name: str, root: Path) -> Path:
    """The folder of the stand-in of `name`. One that is there is kept as it is."""
    from harness.toolkit.neural import revisions
    from standins.models import forms

    folder = root / "models" / MOVED.get(name, name)
    if folder.is_dir():
        return folder
    row = PUBLISHED[name]
    pinned = revisions.of(
        name, revisions.AUTO
    )  # served as the commit that the product asks for, if it names one
    commits = [commit for commit in (row.commit, pinned) if commit and re.fullmatch("[0-9a-f]{40}", commit)]
    settings = {"commits": list(dict.fromkeys(commits))} if commits else {}
    settings |= {"gated": True} if name in GATED else {}
    forms.write(row, folder)
    (folder / ".hub.json").write_text(json.dumps(settings), encoding="utf-8")
    if name in MOVED:
        old = root / "models" / name
        old.mkdir(parents=True)
        (old / ".hub.json").write_text(json.dumps({"moved": MOVED[name]}), encoding="utf-8")
    return folder
