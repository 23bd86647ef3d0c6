"""Plugins that misbehave while a suite is planned: their rows fail with the reason, the others have numbers."""

import re

import pytest
from running import FAULTS, Harness, leaderboard, living, rows

PLANNING = {  # what `card` does -> the row's reason
    "exit": "failed while planning: SystemExit: 5",
    "hang": "took longer than the timeout of 5 s in card while planning",
    "stubborn": "took longer than the timeout of 5 s in card while planning",
    "base": "failed while planning: BaseException: of no other kind",
    "lines": "failed while planning: ValueError: the first line\nand what to do about it",
    "type": "broke its contract while planning: cards must be harness.types.Card, not int",
    "field": "broke its contract while planning: the card's language: Expected `str | null`, got `int`",
    "inputs": "broke its contract while planning: inputs of the corpus must be harness.types.Inputs, not list",
    "files": "broke its contract while planning: the files of inputs of the corpus must be paths",
    "params": "broke its contract while planning: the parameters of inputs of the corpus: ",
}
METHODS = {  # what a retriever's record answers -> the row's reason
    "resolve": "resolved parameters must be bad_planning.Odd, not int",
    "missing": "missing_files must be several, not int",
    "needs": "missing files must be harness.problems.Need, not int",
    "depends": "depends_on must yield pairs of a kind and a name, not ('analysers',)",
}
METHODS_CALLED = ("resolve", "missing_files", "depends_on")


def suite(datasets: dict[str, object], systems: dict[str, object], timeout: float = 200) -> dict[str, object]:
    return {
        "suite": "planning",
        "datasets": {"toy": "toy", **datasets},
        "systems": {"good": {"retriever": "overlap"}, **systems},
        "measures": ["nDCG@10"],
        "depth": 10,
        "timeout": timeout,
    }


@pytest.fixture
def planned(harness: Harness) -> Harness:
    return Harness(harness.folder, {"PYTHONPATH": FAULTS, "A_RUN": str(harness.folder)})


@pytest.mark.slow
def test_a_dataset_that_misbehaves_while_planning_fails_its_rows_only(planned: Harness) -> None:
    planned.suite(suite({}, {}))
    assert planned.run().code == 0  # so that no step has to keep within the timeout
    datasets = {how: {"odd-dataset": {"how": how}} for how in PLANNING}
    planned.suite(suite(datasets, {}, timeout=5))
    ran = planned.run()
    assert ran.code == 1, ran.err
    assert "Traceback" not in ran.err
    found = {row["dataset"]: row for row in leaderboard(planned.out)["rows"]}
    assert found["toy"]["status"] == "ok"
    for how, reason in PLANNING.items():
        assert reason in found[how]["error"], how


def test_a_method_that_answers_nonsense_while_planning_fails_its_rows_only(planned: Harness) -> None:
    planned.suite(suite({}, {how: {"retriever": {"odd-method": {"how": how}}} for how in METHODS}))
    ran = planned.run()
    assert ran.code == 1, ran.err
    by_system = rows(planned.out)
    assert by_system["good"]["status"] == "ok"
    for how, reason in METHODS.items():
        assert f"broke its contract while planning: {reason}" in by_system[how]["error"], how


def test_check_names_the_rows_that_would_fail(planned: Harness) -> None:
    planned.suite(suite({"odd": {"odd-dataset": {"how": "exit"}}}, {}))
    ran = planned.command("check", "suite.yaml", "--store", planned.store)
    assert ran.code == 1
    assert "fails: odd / good: dataset 'odd-dataset' failed while planning: SystemExit: 5" in ran.out


def test_a_plugin_that_ends_the_process_while_planning_fails_its_rows_only(planned: Harness) -> None:
    how = {"segfault": "card while planning (SIGSEGV)", "leave": "card while planning (exit code 7)"}
    late = {"leave-inputs": "inputs while planning (exit code 7)"}
    methods = {f"leave-{call}": f"{call} while planning (exit code 7)" for call in METHODS_CALLED}
    content = suite(
        {name: {"odd-dataset": {"how": name}} for name in how | late},
        {name: {"retriever": {"odd-method": {"how": name}}} for name in methods},
    )
    planned.suite(content)
    ran = planned.run()
    assert ran.code == 1, ran.err
    assert re.search(r'bad_planning.py", line \d+ in card', ran.err)  # the stack of the segfault
    found = {(row["dataset"], row["system"]): row for row in leaderboard(planned.out)["rows"]}
    assert found["toy", "good"]["status"] == "ok"
    for name, ending in (how | late).items():
        assert f"dataset 'odd-dataset' ended the process in {ending}" in found[name, "good"]["error"]
    for name, ending in methods.items():
        assert f"'odd-method' ended the process in {ending}" in found["toy", name]["error"]
    assert living(f"A_RUN={planned.folder}") == []


def test_judgements_of_queries_that_the_dataset_lacks_fail_its_rows_only(planned: Harness) -> None:
    planned.suite(suite({"odd": {"odd-dataset": {"how": "stray"}}}, {}))
    assert planned.run().code == 1
    found = {row["dataset"]: row for row in leaderboard(planned.out)["rows"]}
    assert found["toy"]["status"] == "ok"
    assert "datasets.odd: 1 judged queries are not among its queries" in found["odd"]["error"]
    assert "a dataset yields judgements of its own queries alone" in found["odd"]["error"]
