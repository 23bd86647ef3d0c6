"""The functions for notebooks, where they decide something themselves."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness import api, user_cache
from harness.catalogue import probe
from harness.catalogue.entry_points import EntryPoint
from harness.cli import kinds
from harness.errors import HarnessError
from harness.execution import workers
from harness.execution.workers import LocalWorkers


def test_the_default_store_can_be_opened_after_other_commands_used_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    probe.crash_of(EntryPoint("json", "json", "stranger", "1"))  # as `harness list` does
    user_cache.compiled_code().mkdir(parents=True)  # as a run with `--store` does
    assert api.opened_store(None).root.is_relative_to(tmp_path)


@pytest.mark.parametrize(("call", "given", "instead"), [
    (api.run, {"only": "bm25"}, r"write \['bm25'\]"), (api.run, {"set": "a=1"}, r"set: .*write \['a=1'\]"),
    (api.load, {"set": "a=1"}, r"set: .*write \['a=1'\]"),
])  # fmt: skip
def test_a_list_is_not_a_text_that_is_read_letter_by_letter(call, given, instead):
    with pytest.raises(HarnessError, match=instead):
        call("suite.yaml", **given)


@pytest.mark.parametrize("jobs", [0, -1, 1.5, True, "2"])
def test_steps_at_once_are_a_whole_number_from_1(jobs):
    with pytest.raises(HarnessError, match=r"jobs: .* from 1"):
        api.run({"suite": "s"}, jobs=jobs)


@pytest.mark.parametrize("form", [str, Path])
def test_a_folder_without_a_leaderboard_is_a_problem(tmp_path, form):
    with pytest.raises(HarnessError, match="results: cannot be read"):
        api.read_leaderboard(form(tmp_path / "results"))


def first_passages(queries, corpus, k):
    return [[(place, 1.0) for place in range(min(k, 3))] for _ in queries]


class Notebook:
    def __call__(self, queries, corpus, k):
        return first_passages(queries, corpus, k)


SUITE = {
    "suite": "on-a-cluster",
    "datasets": {"tour": {"tour": {"documents": 3}}},
    "systems": {"first": {"retriever": first_passages}},
    "measures": ["nDCG@10"],
    "depth": 10,
}


class Cluster(LocalWorkers):
    """Workers of this machine in the place of those of Ray."""

    seen: list = []  # noqa: RUF012

    def __init__(self, store, address, count, ship, fresh):
        super().__init__(store, 1)
        self.seen.append((address, count, ship, fresh))

    def done(self, step):
        self.seen.append(step.kind)

    def close(self):
        self.seen.append("closed")


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setitem(sys.modules, "harness.execution.ray_workers", SimpleNamespace(RayWorkers=Cluster))
    monkeypatch.setattr(Cluster, "seen", [])
    return Cluster.seen


def test_a_suite_of_a_notebook_runs_on_the_engine_that_it_names(tmp_path, cluster):
    board = api.run(
        SUITE, engine="ray", address="ray://head:10001", jobs=7, ship=True, store=tmp_path / "store",
        out=tmp_path / "out", quiet=True,
    )  # fmt: skip
    assert board.ok
    assert cluster[0] == ("ray://head:10001", 7, True, False)
    assert {"corpus", "queries", "judgements", "index", "search"} <= set(cluster[1:-1])
    assert cluster[-1] == "closed"


def test_an_engine_that_cannot_do_what_is_asked_is_refused(tmp_path, cluster, monkeypatch):
    assert kinds.ENGINES == workers.ENGINES
    monkeypatch.delenv("HARNESS_ENGINE", raising=False)

    def refusal(suite=SUITE, **options):
        with pytest.raises(HarnessError) as error:
            api.run(suite, store=tmp_path / "store", out=tmp_path / "out", quiet=True, **options)
        return str(error.value)

    assert refusal(address="head:6379") == "address: is for a Ray cluster; choose the engine ray too"
    assert refusal(ship=True) == "ship: is for a Ray cluster; choose the engine ray too"
    assert refusal(engine="spark") == "engine: expected local or ray, got 'spark'"
    called_here = {**SUITE, "systems": {"mine": {"retriever": Notebook()}}}
    assert "Notebook: runs in this process (" in refusal(called_here, engine="ray")
    monkeypatch.setenv("HARNESS_ENGINE", "ray")
    assert "where no node of a cluster can call it; say engine='local'" in refusal(called_here)
    assert cluster == []
