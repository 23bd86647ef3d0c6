"""Comparing leaderboards: what is refused, which pairs and families there are, and what got worse."""

import re

import numpy as np
import orjson
import pytest
from made_boards import CORPUS, QUERIES, board, values

from harness.cli import main
from harness.compare import Settings, compare, load
from harness.compare.data import Filters
from harness.compare.regressions import regressions, watched
from harness.compare.text import render
from harness.errors import HarnessError


@pytest.fixture
def three(tmp_path):
    """Two that are alike and one that is better."""
    same = values(1)
    return board(
        tmp_path,
        {
            "a": {"nDCG@10": same},
            "b": {"nDCG@10": same + (values(2) - 0.25) / 20},
            "c": {"nDCG@10": same + 0.3},
        },
    )


def test_all_pairs_are_compared_and_tiers_told(three):
    compared = compare(load([three]), Settings())
    assert [(item.first, item.second) for item in compared.comparisons] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert {item.system: item.tier for item in compared.standings} == {"a": "b", "b": "b", "c": "a"}
    assert compared.families == {"d / nDCG@10": 3}
    worse = compared.comparisons[1]
    assert worse.difference == pytest.approx(-0.3)
    assert worse.corrected < 0.001
    assert (worse.won, worse.tied, worse.lost) == (0, 0, QUERIES)
    assert worse.interval == pytest.approx((-0.3, -0.3))


def test_each_is_compared_with_a_baseline(three):
    compared = compare(load([three]), Settings("baseline", "b"))
    assert [(item.first, item.second) for item in compared.comparisons] == [("a", "b"), ("c", "b")]
    assert {item.tier for item in compared.standings} == {None}


@pytest.mark.parametrize(
    ("family", "sizes"), [("column", [3, 3]), ("dataset", [6]), ("measure", [3, 3]), ("all", [6])]
)
def test_a_family_is_what_the_user_says(tmp_path, family, sizes):
    systems = {x: {"nDCG@10": values(i), "R@5": values(i + 9)} for i, x in enumerate("abc")}
    compared = compare(load([board(tmp_path, systems)]), Settings(family=family))
    assert list(compared.families.values()) == sizes
    assert "families of 3 tests" in render(compared, "table") or "1 family of 6 tests" in render(
        compared, "table"
    )


def test_what_else_is_compared_changes_no_p(tmp_path):
    systems = {x: {"nDCG@10": values(i), "R@5": values(i + 9)} for i, x in enumerate("abc")}
    whole = compare(load([board(tmp_path, systems)]), Settings())
    part = compare(load([tmp_path], Filters(measures=("R@5",), systems=("a", "b"))), Settings())
    (same,) = [x for x in whole.comparisons if (x.measure, x.first, x.second) == ("R@5", "a", "b")]
    assert part.comparisons[0].p == same.p
    assert part.comparisons[0].interval == same.interval
    assert part.comparisons[0].corrected <= same.corrected


def test_holm_takes_as_many_permutations_as_the_family_needs(tmp_path):
    systems = {f"s{i}": {"nDCG@10": values(i)} for i in range(40)}
    folder = board(tmp_path, systems)
    assert compare(load([folder]), Settings(correction="holm")).permutations == 4 * 780 * 20
    with pytest.raises(HarnessError, match=r"can make none of 780 tests significant at 0\.05 by holm"):
        compare(load([folder]), Settings(correction="holm", permutations=10_000))
    assert compare(load([folder]), Settings()).permutations == 10_000


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_other_tests_are_corrected_by_holm(three, test):
    compared = compare(load([three]), Settings(test=test))
    assert compared.correction == "holm"
    assert compared.permutations is None
    p = sorted(item.p for item in compared.comparisons)
    assert min(item.corrected for item in compared.comparisons) == pytest.approx(3 * p[0])


def test_a_ratio_of_sums_is_compared_as_a_ratio(tmp_path):
    whole = np.arange(1.0, QUERIES + 1)
    part = np.where(np.arange(QUERIES) % 2, whole, 0)
    systems = {"a": {"MicroR@5": (part, whole)}, "b": {"MicroR@5": (part / 2, whole)}}
    (comparison,) = compare(load([board(tmp_path, systems)]), Settings()).comparisons
    assert comparison.means == pytest.approx((part.sum() / whole.sum(), part.sum() / whole.sum() / 2))
    assert (comparison.won, comparison.tied, comparison.lost) == (QUERIES // 2, QUERIES // 2, 0)
    with pytest.raises(HarnessError, match="MicroR@5 is a ratio of sums"):
        compare(load([tmp_path]), Settings(test="wilcoxon"))


def test_a_sum_is_compared_as_a_sum(tmp_path):
    systems = {"a": {"NumRet": np.full(QUERIES, 3.0)}, "b": {"NumRet": np.full(QUERIES, 1.0)}}
    (comparison,) = compare(load([board(tmp_path, systems)]), Settings()).comparisons
    assert (comparison.difference, comparison.interval) == (80.0, (80.0, 80.0))


def test_two_leaderboards_share_their_queries(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    found = values(1)
    first = board(tmp_path / "x", {"a": {"nDCG@10": found}}, name="x")
    reversed_ids = [f"q{i}" for i in reversed(range(QUERIES))]
    second = board(tmp_path / "y", {"b": {"nDCG@10": found[::-1][:30]}}, name="y", queries=reversed_ids[:30])
    loaded = load([first, second])
    (only,) = compare(loaded, Settings()).comparisons
    assert (only.queries, only.difference, only.tied) == (30, 0.0, 30)
    assert "d: compared on the 30 queries that all share, of up to 40" in loaded.notes


def test_a_leaderboard_that_shares_no_dataset_is_named(tmp_path):
    systems = {"a": {"R@5": values(1)}, "b": {"R@5": values(2)}}
    x, y, z = (tmp_path / name for name in "xyz")
    for folder, dataset in ((x, "d"), (y, "d"), (z, "qrels")):
        folder.mkdir()
        board(folder, systems, name=folder.name, dataset=dataset)
    assert load([x, y]).notes == ()
    for paths in ([x, z], [x, y, z], [z, x, y]):
        (note,) = load(paths).notes
        assert note.startswith("z shares no dataset with the others, so its systems are compared with none")
        assert "it has qrels" in note
    assert load([z]).notes == ()


def test_a_row_that_two_leaderboards_have_is_taken_once(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    same, new = values(1), values(2)
    first = board(tmp_path / "x", {"a": {"R@5": same}, "b": {"R@5": same}}, name="x")
    second = board(tmp_path / "y", {"a": {"R@5": same}, "b": {"R@5": new}}, name="y")
    names = [entry.name for entry in load([first, second]).fields[0].entries]
    assert names == ["a", "x: b", "y: b"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"suite": {"protocol": "dapr"}}, "is scored by the protocol 'dapr', x by bare measures"),
        ({"block": {"contents": {"corpus": "0" * 64, "judgements": "j" * 64}, "digests": {}}}, "corpus (000000000000, not "),
        ({"block": {"contents": {"corpus": CORPUS, "judgements": "1" * 64}, "digests": {}}}, "judgements ("),
        ({"block": {"contents": {}, "digests": {"corpus": "2" * 64, "judgements": "j" * 64}}}, "corpus (222222222222, not "),
        ({"block": {"split": "dev"}}, "has the split 'dev', x has 'test'"),
        ({"block": {"unknown_judgements": "drop"}}, "has unknown_judgements 'drop'"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_by_name(tmp_path, change, told):
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    first = board(tmp_path / "x", {"a": {"R@5": values(1)}}, name="x")
    second = board(tmp_path / "y", {"b": {"R@5": values(2)}}, name="y", **change)
    with pytest.raises(HarnessError, match="y: ") as refused:
        load([first, second])
    assert told in str(refused.value)


def test_other_keys_for_the_same_contents_are_no_other_data(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    first = board(tmp_path / "x", {"a": {"R@5": values(1)}}, name="x")
    second = board(tmp_path / "y", {"b": {"R@5": values(2)}}, name="y", block={"digests": {"corpus": "0"}})
    assert len(load([first, second]).fields[0].entries) == 2


def test_a_value_that_is_no_number_is_told_by_file_and_line(tmp_path):
    bad = values(1)
    bad[7] = np.nan
    board(tmp_path, {"a": {"R@5": bad}, "b": {"R@5": values(2)}})
    with pytest.raises(HarnessError, match=r"a\.tsv:9: 'R@5' .*'q7'"):
        load([tmp_path])


def test_a_missing_file_of_values_leaves_its_row_out_and_says_so(three):
    (three / "per-query" / "d" / "b.tsv").unlink()
    loaded = load([three])
    assert [entry.name for entry in loaded.fields[0].entries] == ["a", "c"]
    assert "made: per-query/d/b.tsv is not here, so d / b is left out" in loaded.notes


def test_a_changed_file_of_values_is_refused(three):
    path = three / "per-query" / "d" / "b.tsv"
    path.write_text(path.read_text().replace("q1\t", "q1\t0"))
    with pytest.raises(HarnessError, match="SHA-256 differs"):
        load([three])


def test_too_few_queries_are_told(tmp_path):
    few = {"queries": ["q0", "q1", "q2"]}
    board(tmp_path, {x: {"R@5": np.array([0.1, 0.2, 0.3]) * i} for i, x in enumerate("ab", 1)}, **few)
    compared = compare(load([tmp_path]), Settings())
    assert compared.comparisons[0].exact
    assert compared.comparisons[0].p == 0.25
    assert compared.notes == ("d: 3 queries are too few for any difference to be significant",)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], {"nDCG@10": None, "R(rel=2)@50": None}),
        (["nDCG@10=0.01"], {"nDCG@10": 0.01}),
        (["R(rel=2)@50"], {"R(rel=2)@50": None}),
        (["R(rel=2)@50=0", "nDCG@10"], {"R(rel=2)@50": 0.0, "nDCG@10": None}),
    ],
)
def test_a_tolerance_is_read_after_the_last_sign(given, expected):
    assert watched(given, ["nDCG@10", "R(rel=2)@50"]) == expected


@pytest.mark.parametrize("given", ["leaderboards/tour", "nDCG@10=low", "nDCG@10=-1", "nDCG@10=nan"])
def test_a_wrong_tolerance_is_refused(given):
    with pytest.raises(HarnessError, match="--fail-on-regression"):
        watched([given], ["nDCG@10"])


@pytest.fixture
def before_and_after(tmp_path):
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
    old = {x: {"nDCG@10": values(i, 0.3), "R@5": values(i)} for i, x in enumerate(("same", "worse", "gone"))}
    new = {
        "same": old["same"],
        "worse": {"nDCG@10": old["worse"]["nDCG@10"] - 0.02, "R@5": old["worse"]["R@5"] - 1e-4 * (values(3) < 0.2)},
        "gone": None,
    }  # fmt: skip
    return (
        board(tmp_path / "before", old, name="before"),
        board(tmp_path / "after", new, name="after", labels=["nDCG@10", "R@5"]),
    )


def test_a_significant_drop_and_a_lost_row_are_regressions(before_and_after):
    loaded = load(before_and_after, together=False)
    compared = compare(loaded, Settings("name"))
    assert [(item.first, item.second) for item in compared.comparisons][:2] == [
        ("after: same", "before: same"),
        ("after: worse", "before: worse"),
    ]
    found = regressions(loaded, compared, watched([], ["nDCG@10", "R@5"]))
    assert [(item.system, item.measure) for item in found] == [
        ("gone", None), ("after: worse", "nDCG@10"), ("after: worse", "R@5"),
    ]  # fmt: skip
    assert "failed in after: no" in found[0].reason
    tolerated = regressions(loaded, compared, watched(["nDCG@10=0.03", "R@5=0"], ["nDCG@10", "R@5"]))
    assert [(item.system, item.measure) for item in tolerated] == [("gone", None), ("after: worse", "R@5")]


def test_the_command_exits_with_3_after_a_regression(before_and_after, capsys):
    paths = [str(path) for path in before_and_after]
    assert main(["compare", *paths, "--fail-on-regression", "--format", "markdown"]) == 3
    out = capsys.readouterr().out
    assert out.startswith("3 regressions:\n\n- d / gone failed in after: no\n")
    assert main(["compare", *paths, "--system", "same", "--fail-on-regression"]) == 0
    assert capsys.readouterr().out.startswith("no regression\n")
    only = ["--system", "worse", "--system", "same"]
    assert main(["compare", *paths, *only, "--fail-on-regression", "nDCG@10=0.05"]) == 0
    assert main(["compare", *paths, *only, "--fail-on-regression", "nDCG@10=0.01"]) == 3


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--baseline", "z"], "--baseline z: there is no such system; there are a, b, c"),
        (
            ["--measure", "ndcg@10"],
            "--measure ndcg@10: matches no measure; did you mean 'nDCG@10'? there are",
        ),
        (["--measure", "MRR"], "--measure MRR: matches no measure; there are nDCG@10"),
        (["--by-name"], "--by-name: needs a second leaderboard"),
        (["--fail-on-regression"], "--fail-on-regression: needs a second leaderboard, or --baseline SYSTEM"),
        (["--test", "t", "--correction", "max-t"], "--correction max-t: comes from the permutations"),
        (["--system", "a"], "there is no pair to compare"),
    ],
)
def test_what_the_command_cannot_do_it_says(three, capsys, options, told):
    assert main(["compare", str(three), *options]) == 2
    assert told in capsys.readouterr().err


def test_json_holds_everything(three):
    content = orjson.loads(render(compare(load([three]), Settings()), "json", []))
    assert content["regressions"] == []
    assert content["families"] == {"d / nDCG@10": 3}
    assert content["comparisons"][1]["lost"] == QUERIES


@pytest.fixture
def nine(tmp_path):
    """Nine systems, 36 pairs: a large step between each three, nothing within; and a measure that is equal."""
    systems = {
        f"s{i}": {"nDCG@10": np.clip(values(1, 0.2 * (i // 3)), 0, 1), "R@5": np.ones(QUERIES)}
        for i in range(9)
    }
    board(tmp_path, systems)
    return compare(load([tmp_path]), Settings())


def test_a_terminal_shows_the_largest_significant_differences_of_very_many_pairs(nine):
    text = render(nine, "table")
    assert "d: nDCG@10 (40 queries)\n" in text
    assert "d: nDCG@10, differences: 27 of 36 pairs are significant; the 10 largest\n" in text
    shown = [line.split()[3] for line in text.splitlines() if line.startswith("  s") and " - s" in line]
    assert shown[:9] == ["-0.4000‡"] * 9
    assert len(shown) == 10
    assert "--format markdown and json have every pair" in text
    assert text.index("s8 ") < text.index("27 of 36")  # the tiers come first


def test_a_measure_without_any_difference_is_one_line_in_a_terminal(nine):
    lines = [line for line in render(nine, "table").splitlines() if "R@5" in line]
    assert lines == ["d: R@5: all 9 systems have the same values, mean 1.0000"]
    base = nine._replace(
        settings=Settings("baseline", "s0"),
        comparisons=tuple(item for item in nine.comparisons if item.first == "s0"),
    )
    assert "d: R@5: both sides of every pair (8) have the same values\n" in render(base, "table")


def test_markdown_and_json_stay_whole(nine):
    assert len(re.findall(r"^\| s\d", render(nine, "markdown"), re.M)) == 2 * (36 + 9)
    assert len(orjson.loads(render(nine, "json"))["comparisons"]) == 72


def test_of_few_pairs_all_are_shown_the_largest_difference_first(three):
    text = render(compare(load([three]), Settings()), "table")
    sizes = [abs(float(line.split()[3].rstrip("†‡"))) for line in text.splitlines() if " - " in line]
    assert len(sizes) == 3
    assert sizes == sorted(sizes, reverse=True)
    assert "have every pair" not in text
    text = render(compare(load([three]), Settings("baseline", baseline="b")), "table")
    against = [float(line.split()[3].rstrip("†‡")) for line in text.splitlines() if " - b" in line]
    assert len(against) == 2
    assert against == sorted(against, reverse=True)


def test_markdown_of_hostile_names_is_escaped(tmp_path):
    board(tmp_path, {"a|<b>": {"nDCG@10": values(1)}, "d": {"nDCG@10": values(1, 0.3)}})
    text = render(compare(load([tmp_path]), Settings()), "markdown")
    assert "a\\|\\<b\\>" in text
