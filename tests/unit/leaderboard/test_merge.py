"""Merging leaderboards: rows together under the same rules, conflicts refused by name."""

import shutil

import orjson
import pytest
from msgspec import structs

from harness.cli import main
from harness.errors import HarnessError
from harness.leaderboard import board_file
from harness.leaderboard.merge import merge
from harness.leaderboard.model import Cost
from harness.problems import shown_path
from harness.store import disk
from harness.store.artifacts import Store


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One suite run as two halves, as two machines would, and as a whole."""
    folder = tmp_path_factory.mktemp("merge")
    suite = folder / "suite.yaml"
    suite.write_text(
        "suite: small\ndatasets: {tour: {tour: {documents: 20}}}\n"
        "systems:\n  bm25: {retriever: bm25}\n  ql: {retriever: ql}\n  rm: {of: bm25, rerank: {sdm: {}, depth: 5}}\n"
        "measures: [nDCG@10, MicroR@5]\ndepth: 20\n",
        encoding="utf-8",
    )
    for name, only in (("one", ["bm25", "ql"]), ("two", ["bm25", "rm"]), ("whole", ["*"])):
        options = [word for pattern in only for word in ("--only", pattern)]
        store = folder / f"store-{name}"
        assert main(["run", str(suite), "--out", str(folder / name), "--store", str(store), *options]) == 0
    return folder


@pytest.fixture
def halves(made, tmp_path):
    for name in ("one", "two"):
        shutil.copytree(made / name, tmp_path / name)
    return tmp_path / "one", tmp_path / "two"


def change(folder, act):
    data = orjson.loads((folder / "leaderboard.json").read_bytes())
    act(data)
    (folder / "leaderboard.json").write_bytes(orjson.dumps(data))


def plain(board):
    rows = [structs.replace(row, cost=Cost()) for row in board.rows]
    return sorted(rows, key=lambda row: row.system)


def test_two_halves_are_the_whole(made, halves, tmp_path):
    merged = merge(halves, tmp_path / "out")
    whole = board_file.read(made / "whole")
    read = board_file.read(tmp_path / "out")
    assert plain(read) == plain(whole)
    for key in ("suite", "datasets", "columns"):
        assert getattr(read.data, key) == getattr(whole.data, key)
    for row in read.rows:
        for file in row.files.values():
            assert (tmp_path / "out" / file.path).read_bytes() == (made / "whole" / file.path).read_bytes()
    assert [note for note in merged.notes if "bm25" in note and "is taken once" in note]
    assert (tmp_path / "out" / "README.md").is_file()


def test_what_is_merged_is_verified(made, halves, tmp_path, capsys):
    merge(halves, tmp_path / "out")
    Store(tmp_path / "store").open()
    assert main(["verify", str(tmp_path / "out"), "--store", str(tmp_path / "store")]) == 0
    assert "3 verified" in capsys.readouterr().out


def test_each_row_says_where_it_was_timed(halves, tmp_path):
    for number, folder in enumerate(halves):
        change(folder, lambda data, n=number: data["environment"].update(cpu=f"cpu {n}", cores=4))
    board = merge(halves, tmp_path / "out").board
    machines = {row.system: row.cost.machine for row in board.rows}
    assert machines == {"bm25": "cpu 0, 4 cores", "ql": "cpu 0, 4 cores", "rm": "cpu 1, 4 cores"}
    assert board.data.environment.cpu == "cpu 0 and cpu 1"
    assert len(board.data.environment.merged) == 2


def test_a_row_that_failed_gives_way(halves, tmp_path):
    def fail(data):
        data["rows"][0].update(
            status="failed", error="x", measures={}, slices={}, scored={}, files={}, cost={}
        )

    change(halves[0], fail)
    board = merge(halves, tmp_path / "out").board
    assert board.ok
    assert [row.system for row in board.rows].count("bm25") == 1


def test_a_missing_run_stays_cited_and_is_said(halves, tmp_path):
    (halves[0] / "runs" / "tour" / "ql.run.gz").unlink()
    merged = merge(halves, tmp_path / "out")
    assert any("runs/tour/ql.run.gz: is not here" in note for note in merged.notes)
    assert next(row for row in merged.board.rows if row.system == "ql").files["run"]


def test_boards_that_do_not_fit_are_refused_for_one_reason(halves, tmp_path):
    def other_data(data):
        data["datasets"][0].update(
            digests={}, contents=dict.fromkeys(("corpus", "queries", "judgements"), "0" * 64)
        )

    def other_rules(data):
        data["suite"].update(protocol="dapr", depth=50)
        data["columns"].pop()

    for act in (other_rules, other_data):  # other data is reason enough, whatever the rules are
        change(halves[1], act)
        with pytest.raises(HarnessError) as refused:
            merge(halves, tmp_path / "out")
        assert len(refused.value.problems) == 1
    assert "is other data than in" in str(refused.value)


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda data: data["suite"].update(depth=50), "other rules: has depth 50"),
        (lambda data: data["suite"].update(seed=1), "other rules: has seed 1"),
        (lambda data: data["suite"].update(protocol="dapr"), "other rules: has protocol dapr"),
        (lambda data: data["columns"].pop(), "has the columns MicroR@5"),
        (lambda data: data["columns"][0].update(says="x"), "nDCG@10 is not computed as in"),
        (
            lambda data: data["datasets"][0].update(digests={}, contents={"queries": "0" * 64}),
            "queries (000000000000, not ",
        ),
        (lambda data: data["datasets"][0].update(split="dev"), "has the split 'dev'"),
        (
            lambda data: data["rows"][0]["provenance"].update(fingerprint="f" * 64),
            "tour / bm25: is another row than in",
        ),
        (
            lambda data: data["rows"][0]["measures"]["nDCG@10"].update(mean=0.1),
            "its measures differ in nDCG@10",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_by_name(halves, tmp_path, act, told):
    change(halves[1], act)
    with pytest.raises(HarnessError) as refused:
        merge(halves, tmp_path / "out")
    assert told in str(refused.value)
    assert "two" in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_changed_file_is_refused(halves, tmp_path):
    path = halves[1] / "per-query" / "tour" / "rm.tsv"
    path.write_text(path.read_text().replace("0.0", "0.1"))
    with pytest.raises(HarnessError, match=r"rm\.tsv: is not the file that the row cites"):
        merge(halves, tmp_path / "out")


def test_a_path_that_leaves_the_folder_is_refused(halves, tmp_path):
    change(halves[1], lambda data: data["rows"][0]["files"]["run"].update(path="../one/README.md"))
    with pytest.raises(HarnessError, match="lies outside of its folder"):
        merge([halves[1]], tmp_path / "out")


def test_no_leaderboard_is_written_over(halves):
    with pytest.raises(HarnessError, match="is one of the leaderboards"):
        merge(halves, halves[0])


def test_the_command_tells_what_it_did(halves, tmp_path, capsys):
    assert main(["merge", *map(str, halves), "--out", str(tmp_path / "out")]) == 0
    assert "3 rows: " in capsys.readouterr().out


def other_bm25(halves):
    """The two halves, with another bm25 in the second."""
    change(halves[1], lambda data: data["rows"][0]["provenance"].update(fingerprint="f" * 64))
    return halves


def test_a_conflict_is_solved_by_a_new_name_whose_files_follow(halves, tmp_path):
    second = other_bm25(halves)[1]
    with pytest.raises(HarnessError, match=f"--rename '.*{second.name}:bm25=NEW'"):
        merge(halves, tmp_path / "out")
    name = shown_path(second)
    board = merge(halves, tmp_path / "out", rename=[f"{name}:bm25=bm25 of two"]).board
    assert [row.system for row in board.rows] == ["bm25", "ql", "bm25 of two", "rm"]
    renamed = next(row for row in board.rows if row.system == "bm25 of two")
    assert renamed.files["run"].path == "runs/tour/bm25 of two.run.gz"
    for file in renamed.files.values():
        assert disk.sha256(tmp_path / "out" / file.path) == file.sha256


def test_a_conflict_is_solved_by_leaving_a_row_out(halves, tmp_path):
    name = shown_path(other_bm25(halves)[1])
    board = merge(halves, tmp_path / "out", drop=[f"{name}:bm*"]).board
    assert [row.system for row in board.rows] == ["bm25", "ql", "rm"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"drop": ["bm52"]}, "--drop bm52: fits no system"),
        ({"rename": ["bm52=x"]}, "--rename bm52=x: fits no system"),
        ({"rename": ["bm25=a/b"]}, "'a/b' cannot name a system"),
        ({"rename": ["bm25=ql"]}, "tour / ql: is another row than in"),
    ],
)
def test_an_option_that_fits_nothing_is_refused(halves, tmp_path, options, told):
    with pytest.raises(HarnessError, match=told):
        merge(halves, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
