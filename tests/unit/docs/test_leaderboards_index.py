"""leaderboards/README.md: up to date, and it tells suites with results from those without."""

from pathlib import Path

import leaderboards_index

FOLDER = Path(__file__).parents[3] / "leaderboards"
COMMAND = "python tools/leaderboards_index.py > leaderboards/README.md"


def test_the_index_of_the_leaderboards_is_up_to_date():
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == leaderboards_index.page(FOLDER), COMMAND


def test_suites_with_results_stand_apart_from_the_others():
    run, waiting = leaderboards_index.page(FOLDER).split("## To be run elsewhere")
    assert "| [tour](tour) | tour-en, tour-zh | 20 |" in run
    assert "[dapr](dapr)" in waiting
    assert "[dapr](dapr)" not in run
