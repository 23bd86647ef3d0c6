"""Every case of docs/fusion.md has the values that the page gives for the paper and for its code."""

from pathlib import Path

import numpy as np
import pytest

from harness.types import Hits, Structure
from harness_fusion import ConvexParams
from harness_fusion.methods import Convex

PAGE = Path(__file__).parents[2] / "docs" / "fusion.md"
STRUCTURE = Structure(
    np.array([0, 0, 1, 1, 2, 2, 2, 3], np.int32),
    np.array([0, 2, 4, 7, 8], np.int64),
    np.array([True, True, True, False, True, True, True, True]),  # the page leaves passage 3 out
)
FORMS = {"paper": ("paper", "union"), "code": ("code", "first")}


def cases():
    """(case, passage scores, document scores, {"paper": values, "code": values}) from the page's table."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index("| case | passage scores | document scores | paper | code |") + 2
    for line in lines[start:]:
        if not line.startswith("|"):
            return
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        passages, documents, paper, code = (values(cell) for cell in cells)
        yield pytest.param(passages, documents, {"paper": paper, "code": code}, id=name)


def values(cell):
    """`p0 .5, p2 1` as {0: 0.5, 2: 1.0}."""
    pairs = (item.split() for item in cell.split(",") if item.strip())
    return {int(name[1:]): float(value) for name, value in pairs}


def hits(scores, unit):
    ordered = sorted(scores.items(), key=lambda item: -item[1])
    found = np.array([[position for position, _ in ordered]], np.int64).reshape(1, -1)
    return Hits(found, np.array([[score for _, score in ordered]], np.float32).reshape(1, -1), unit)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("passages", "documents", "expected"), list(cases()))
def test_a_case_has_the_value_of_the_paper_and_of_its_code(passages, documents, expected, form):
    given, candidates = FORMS[form]
    method = Convex(ConvexParams(weight=0.5, form=given, candidates=candidates))
    result = method.combine([hits(passages, "passage"), hits(documents, "document")], 10, STRUCTURE)
    filled = result.passages[0] >= 0
    found = dict(zip(result.passages[0][filled].tolist(), result.scores[0][filled].tolist(), strict=True))
    assert found == pytest.approx(expected[form], abs=1e-6)


def test_the_page_has_the_cases_that_matter():
    names = " ".join(str(case.id) for case in cases())
    for word in ("miss", "constant", "single", "tie", "no documents", "no passages"):
        assert word in names
