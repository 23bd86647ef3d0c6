"""Takes in results that somebody else sent: `python tools/take_in.py RESULTS --as WHO`.

RESULTS is what `harness export LEADERBOARD --form results` wrote. It is kept as
leaderboards/SUITE/elsewhere/WHO if it is of a committed suite as it stands, and if its numbers follow from
its values per query. Then `python tools/reproduction.py > docs/reproduction.md` says who ran it."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

from harness import catalogue, suite
from harness.errors import HarnessError
from harness.execution import progress
from harness.leaderboard import board_file
from harness.store.artifacts import Store
from harness.verify import verify
from harness_forms.export import export

LEADERBOARDS = Path(__file__).parents[1] / "leaderboards"
ELSEWHERE = "elsewhere"


def take_in(results: Path, who: str, leaderboards: Path = LEADERBOARDS) -> Path:
    """The folder in which the results are kept. Raises HarnessError for results that are not taken."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", who):
        raise HarnessError(f"--as {who}: is no name for a folder; use small letters, digits and hyphens")
    board = board_file.read(results)
    path = leaderboards / board.data.name / "suite.yaml"
    if not path.is_file():
        raise HarnessError(f"{results}: is of the suite {board.data.name}, which is not in {leaderboards}")
    known = catalogue.load()
    if board.data.suite is None or board.data.suite.digest != suite.load(path, known).digest:
        raise HarnessError(f"{results}: was made by another version of {path}; run that file as it is")
    if any(dataset.limited for dataset in board.data.datasets):
        raise HarnessError(f"{results}: is a trial (--limit, --sample); run the whole suite")
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        reporter = progress.reporter(sys.stderr)
        checked = verify(board, store, known, reporter, path)
        reporter.close()
        wrong = [*checked.findings, *(text for row in checked.rows for text in row.findings)]
        if wrong:
            raise HarnessError(f"{results}: {wrong[0]}")
        out = path.parent / ELSEWHERE / who
        export(board, "results", out, store)
    return out


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, metavar="RESULTS")
    parser.add_argument("--as", dest="who", required=True, help="who ran it: the folder's name")
    parser.add_argument("--into", type=Path, default=LEADERBOARDS, help="the folder of the suites' folders")
    options = parser.parse_args()
    try:
        print(take_in(options.results, options.who, options.into))
    except HarnessError as error:
        sys.exit(f"error: {error}")
