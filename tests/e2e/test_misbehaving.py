"""One plugin of every kind, misbehaving in every way: what happens to which rows, as docs/misbehaving.md says."""

import os
from pathlib import Path

import pytest
from running import FAULTS, Harness, leaderboard, living

PAGE = Path(__file__).parents[2] / "docs" / "misbehaving.md"
WAYS = {  # way -> what the page calls it
    "raise": "raises",
    "type": "returns the wrong type",
    "nan": "returns NaN",
    "contract": "breaks its contract",
    "hang": "hangs",
    "sys.exit": "calls `sys.exit`",
    "segfault": "segfaults",
    "fork": "leaves a forked child",
    "output": "prints 10 MB",
    "memory": "takes 1 GB",
}
OUTCOMES = {  # kind -> what happens to the results that use such a plugin
    "dataset": "its rows fail", "maker": "its rows fail", "context": "its systems fail",
    "analyser": "its systems fail", "retriever": "its systems fail", "rewriter": "its systems fail",
    "trainer": "its systems fail", "reranker": "its systems fail", "combiner": "its systems fail",
    "measure": "its column is left out", "analysis": "it is shown as failed",
}  # fmt: skip
OF_DATASETS, OF_SYSTEMS = tuple(OUTCOMES)[:2], tuple(OUTCOMES)[2:9]
HEAD = """# Plugins that misbehave

A test (`tests/e2e/test_misbehaving.py`) runs suites with plugins that misbehave on purpose, and
writes this table. Each row is a kind of misbehaviour, each column a kind of plugin, and each cell
says what the run does with it. The suites set `timeout: 30` and `memory: 0.5`, so that a step may
take 30 seconds and half a gigabyte.

In every case the rows that do not use the plugin are `ok` and have their numbers, the leaderboard
is written, and no process is left behind. The exit code is 1 if something failed, otherwise 0.

When a step's worker ends, for whatever reason, all processes that it started are killed. On Linux
these are also processes that left the worker's session, ignore signals, or lost their parent; only
one that also cleared its environment, and whose worker died by itself, escapes. Other systems do
not say which processes descend from a worker: there the processes of the worker's group are killed,
and one that calls `setsid()` lives on.

"""


def measure_name(way: str) -> str:
    return f"Measure{way.replace('.', '').title()}"


def suite(ways: list[str]) -> dict[str, object]:
    systems: dict[str, object] = {
        "good": {"retriever": "overlap"},
        "other": {"context": ["shout"], "retriever": "overlap"},
    }
    for way in ways:
        systems |= {
            f"context-{way}": {"context": [f"context-{way}"], "retriever": "overlap"},
            f"analyser-{way}": {"retriever": {"of-terms": {"analyser": f"analyser-{way}"}}},
            f"retriever-{way}": {"retriever": f"retriever-{way}"},
            f"rewriter-{way}": {"queries": f"rewriter-{way}", "retriever": "overlap"},
            f"trainer-{way}": {"retriever": {"of-model": {"model": {"made": f"trainer-{way}"}}}},
            f"reranker-{way}": {"of": "good", "rerank": f"reranker-{way}"},
            f"combiner-{way}": {"of": ["good", "other"], "combine": f"combiner-{way}"},
        }
    return {
        "suite": "misbehaving",
        "datasets": {"toy": "toy"},
        "systems": systems,
        "models": {f"trainer-{way}": {"train": f"trainer-{way}", "on": "toy/train"} for way in ways},
        "measures": ["nDCG@10", *(measure_name(way) for way in ways)],
        "analyses": [f"analysis-{way}" for way in ways],
        "depth": 20,
        "timeout": 30,
        "memory": 0.5,
    }


def datasets(ways: list[str]) -> dict[str, object]:
    """The same for the datasets, with one system."""
    faulty = {f"dataset-{way}": f"dataset-{way}" for way in ways}
    made = {f"maker-{way}": {"of": "toy", "make": [f"maker-{way}"]} for way in ways}
    systems = {"good": {"retriever": "overlap"}}
    return {**suite([]), "datasets": {"toy": "toy", **faulty, **made}, "systems": systems}


def outcomes(board: dict, of_datasets: dict, way: str) -> dict[str, str]:
    """Kind -> what happened to what rests on it: nothing, or the reason."""
    rows = {(row["dataset"], row["system"]): row for row in board["rows"]}
    errors = {kind: rows["toy", f"{kind}-{way}"]["error"] for kind in OF_SYSTEMS}
    for kind in OF_DATASETS:
        [errors[kind]] = [row["error"] for row in of_datasets["rows"] if row["dataset"] == f"{kind}-{way}"]
    label = measure_name(way)
    flags = [flag for flag in rows["toy", "good"]["flags"] if flag.startswith(f"{label}: ")]
    assert (label in rows["toy", "good"]["measures"]) == (not flags)
    analysed = [item for item in board["analyses"] if item["name"].startswith(f"analysis-{way}/toy")]
    errors["measure"] = flags[0] if flags else None
    errors["analysis"] = analysed[0]["rows"][0][0] if analysed else None
    return {kind: errors[kind] or "" for kind in OUTCOMES}


def table(reasons: dict[str, dict[str, str]]) -> str:
    """The page's table, a line a way."""
    lines = [f"| | {' | '.join(OUTCOMES)} |", f"|---{'|---' * len(OUTCOMES)}|"]
    for way, called in WAYS.items():
        cells = [words if reasons[way][kind] else "no effect" for kind, words in OUTCOMES.items()]
        lines.append(f"| {called} | {' | '.join(cells)} |")
    return HEAD + "\n".join(lines) + "\n"


def run(harness: Harness, content: dict[str, object]) -> dict:
    harness.suite(content)
    marked = {"PYTHONPATH": FAULTS, "A_RUN": str(harness.folder)}
    ran = harness.run("suite.yaml", "--jobs", "6", "--replace", timeout=900, **marked)
    assert "Traceback" not in ran.err
    assert living(f"A_RUN={harness.folder}") == []
    board = leaderboard(harness.out)
    board["code"], board["err"] = ran.code, ran.err
    good = next(row for row in board["rows"] if (row["dataset"], row["system"]) == ("toy", "good"))
    assert good["status"] == "ok"
    assert "nDCG@10" in good["measures"]
    return board


def test_a_measure_that_leaves_the_process_loses_only_its_column(harness: Harness) -> None:
    content = suite([])
    harness.suite({**content, "measures": ["nDCG@10", "MeasureSysexit", "MeasureRaise", "MeasureFork"]})
    ran = harness.run(PYTHONPATH=FAULTS)
    assert ran.code == 1, ran.err
    for row in leaderboard(harness.out)["rows"]:
        assert row["status"] == "ok"
        assert list(row["measures"]) == ["nDCG@10", "MeasureFork"]
        assert any("MeasureSysexit failed: SystemExit: 5" in flag for flag in row["flags"])
        assert any("MeasureRaise failed: ValueError: asked to fail" in flag for flag in row["flags"])
    assert "ValueError: asked to fail" in ran.err


@pytest.mark.slow
def test_a_measure_that_hangs_leaves_its_stack(harness: Harness) -> None:
    harness.suite(suite([]))
    assert harness.run(PYTHONPATH=FAULTS).code == 0  # so that no step has to keep within the timeout
    harness.suite({**suite([]), "measures": ["nDCG@10", "MeasureHang"], "timeout": 4})
    ran = harness.run(PYTHONPATH=FAULTS)
    assert ran.code == 1, ran.err
    log = harness.store / "failures" / "measure-MeasureHang.log"
    assert f"its output is in {log}" in ran.err
    assert "in hang" in log.read_text()


def test_what_breaks_a_contract_fails_its_own_rows_and_is_told_so(harness: Harness) -> None:
    named = {
        f"{kind}-{way}": ""
        for kind in ("context", "retriever", "reranker", "combiner")
        for way in ("type", "contract")
    }
    named |= {
        "combiner-contract": "which no input found",
        "context-contract": "overlap: characters 0 to 3 and 1 to 4",
    }
    every = suite(["type", "contract"])["systems"]
    systems = {name: every[name] for name in ("good", "other", *named)}
    harness.suite({**suite([]), "systems": systems, "depth": 10, "timeout": 120})
    ran = harness.run(PYTHONPATH=FAULTS)
    assert ran.code == 1, ran.err
    rows = {row["system"]: row for row in leaderboard(harness.out)["rows"]}
    assert rows["good"]["status"] == rows["other"]["status"] == "ok"
    for name, reason in named.items():
        assert "broke its contract: " in rows[name]["error"], name
        assert reason in rows[name]["error"], name


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_what_happens_to_which_rows_is_what_the_page_says(harness: Harness) -> None:
    board, of_datasets = run(harness, suite(list(WAYS))), run(harness, datasets(list(WAYS)))
    assert board["code"] == of_datasets["code"] == 1
    reasons = {way: outcomes(board, of_datasets, way) for way in WAYS}
    expected = {
        "raise": "asked to fail", "hang": "timeout of 30 s", "sys.exit": "SystemExit: 5",
        "segfault": "SIGSEGV", "memory": "memory limit of 0.5 GB", "type": "", "nan": "", "contract": "",
    }  # fmt: skip
    for way, reason in expected.items():
        for kind in OUTCOMES:
            assert reasons[way][kind], f"{kind} {way}"
            assert reason in reasons[way][kind], f"{kind} {way}"
    for way in ("fork", "output"):
        assert not any(reasons[way].values()), reasons[way]
    page = table(reasons)
    if "WRITE_PAGES" in os.environ:
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page
