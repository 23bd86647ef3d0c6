"""Two people with a store in common: the second executes nothing, and both get the same leaderboard."""

from __future__ import annotations

from pathlib import Path

from running import EVERYTHING, Harness, results


def test_the_second_one_fetches_all_that_the_first_one_did(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    shared = (tmp_path / "shared").as_uri()
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        one = Harness(tmp_path / name)
        one.suite(EVERYTHING)
        ran = one.run("suite.yaml", "--remote", shared)
        assert ran.code == 0, ran.err
        assert results(one.out) == undisturbed
    assert "finished steps were fetched" in ran.err
    assert " 0 to do" in ran.err
