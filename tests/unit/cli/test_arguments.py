"""Arguments that several commands share."""

import pytest

from harness.cli.arguments import measures_in


@pytest.mark.parametrize(
    ("words", "measures"),
    [
        (["nDCG@10", "R@100"], ["nDCG@10", "R@100"]),
        (["nDCG@10,R@100, RR@10", "P@5"], ["nDCG@10", "R@100", "RR@10", "P@5"]),
        (["AP(rel=2,judged_only=True)@10,P@5"], ["AP(rel=2,judged_only=True)@10", "P@5"]),
        ([""], []),
    ],
)
def test_measures_stand_between_blanks_or_commas(words: list[str], measures: list[str]) -> None:
    assert measures_in(words) == measures
