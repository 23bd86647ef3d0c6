"""What the committed suites plan is written down. It changes on purpose only, and is the same on every machine."""

import difflib
import re

import pytest

import golden_plans
from harness import catalogue
from harness.execution import requests

pytestmark = pytest.mark.extras
SHOWN = 60  # lines of a difference


@pytest.fixture(scope="module")
def found():
    return golden_plans.standing_in(catalogue.load())


def test_each_suite_has_a_golden_file_and_each_file_a_suite():
    names = {path.stem for path in golden_plans.GOLDEN.glob("*.txt")}
    assert names == set(golden_plans.suites()), "run: python tools/golden_plans.py"


@pytest.mark.parametrize("name", golden_plans.suites())
def test_a_suite_plans_what_its_golden_file_holds(name, found):
    path = golden_plans.GOLDEN / f"{name}.txt"
    before = path.read_text(encoding="utf-8").splitlines()
    planned = golden_plans.golden(golden_plans.planned(golden_plans.suites()[name], found)).splitlines()
    changed = list(difflib.unified_diff(before, planned, path.name, "planned", lineterm="", n=0))
    shown = "\n".join([*changed[:SHOWN], *(["..."] if len(changed) > SHOWN else [])])
    advice = f"if it is meant, run: python tools/golden_plans.py {name}; see also its --facts"
    assert not changed, f"{advice}\n{shown}"


@pytest.mark.parametrize("name", golden_plans.suites())
def test_the_key_of_a_step_is_the_same_after_the_wire(name, found):
    for step in golden_plans.steps_of(golden_plans.planned(golden_plans.suites()[name], found)).values():
        sent = requests.decode(requests.encode(requests.Execute(step.id, step.record)))
        assert (sent.record, sent.record.key) == (step.record, step.key), step.label


def test_every_row_of_these_suites_has_hits():
    texts = [path.read_text(encoding="utf-8") for path in sorted(golden_plans.GOLDEN.glob("*.txt"))]
    rows = [line for text in texts for line in text.splitlines() if line.startswith("row ")]
    assert [row for row in rows if not re.search(r" <- \d[\d ]*$", row)] == []
