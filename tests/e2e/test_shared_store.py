"""Two people with a store in common: the second executes nothing, and both get the same leaderboard."""

from pathlib import Path

import pytest
from running import EVERYTHING, Harness, results

from harness.errors import HarnessError
from harness.store.remote import Remote


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
    cleaned = one.command("cache", "gc", "--remote", shared)
    assert (cleaned.code, cleaned.out) == (0, "0 B freed\n")


def test_a_remote_is_not_cleaned_of_what_a_run_may_be_pushing(tmp_path: Path) -> None:
    shared = (tmp_path / "shared").as_uri()
    for words in (["--unused-for", "0.5"], ["--keep", "suite.yaml"]):
        ran = Harness(tmp_path).command("cache", "gc", "--remote", shared, *words)
        assert ran.code == 2
        assert ran.err.startswith(f"{words[0]}: ")


def test_a_store_is_pushed_listed_and_pulled_by_hand(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    remote = ("--remote", (tmp_path / "shared").as_uri())
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        Harness(tmp_path / name).suite(EVERYTHING)
    first, second = (Harness(tmp_path / name, here=True) for name in ("first", "second"))
    assert first.run("suite.yaml", *remote, "--no-push").code == 0
    assert first.command("cache", "ls", *remote).out.startswith("0 artifacts")
    pushed = first.command("cache", "push", "--store", first.store, *remote)
    count = len(list((first.store / "artifacts").iterdir()))
    assert pushed.out.startswith(f"{count} artifacts pushed")
    assert f"\n{count} artifacts" in first.command("cache", "ls", *remote).out
    pulled = second.command("cache", "pull", "suite.yaml", "--store", second.store, *remote)
    assert f"{count} artifacts fetched" in pulled.out
    ran = second.run("suite.yaml")
    assert " 0 to do" in ran.err
    assert results(second.out) == undisturbed


@pytest.mark.parametrize("when", ["first", "later"])
def test_a_push_that_fails_keeps_the_leaderboard_and_the_next_run_pushes_what_lacks(
    harness: Harness, undisturbed: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    harness.suite(EVERYTHING)
    remote = ("--remote", (harness.folder / "shared").as_uri())
    calls, write = iter(range(10**6)), Remote._write

    def fails(self: Remote, path: str, data: bytes) -> None:
        if next(calls) >= {"first": 0, "later": 7}[when]:
            raise HarnessError(f"{self.address}: the server is away; check the address")
        write(self, path, data)

    with monkeypatch.context() as patch:
        patch.setattr(Remote, "_write", fails)
        ran = harness.run("suite.yaml", *remote)
    assert ran.code == 1, ran.err
    assert ran.err.count("the next run with this remote pushes them") == 1
    assert results(harness.out) == undisturbed
    again = harness.run("suite.yaml", *remote)
    assert (again.code, " 0 to do" in again.err) == (0, True), again.err
    count = len(list((harness.store / "artifacts").iterdir()))
    assert f"\n{count} artifacts" in harness.command("cache", "ls", *remote).out
    assert not list(harness.store.glob("unpushed/*/*"))
