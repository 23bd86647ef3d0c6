"""The results alone, to send or to publish: the leaderboard's file, its page and its values per query. The
runs are left out, because they are large."""

from __future__ import annotations

from pathlib import Path

from harness.toolkit.boards import FILE, Leaderboard
from harness.toolkit.boards.exchange import PAGE, intact
from harness.toolkit.boards.stored import Store
from harness_forms.written_files import Written, put, target

LEFT_OUT = "run"


def write(board: Leaderboard, out: Path, store: Store) -> Written:
    """Writes a folder that all commands can read as a leaderboard. `leaderboard.json` stays byte by byte what
    it is. Raises HarnessError for a file that is not the one that its row cites."""
    notes: list[str] = []
    paths = [put(out / FILE, (board.folder / FILE).read_bytes())]
    page = board.folder / PAGE
    if page.is_file():
        paths.append(put(out / PAGE, page.read_bytes()))
    for row in board.rows:
        for kind in row.files:
            path = None if kind == LEFT_OUT else intact(board, row, kind)
            if path is not None:
                paths.append(put(target(out, *path.relative_to(board.folder).parts), path.read_bytes()))
            elif kind != LEFT_OUT:
                notes.append(f"{row.name}: its file `{kind}` is not here, and is left out")
    return Written(tuple(dict.fromkeys(paths)), tuple(notes))
