"""`harness verify`: whatever is changed in a leaderboard is named; what cannot be checked says what it needs."""

import gzip
import hashlib
import os
import shutil
from pathlib import Path

import orjson
import pytest
from running import Harness, small_collection

SUITE = """
suite: small
datasets: {tiny: {files: {path: data, split: test, language: en}}}
systems:
  bm25: {retriever: bm25}
  documents: {retriever: bm25, unit: document}
measures: [nDCG@10, R@20, MicroR@5]
depth: 20
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A leaderboard of two systems on a collection in files."""
    harness = Harness(tmp_path_factory.mktemp("verify"), here=True)
    judged = [("q0", "p1", 1), ("q0", "p4", 2), ("q1", "p2", 1), ("q2", "p3", 1), ("q2", "p0", 1)]
    small_collection(harness.folder / "data", judged)
    harness.suite(SUITE)
    ran = harness.run()
    assert ran.code == 0, ran.err
    return harness


@pytest.fixture
def copy(made, tmp_path):
    """The same, to be changed."""
    shutil.copytree(made.folder, tmp_path / "copy")
    return Harness(tmp_path / "copy", here=True)


def verify(harness, *options):
    suite = ("--suite", harness.folder / "suite.yaml")
    return harness.command("verify", harness.out, "--store", harness.store, *suite, *options)


def change(harness, act):
    path = harness.out / "leaderboard.json"
    data = orjson.loads(path.read_bytes())
    act(data)
    path.write_bytes(orjson.dumps(data))


def row(data, system="bm25"):
    return next(item for item in data["rows"] if item["system"] == system)


def cite_again(harness, kind="run", system="bm25"):
    """As someone would who changes a file and its digest too."""

    def act(data):
        file = row(data, system)["files"][kind]
        file["sha256"] = hashlib.sha256((harness.out / file["path"]).read_bytes()).hexdigest()

    change(harness, act)


def test_an_untouched_leaderboard_is_verified(made):
    ran = verify(made)
    assert ran.code == 0, ran.out + ran.err
    assert "verified   tiny / bm25" in ran.out
    assert "2 verified" in ran.out


@pytest.mark.parametrize(
    "where", [("mean",), ("ci95", 0), ("ci95", 1), ("queries",)], ids=lambda where: str(where[-1])
)
@pytest.mark.parametrize("label", ["nDCG@10", "document R@20", "MicroR@5"])
def test_a_changed_number_is_named_with_row_and_measure(copy, label, where):
    def act(data):
        inner = row(data)["measures"][label]
        for step in where[:-1]:
            inner = inner[step]
        inner[where[-1]] += 1 if where == ("queries",) else 0.000001

    change(copy, act)
    ran = verify(copy)
    assert ran.code == 1
    assert "wrong      tiny / bm25" in ran.out
    assert f"- {label}: its {where[0]} is" in ran.out
    assert "runs/tiny/bm25.run.gz gives" in ran.out
    assert "verified   tiny / documents" in ran.out


def test_a_changed_count_is_named(copy):
    change(copy, lambda data: row(data)["scored"].update(ties=99))
    ran = verify(copy)
    assert ran.code == 1
    assert "scored.ties: is 99" in ran.out


def test_a_changed_line_of_a_run_is_named_by_its_digest_and_by_what_it_changes(copy):
    path = copy.out / "runs" / "tiny" / "bm25.run.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    first = lines[0].split()
    lines[0] = " ".join([*first[:4], "0.001", first[5]])
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    ran = verify(copy)
    assert ran.code == 1
    assert "runs/tiny/bm25.run.gz: its SHA-256 is" in ran.out
    cite_again(copy)
    ran = verify(copy)
    assert ran.code == 1
    assert "its SHA-256" not in ran.out
    assert "- nDCG@10: its mean is" in ran.out
    assert "per-query/tiny/bm25.tsv:2: query q0: nDCG@10 is" in ran.out


def test_a_changed_value_of_a_query_is_named(copy):
    path = copy.out / "per-query" / "tiny" / "bm25.tsv"
    lines = path.read_text().splitlines()
    cells = lines[2].split("\t")
    lines[2] = "\t".join([cells[0], "0.25", *cells[2:]])
    path.write_text("\n".join(lines) + "\n")
    cite_again(copy, "per_query")
    ran = verify(copy)
    assert ran.code == 1
    assert "per-query/tiny/bm25.tsv:3: query q1: nDCG@10 is 0.25, the run gives" in ran.out


def test_a_changed_judgement_is_named_with_what_it_changes(copy):
    path = copy.folder / "data" / "qrels" / "test.tsv"
    path.write_text(path.read_text().replace("q0\tp1\t1", "q0\tp1\t0"), encoding="utf-8")
    ran = verify(copy)
    assert ran.code == 1
    assert "wrong: tiny: the judgements here are" in ran.out
    assert "query q0: nDCG@10 is" in ran.out
    assert "the corpus here" not in ran.out


def test_a_run_of_another_corpus_names_the_passage(copy):
    path = copy.out / "runs" / "tiny" / "bm25.run.gz"
    text = gzip.decompress(path.read_bytes()).decode().replace(" p1 ", " p9 ")
    path.write_bytes(gzip.compress(text.encode()))
    ran = verify(copy)
    assert (ran.code, "passage 'p9'" in ran.out) == (1, True)


@pytest.mark.parametrize("half", [b"", b"\x1f\x8b\x08\x00"], ids=["empty", "header"])
def test_a_truncated_run_is_named(copy, half):
    path = copy.out / "runs" / "tiny" / "bm25.run.gz"
    path.write_bytes(half)
    ran = verify(copy)
    assert ran.code == 1
    assert "runs/tiny/bm25.run.gz: " in ran.out


def test_without_data_the_digest_that_is_needed_is_named(copy):
    shutil.rmtree(copy.folder / "data")
    shutil.rmtree(copy.store)
    ran = verify(copy)
    assert ran.code == 2
    assert "unchecked  tiny / bm25" in ran.out
    cited = orjson.loads((copy.out / "leaderboard.json").read_bytes())["datasets"][0]["contents"]
    for part, digest in cited.items():
        assert f"{part} {digest}" in ran.out


def test_without_runs_the_rows_are_claimed_and_their_means_checked(copy):
    shutil.rmtree(copy.out / "runs")
    ran = verify(copy)
    assert ran.code == 0, ran.out
    assert "claimed    tiny / bm25" in ran.out
    change(copy, lambda data: row(data)["measures"]["R@20"].update(mean=0.5))
    ran = verify(copy)
    assert ran.code == 1
    assert "R@20: its mean is 0.5, per-query/tiny/bm25.tsv gives" in ran.out


@pytest.mark.parametrize("kind", ["per_query", "run"])
@pytest.mark.parametrize("damage", ["missing", "folder", "link to nothing"])
def test_a_cited_file_that_is_gone_or_none_is_named(copy, kind, damage):
    cited = row(orjson.loads((copy.out / "leaderboard.json").read_bytes()))["files"][kind]["path"]
    (copy.out / cited).unlink()
    if damage == "folder":
        (copy.out / cited).mkdir()
    elif damage != "missing":
        (copy.out / cited).symlink_to("nothing")
    ran = verify(copy)
    if (kind, damage) == ("run", "missing"):  # a leaderboard may come without its runs
        assert (ran.code, "claimed" in ran.out) == (0, True)
        return
    assert ran.code == 1
    assert f"{cited}: is {'no file' if damage == 'folder' else 'missing'}, and the row cites it" in ran.out


def test_published_and_failed_rows_are_said_to_be_that(copy):
    def act(data):
        row(data).update(origin="published", files={})
        row(data, "documents").update(status="failed", error="x", measures={}, files={}, cost={})

    change(copy, act)
    ran = verify(copy)
    assert ran.code == 0
    assert "published  tiny / bm25" in ran.out
    assert "failed     tiny / documents" in ran.out


def test_nothing_outside_of_the_folder_is_read(copy):
    change(copy, lambda data: row(data)["files"]["run"].update(path="../suite.yaml"))
    ran = verify(copy)
    assert ran.code == 1
    assert "../suite.yaml: lies outside of the leaderboard's folder" in ran.out


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda text: text.replace("leaderboard/1", "leaderboard/2"), "upgrade passage-harness"),
        (lambda text: text[: len(text) // 2], "not valid JSON"),
        (lambda text: text.replace('"queries": 3', '"queries": NaN', 1), "holds NaN or Infinity"),
    ],
    ids=["newer", "truncated", "NaN"],
)
@pytest.mark.parametrize("command", ["verify", "compare"])
def test_a_damaged_leaderboard_is_told_by_every_command(copy, damage, told, command):
    path = copy.out / "leaderboard.json"
    path.write_text(damage(path.read_text()), encoding="utf-8")
    ran = copy.command(command, copy.out)
    assert ran.code == 2
    assert told in ran.err
    assert "Traceback" not in ran.err


def test_a_row_that_stands_twice_is_told(copy):
    change(copy, lambda data: data["rows"].append(data["rows"][0]))
    ran = verify(copy)
    assert ran.code == 2
    assert "tiny / bm25 stands twice" in ran.err


def test_the_datasets_are_read_as_the_leaderboard_says_where_its_paths_fit(made, tmp_path):
    shutil.copytree(made.out, tmp_path / "board")
    shutil.copytree(made.folder / "data", tmp_path / "board" / "data")
    ran = made.command("verify", tmp_path / "board", "--store", tmp_path / "store")
    assert ran.code == 0, ran.out + ran.err
    assert "2 verified" in ran.out


def test_data_that_lies_elsewhere_is_found_in_the_store_by_its_digests(made, tmp_path):
    shutil.copytree(made.out, tmp_path / "board")
    ran = made.command("verify", tmp_path / "board", "--store", made.store)  # its paths lead nowhere
    assert ran.code == 0, ran.out + ran.err
    assert "2 verified" in ran.out


def test_a_leaderboard_is_verified_without_being_told_its_suite_or_store(made, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ran = made.command("verify", made.out)
    assert ran.code == 0, ran.out + ran.err
    assert "2 verified" in ran.out


def test_a_merged_leaderboard_is_verified_without_being_told_anything(made, tmp_path, monkeypatch):
    merged = made.command("merge", made.out, made.out, "--out", tmp_path / "deep" / "together")
    assert merged.code == 0, merged.err
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ran = made.command("verify", tmp_path / "deep" / "together")
    assert ran.code == 0, ran.out + ran.err
    ran = made.command("verify", tmp_path / "deep" / "together", "--store", tmp_path / "other")
    assert ran.code == 0, ran.out + ran.err  # the data are read again
    assert "2 verified" in ran.out


@pytest.mark.parametrize(
    "text", ["", "[1]", "stores: 7\ndatasets: [tiny]", "stores: [[]]\ndatasets: {tiny: 3}", "a: &a [*a]"]
)
def test_hints_that_say_nothing_are_as_none(copy, text):
    (copy.out / "verify.yaml").write_text(text)
    ran = copy.command("verify", copy.out, "--store", copy.folder / "other")
    assert ran.code == 2, ran.err
    assert "name the suite that says where it lies: --suite SUITE" in ran.out


def test_hints_hold_no_value_of_a_variable(harness, monkeypatch):
    monkeypatch.setenv("SECRET", "en")
    harness.suite(
        'suite: s\ndatasets: {toy: {toy: {language: "${SECRET}"}}}\nsystems: {o: {retriever: overlap}}\nmeasures: [RR]\ndepth: 5\n'
    )
    assert harness.run().code == 0
    text = (harness.out / "verify.yaml").read_text()
    assert "${SECRET}" in text
    assert str(harness.folder) not in text


def test_what_was_merged_is_verified_from_the_store(made, tmp_path):
    merged = made.command("merge", made.out, made.out, "--out", tmp_path / "together")
    assert merged.code == 0, merged.err
    ran = made.command("verify", tmp_path / "together", "--store", made.store)
    assert ran.code == 0, ran.out + ran.err
    assert "2 verified" in ran.out


def test_a_run_that_is_not_of_what_the_store_has_is_told(copy):
    change(copy, lambda data: data["datasets"][0]["contents"].update(judgements="0" * 64))
    ran = copy.command("verify", copy.out, "--store", copy.store)
    assert ran.code == 1
    assert "tiny: the judgements here are" in ran.out


def test_data_that_is_in_no_place_says_to_name_the_suite(copy, tmp_path):
    (copy.out / "verify.yaml").unlink()
    ran = copy.command("verify", copy.out, "--store", tmp_path / "empty")
    assert ran.code == 2
    assert "(not there); name the suite that says where it lies: --suite SUITE" in ran.out


def test_a_key_that_is_no_digest_leads_nowhere(copy):
    change(copy, lambda data: data["datasets"][0]["digests"].update(corpus="x/../../../data"))
    (copy.out / "verify.yaml").unlink()
    ran = copy.command("verify", copy.out, "--store", copy.store)
    assert ran.code == 1  # the rows cite the right one
    assert "(not there); name the suite" in ran.out


def test_the_committed_leaderboards_hold_what_they_say(tmp_path):
    root = Path(__file__).parents[2] / "leaderboards"
    for path in sorted(root.glob("*/leaderboard.json")):
        shutil.copytree(path.parent, tmp_path / path.parent.name, ignore=shutil.ignore_patterns("runs"))
        ran = Harness(tmp_path).command("verify", tmp_path / path.parent.name, "--store", tmp_path / "store")
        assert ran.code == 0, ran.out + ran.err


@pytest.mark.real
def test_a_real_collection_is_verified_and_a_changed_judgement_found(tmp_path):
    data = os.environ.get("HARNESS_REAL_DATA")
    if data is None or not Path(data, "scifact").is_dir():
        pytest.skip("HARNESS_REAL_DATA names no folder that holds scifact")
    shutil.copytree(Path(data, "scifact"), tmp_path / "data" / "scifact")
    harness = Harness(tmp_path, {"HARNESS_REAL_DATA": str(tmp_path / "data")})
    harness.suite(
        "datasets: {scifact: {files: {path: '${HARNESS_REAL_DATA}/scifact', split: test, language: en}}}\n"
        "systems: {bm25: {context: [titles], retriever: bm25}}\nmeasures: [nDCG@10, R@100]\n"
    )
    assert harness.run().code == 0
    ran = harness.command("verify", harness.out, "--store", harness.store)
    assert ran.code == 0, ran.out
    assert "verified   scifact / bm25" in ran.out
    without = Harness(tmp_path, {"HARNESS_REAL_DATA": str(tmp_path / "nowhere")})
    places = (harness.out / "verify.yaml").rename(tmp_path / "places.yaml")
    elsewhere = without.command("verify", harness.out, "--store", tmp_path / "empty")
    places.rename(harness.out / "verify.yaml")
    assert elsewhere.code == 2
    assert "scifact: needs corpus" in elsewhere.out
    values = [
        line.split("\t") for line in (harness.out / "per-query/scifact/bm25.tsv").read_text().splitlines()
    ]
    query = next(cells[0] for cells in values[1:] if cells[1] == "1.0")
    judged = tmp_path / "data" / "scifact" / "qrels" / "test.tsv"
    lines = judged.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{query}\t"))
    lines[at] = lines[at][:-1] + "0"
    judged.write_text("\n".join(lines) + "\n")
    ran = harness.command("verify", harness.out, "--store", harness.store)
    assert ran.code == 1
    assert "wrong: scifact: the judgements here are" in ran.out
    assert f"query {query}: nDCG@10 is 1.0, the run gives" in ran.out
