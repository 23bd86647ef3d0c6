"""A suite runs to its leaderboard: the same bytes anywhere, every distinct step once, reused afterwards."""

import shutil
from pathlib import Path

import pytest
from running import TOYS, Harness, leaderboard, results, rows

# 12 systems that share work: 3 indexes, 5 searches, and what is built on them
SHARED = {
    "suite": "shared",
    "datasets": {"toy": "toy"},
    "systems": {
        "a": {"retriever": "overlap"},
        "a again": {"retriever": {"overlap": {}}},
        "double": {"retriever": {"overlap": {"weight": 2.0}}},
        "loud": {"context": ["shout"], "retriever": "overlap"},
        "loud double": {"context": ["shout"], "retriever": {"overlap": {"weight": 2.0}}},
        "whole": {"retriever": "overlap", "unit": "document"},
        "fused": {"of": ["a", "whole"], "combine": {"convex": {"weight": 0.7}}},
        "fused again": {"of": ["a again", "whole"], "combine": {"convex": {"weight": 0.7}}},
        "rrf": {"of": ["a", "loud"], "combine": "rrf"},
        "short": {"of": "a", "rerank": "length"},
        "short again": {"of": "a again", "rerank": {"length": {}}},
        "fused short": {"of": ["a", "loud"], "combine": "rrf", "rerank": [{"length": {}, "depth": 3}]},
    },
    "measures": ["nDCG@10", "RR(rel=2)@10"],
    "depth": 20,
}
DISTINCT = {
    "corpus": 1,
    "queries": 1,
    "judgements": 1,
    "augment": 1,
    "index": 3,
    "search": 5,
    "combine": 2,
    "rerank": 2,
}


def kinds(text: str) -> dict[str, int]:
    """How many steps of each kind are to do, from a dry run."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["to", "do"]:
            found[words[3]] = found.get(words[3], 0) + 1
    return found


def done(text: str) -> list[str]:
    """The labels of the steps that a run executed, from its lines."""
    return [line.partition("] ")[2].rpartition(": ")[0] for line in text.splitlines() if line.startswith("[")]


@pytest.fixture
def shared(harness: Harness) -> Harness:
    harness.suite(SHARED)
    return harness


def test_systems_that_share_work_execute_each_distinct_step_once(shared, tmp_path):
    counts = tmp_path / "counts"
    assert kinds(shared.run("suite.yaml", "--dry-run").out) == DISTINCT
    ran = shared.run(TOY_COUNTS=str(counts))
    assert ran.code == 0, ran.err
    assert len(done(ran.err)) == sum(DISTINCT.values())
    assert counts.read_text().split().count("index") == DISTINCT["index"]
    by_system = rows(shared.out)
    assert len(by_system) == 12
    assert by_system["a"]["measures"] == by_system["a again"]["measures"] == by_system["double"]["measures"]
    again = shared.run()
    assert again.code == 0
    assert done(again.err) == []


def test_a_changed_parameter_re_executes_only_what_depends_on_it(shared):
    assert shared.run().code == 0
    changed = {
        **SHARED,
        "systems": {
            **SHARED["systems"],
            "whole": {"retriever": {"overlap": {"weight": 3.0}}, "unit": "document"},
        },
    }
    shared.suite(changed)
    assert kinds(shared.run("suite.yaml", "--dry-run").out) == {"search": 1, "combine": 1}
    ran = shared.run()
    assert sorted(done(ran.err)) == ["combine · toy · fused", "search · toy · whole"]


def beir(folder: Path, text: str = "the cedar by the fjord") -> None:
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    passages = [("p1", text), ("p2", "amber and basalt"), ("p3", "a cedar")]
    lines = [f'{{"_id": "{name}", "title": "", "text": "{words}"}}' for name, words in passages]
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "cedar fjord"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tp1\t1\n")


FILES = {
    "suite": "files",
    "datasets": {"mine": {"files": {"path": "data", "language": "en"}}, "toy": "toy"},
    "systems": {"a": {"retriever": "overlap"}, "b": {"of": "a", "rerank": "length"}},
    "measures": ["RR@10"],
    "depth": 10,
}


def test_a_changed_corpus_file_re_executes_all_that_read_it_and_a_judgement_nothing(harness, tmp_path):
    beir(tmp_path / "data")
    harness.suite(FILES)
    assert harness.run().code == 0
    beir(tmp_path / "data", "the cedar by the lagoon")
    ran = harness.run()
    assert [label.split(" · ")[0] for label in done(ran.err)] == ["corpus", "index", "search", "rerank"]
    assert all(" · mine" in label for label in done(ran.err))
    (tmp_path / "data" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tp2\t1\n")
    before = leaderboard(harness.out)
    assert [label.split(" · ")[0] for label in done(harness.run().err)] == ["judgements"]
    assert leaderboard(harness.out)["rows"][0]["measures"] != before["rows"][0]["measures"]


def test_two_folders_and_any_number_of_jobs_give_the_same_bytes(tmp_path):
    found = []
    for name, jobs in (("one", "1"), ("two", "2")):
        (tmp_path / name).mkdir()
        harness = Harness(tmp_path / name)
        harness.suite(SHARED)
        assert harness.run("suite.yaml", "--jobs", jobs).code == 0
        found.append(results(harness.out))
    assert found[0] == found[1]
    assert len([name for name in found[0] if name.startswith("runs/")]) == 12


def test_only_runs_the_rows_that_a_pattern_names_and_keeps_those_that_stand_there(shared, tmp_path):
    assert shared.run("suite.yaml", "--only", "short*").code == 0
    # `a` is in the store too, as `short` is made of it, but nobody asked for its row
    assert set(rows(shared.out)) == {"short", "short again"}
    assert shared.run("suite.yaml", "--only", "whole").code == 0
    assert set(rows(shared.out)) == {"short", "short again", "whole"}
    elsewhere = tmp_path / "elsewhere"
    assert shared.run("suite.yaml", "--only", "whole", "--out", elsewhere).code == 0
    assert set(rows(elsewhere)) == {"whole"}
    assert [path.name for path in sorted(elsewhere.rglob("*.gz"))] == ["whole.run.gz"]
    ran = shared.run("suite.yaml", "--only", "no such*")
    assert ran.code == 2
    assert ran.err == "--only 'no such*': no dataset or system has such a name\n"


def test_fresh_does_every_step_again(shared):
    assert shared.run().code == 0
    assert len(done(shared.run("suite.yaml", "--fresh").err)) == sum(DISTINCT.values())


def test_excluded_passages_come_back_in_no_system(shared):
    assert shared.run().code == 0
    import gzip

    for path in (shared.out / "runs" / "toy").iterdir():
        if path.name != "whole.run.gz":
            lines = gzip.decompress(path.read_bytes()).decode().splitlines()
            assert not [line for line in lines if line.startswith("q3 Q0 d0-0 ")], path.name
            assert any(" d0-0 " in line for line in lines)


def test_slices_are_scored_beside_the_whole(shared):
    assert shared.run().code == 0
    row = rows(shared.out)["a"]
    assert row["slices"]["even"]["queries"] == 6
    assert row["measures"]["nDCG@10"]["queries"] == 12


def test_a_missing_file_is_told_by_check_and_refused_by_run(harness):
    systems = {**FILES["systems"], "c": {"retriever": "bm25"}}  # whose analyser cannot be resolved yet
    harness.suite({**FILES, "systems": systems})
    checked = harness.command("check", "suite.yaml", "--store", harness.store)
    assert checked.code == 0, checked.err
    assert "needs: data/corpus.jsonl (not there) (the dataset mine)\n" in checked.out
    assert checked.out.endswith("a run is refused until what it needs is here\n")
    assert "needs: data/corpus.jsonl (not there)" in harness.run("suite.yaml", "--dry-run").out
    ran = harness.run()
    assert ran.code == 2
    assert "suite.yaml: needs: data/corpus.jsonl (not there)" in ran.err
    assert "Traceback" not in ran.err


def test_what_needs_nothing_runs_with_keep_going(harness):
    harness.suite({**FILES, "datasets": {"mine": FILES["datasets"]["mine"], "toy": "toy"}})
    refused = harness.run()
    assert refused.code == 2
    assert "--keep-going" in refused.err
    assert "--only" in refused.err
    assert harness.run("suite.yaml", "--keep-going").code == 1
    status = {row["dataset"]: row["status"] for row in leaderboard(harness.out)["rows"]}
    assert status == {"mine": "failed", "toy": "ok"}


def test_malformed_data_fails_its_rows_with_the_line(harness, tmp_path):
    beir(tmp_path / "data")
    with (tmp_path / "data" / "corpus.jsonl").open("a") as out:
        out.write('{"_id": "p1", "title": "", "text": "again"}\n')
    harness.suite(FILES)
    ran = harness.run()
    assert ran.code == 1
    assert "corpus.jsonl:4: " in ran.out
    assert "Traceback" not in ran.err + ran.out
    found = {(row["dataset"], row["status"]) for row in leaderboard(harness.out)["rows"]}
    assert found == {("mine", "failed"), ("toy", "ok")}


def test_control_characters_of_the_data_reach_no_terminal(harness, tmp_path):
    beir(tmp_path / "data")
    with (tmp_path / "data" / "corpus.jsonl").open("a") as out:
        out.write('{"_id": "p\\u001b[31m", "text": "red"}\n' * 2)
    harness.suite(FILES)
    ran = harness.run()
    assert ran.code == 1
    shown = harness.command("show", harness.out)
    for text in (ran.out, ran.err, shown.out):
        assert "the id 'p\\x1b[31m' is already at" in text
        assert "\x1b" not in text
    flat = harness.command("show", harness.out, "--format", "csv")
    assert "the id 'p\\x1b[31m' is already at" in flat.out
    assert "\x1b" not in flat.out


@pytest.mark.parametrize(("policy", "code", "queries"), [("keep", 0, 2), ("drop", 0, 2), ("refuse", 2, None)])
def test_judgements_of_unknown_passages_follow_the_policy_of_the_suite(
    harness, tmp_path, policy, code, queries
):
    beir(tmp_path / "data")
    with (tmp_path / "data" / "queries.jsonl").open("a") as out:
        out.write('{"_id": "q2", "text": "amber"}\n')
    with (tmp_path / "data" / "qrels" / "test.tsv").open("a") as out:
        out.write("q2\tnowhere\t1\n")
    harness.suite(
        {
            **FILES,
            "datasets": {"mine": {"files": {"path": "data", "language": "en"}, "unknown_judgements": policy}},
        }
    )
    ran = harness.run()
    assert ran.code == code, ran.err
    data = leaderboard(harness.out)
    if queries is None:
        assert "1 judged passages are not in the corpus, the first is 'nowhere'" in ran.out
    else:
        assert data["rows"][0]["measures"]["RR@10"]["queries"] == queries
        assert data["datasets"][0]["counts"]["judgements_of_unknown_passages"] == 1
        assert "mine: judgements of passages that the corpus lacks: 1" in ran.err


@pytest.mark.extras
def test_the_notebook_gives_the_same_rows(shared, tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(str(TOYS))
    beir(tmp_path / "data")
    shared.suite({**FILES, "datasets": {"mine": FILES["datasets"]["mine"]}})
    assert shared.run().code == 0
    import harness

    board = harness.run(tmp_path / "suite.yaml", out=tmp_path / "again", store=tmp_path / "other", quiet=True)
    frame = pandas.DataFrame(board.records())
    assert frame.loc[0, "RR@10"] == rows(shared.out)["a"]["measures"]["RR@10"]["mean"]
    assert board.ok
    assert results(tmp_path / "again") == results(shared.out)
    assert harness.check(tmp_path / "suite.yaml", store=tmp_path / "other") == []
    assert harness.load(tmp_path / "suite.yaml").name == "files"


def test_every_form_of_show_reads_the_leaderboard(shared):
    assert shared.run().code == 0
    table = shared.command("show", shared.out)
    assert "fused short" in table.out
    assert shared.command("show", shared.out / "leaderboard.json", "--format", "markdown").out.startswith(
        "### toy"
    )
    lines = shared.command("show", shared.out, "--format", "csv").out.splitlines()
    assert len(lines) == 13
    assert shared.command("show", shared.out, "--format", "json").out.startswith("[")
    assert "harness run" in (shared.out / "README.md").read_text()


def test_the_cache_is_listed_verified_and_collected(shared, tmp_path):
    assert shared.run().code == 0
    store = ("--store", shared.store)
    assert f"{sum(DISTINCT.values())} artifacts" in shared.command("cache", "ls", *store).out
    assert "0 damaged" in shared.command("cache", "verify", *store).out
    assert shared.command("cache", "gc", "--unused-for", "1", *store).out == "0 B freed\n"
    kept = shared.command("cache", "gc", "--unused-for", "0", "--keep", "suite.yaml", *store)
    assert kept.out == "0 B freed\n"
    assert "would remove" in shared.command("cache", "gc", "--unused-for", "0", "--dry-run", *store).out
    assert shared.command("cache", "gc", "--unused-for", "0", *store).out.count("removed") == sum(
        DISTINCT.values()
    )
    assert "0 artifacts" in shared.command("cache", "ls", *store).out


def test_a_store_that_is_not_there_is_not_listed(harness):
    ran = harness.command("cache", "ls", "--store", "nowhere")
    assert ran.code == 2
    assert "there is no store yet" in ran.err


def test_a_leaderboard_of_another_form_is_refused_plainly(shared, tmp_path):
    for text, words in (
        ('{"schema": "passage-harness/leaderboard/99"}', "upgrade passage-harness"),
        ("{}", "is no leaderboard"),
        ('{"schema": ', "not valid JSON"),
        ('{"schema": "passage-harness/leaderboard/1"}', "make it again"),
    ):
        (tmp_path / "leaderboard.json").write_text(text)
        ran = shared.command("show", tmp_path)
        assert ran.code == 2
        assert words in ran.err
        assert "Traceback" not in ran.err
    shutil.rmtree(shared.out, ignore_errors=True)
    assert "cannot be read" in shared.command("show", tmp_path / "nothing.json").err


def test_a_query_whose_judgements_are_all_dropped_scores_0_and_is_told(harness, tmp_path):
    beir(tmp_path / "data")
    with (tmp_path / "data" / "queries.jsonl").open("a") as queries:
        queries.write('{"_id": "q2", "text": "amber"}\n')
    judgements = "query-id\tcorpus-id\tscore\nq1\tnowhere\t1\nq2\tp2\t1\n"
    (tmp_path / "data" / "qrels" / "test.tsv").write_text(judgements)
    mine = {"files": {"path": "data", "language": "en"}, "unknown_judgements": "drop"}
    harness.suite({**FILES, "datasets": {"mine": mine}})
    assert harness.run().code == 0
    row = rows(harness.out)["a"]
    assert row["measures"]["RR@10"]["mean"] == 0.5
    assert row["measures"]["RR@10"]["queries"] == 2
    assert row["scored"]["without_positive"] == {"RR@10": 1}


def test_what_cannot_be_written_as_a_run_fails_its_rows_the_same_way_each_time(harness, tmp_path):
    beir(tmp_path / "data")
    text = (tmp_path / "data" / "corpus.jsonl").read_text().replace('"p3"', '"p 3"')
    (tmp_path / "data" / "corpus.jsonl").write_text(text)
    harness.suite({**FILES, "datasets": {"mine": FILES["datasets"]["mine"], "toy": "toy"}})
    assert harness.run().code == 1
    first = results(harness.out)
    assert harness.run().code == 1
    assert results(harness.out) == first
    failed = [row["error"] for row in leaderboard(harness.out)["rows"] if row["status"] == "failed"]
    assert failed
    for error in failed:
        assert "corpus.jsonl:3: the passage id 'p 3' has white space in it; no TREC run can hold it" in error


def test_a_readme_that_the_user_wrote_is_left_alone(harness):
    harness.suite({**SHARED, "systems": {"a": {"retriever": "overlap"}}})
    harness.out.mkdir()
    page = harness.out / "README.md"
    page.write_text("mine\n")
    ran = harness.run()
    assert ran.code == 0
    assert page.read_text() == "mine\n"
    beside = harness.out / "LEADERBOARD.md"
    assert "out/README.md: is left alone; the leaderboard's page is out/LEADERBOARD.md" in ran.err
    assert "# shared" in beside.read_text()
    beside.write_text("mine too\n")
    ran = harness.run("suite.yaml", "--fresh")
    assert "out/README.md: was not written by harness, and is left alone" in ran.err
    assert beside.read_text() == "mine too\n"
    beside.unlink()
    page.unlink()
    assert harness.run().code == 0
    assert harness.run().code == 0
    assert "# shared" in page.read_text()


def test_a_document_is_excluded_with_all_its_passages(harness, tmp_path):
    (tmp_path / "data" / "qrels").mkdir(parents=True)
    (tmp_path / "data" / "corpus.jsonl").write_text(
        '{"_id": "q1", "text": "cedar fjord"}\n{"_id": "p2", "text": "cedar fjord too"}\n'
    )
    (tmp_path / "data" / "queries.jsonl").write_text('{"_id": "q1", "text": "cedar fjord"}\n')
    (tmp_path / "data" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tp2\t1\n")
    mine = {"files": {"path": "data", "language": "en", "exclude_self": True}}
    systems = {
        "a": {"retriever": "overlap"},
        "docs": {"retriever": "overlap", "unit": "document"},
        "both": {"of": ["a", "docs"], "combine": {"convex": {"candidates": "union"}}},
    }
    harness.suite({**FILES, "datasets": {"mine": mine}, "systems": systems})
    assert harness.run().code == 0
    found = {name: row["measures"]["document RR@10"]["mean"] for name, row in rows(harness.out).items()}
    assert found == {"a": 1.0, "docs": 1.0, "both": 1.0}


def test_the_leaderboard_of_another_suite_is_not_written_over_unless_asked(harness):
    harness.suite({**FILES, "suite": "first", "datasets": {"toy": "toy"}}, "a.yaml")
    assert harness.run("a.yaml").code == 0
    before = results(harness.out)
    second = {
        **FILES,
        "suite": "second",
        "datasets": {"toy": "toy"},
        "systems": {"b": {"retriever": "overlap"}},
    }
    harness.suite(second, "b.yaml")
    refused = harness.run("b.yaml")
    assert refused.code == 2
    assert refused.err == (
        "out/leaderboard.json: is of the suite 'first', not 'second'; "
        "give this one a folder with --out DIR, or say --replace\n"
    )
    assert results(harness.out) == before
    assert harness.run("a.yaml").code == 0  # its own is written over, as always
    assert harness.run("b.yaml", "--replace").code == 0
    assert leaderboard(harness.out)["name"] == "second"
    assert sorted(results(harness.out)) == ["leaderboard.json", "per-query/toy/b.tsv", "runs/toy/b.run.gz"]


def test_another_suite_of_the_same_name_keeps_the_leaderboard_before(harness):
    harness.suite({**FILES, "datasets": {"toy": "toy"}}, "a.yaml")
    assert harness.run("a.yaml").code == 0
    before = (harness.out / "leaderboard.json").read_bytes()
    systems = {"a": {"retriever": {"overlap": {"weight": 2.0}}}}
    harness.suite({**FILES, "datasets": {"toy": "toy"}, "systems": systems}, "b.yaml")
    ran = harness.run("b.yaml")
    assert ran.code == 0, ran.err
    assert (harness.out / "previous" / "leaderboard-1.json").read_bytes() == before
    assert "changed since the previous leaderboard, which is kept in previous/:" in ran.out
    assert "toy / a: overlap: weight" in ran.out
    assert "toy / b: is gone" in ran.out


def test_only_does_not_keep_rows_of_a_suite_that_was_replaced(harness):
    harness.suite({**FILES, "suite": "first", "datasets": {"toy": "toy"}}, "a.yaml")
    assert harness.run("a.yaml").code == 0
    harness.suite({**FILES, "suite": "second", "datasets": {"toy": "toy"}}, "b.yaml")
    assert harness.run("b.yaml", "--replace", "--only", "b").code == 0
    assert set(rows(harness.out)) == {"b"}
    assert sorted(results(harness.out)) == ["leaderboard.json", "per-query/toy/b.tsv", "runs/toy/b.run.gz"]


def test_nothing_outside_of_the_folder_is_removed_with_a_replaced_leaderboard(harness, tmp_path):
    harness.suite({**FILES, "suite": "first", "datasets": {"toy": "toy"}}, "a.yaml")
    assert harness.run("a.yaml").code == 0
    path = harness.out / "leaderboard.json"
    path.write_text(path.read_text().replace("runs/toy/b.run.gz", "../a.yaml"))
    harness.suite({**FILES, "suite": "second", "datasets": {"toy": "toy"}}, "b.yaml")
    assert harness.run("b.yaml", "--replace").code == 0
    assert (tmp_path / "a.yaml").exists()
