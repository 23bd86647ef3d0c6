"""The report's data and its page: values packed and read back, bounded texts, and nothing that could run."""

import base64
import re
import zlib

import numpy as np
import orjson
import pytest
from msgspec import structs

from harness import run
from harness.errors import HarnessError
from harness.html import evidence, packing, page, tiers, vega
from harness.html.content import content, queries_of
from harness.inspect import material
from harness.inspect.rankings import Rankings
from harness.leaderboard import board_file
from harness.leaderboard.model import File, Measure, published_row
from harness.store.artifacts import Store

SUITE = """
suite: first
datasets: {tour: {tour: {documents: 20}}}
systems:
  bm25: {retriever: bm25}
  titles: {context: [titles], retriever: bm25}
  documents: {retriever: bm25, unit: document}
  fused: {of: [titles, documents], combine: rrf}
measures: [nDCG@10, R@100]
"""
HOSTILE = '</script><script>document.title = "ran"</script>"\'&<!-- \u202eabc\u2028'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    board = run(folder / "suite.yaml", store=folder / "store", quiet=True)
    assert board.ok
    return board, Store(folder / "store").open()


def unpacked(text):
    return zlib.decompress(base64.b64decode(text))


def decoded(item, shape):
    codes = np.frombuffer(item.codes, "u1" if item.width == 1 else "<u2").reshape(shape).astype(int)
    if item.palette is None:
        values = item.low + (codes - 1) * item.step
    else:
        values = np.array([np.nan, *item.palette])[codes]
    return np.where(codes == 0, np.nan, values)


def test_few_different_values_are_packed_as_they_are():
    values = np.array([[0, 1 / 3, 1], [np.nan, 0.1 + 0.2, 1]])
    item = packing.coded(values, packing.LEVELS[0])
    assert item.width == 1
    assert np.array_equal(decoded(item, values.shape), values, equal_nan=True)


def test_many_values_are_rounded_to_half_a_step():
    values = np.random.default_rng(0).normal(size=(20, 1000))
    values[3, 5] = np.nan
    for levels in packing.LEVELS:
        item = packing.coded(values, levels)
        error = np.abs(decoded(item, values.shape) - values)
        assert np.nanmax(error) <= item.step / 2 * (1 + 1e-9)
        assert np.isnan(error).sum() == 1


def test_values_take_fewer_levels_until_they_fit():
    tables = [np.random.default_rng(i).random((10, 2000)) for i in range(3)]
    exact = sum(len(text) for _, text in packing.fitting(tables, packing.BUDGET))
    for budget in (exact, exact - 1, 2 * exact // 5, exact // 3):
        found = packing.fitting(tables, budget)
        assert len(found) == 3
        assert sum(len(text) for _, text in found) <= budget
    assert [item.width for item, _ in packing.fitting(tables, exact - 1)] == [1, 1, 1]


def test_no_values_at_all_are_packed_too():
    for values in (np.zeros((0, 0)), np.full((2, 3), np.nan)):
        item = packing.coded(values, 255)
        assert set(item.codes) <= {0}


def test_an_island_of_json_holds_no_markup():
    text = packing.island({"name": HOSTILE})
    assert not set(text) & set("<>&\u2028")
    assert orjson.loads(text) == {"name": HOSTILE}


def test_the_values_on_the_page_are_those_of_the_files(made):
    board, _ = made
    data = content(board, {}, None)
    dataset = data.board["datasets"][0]
    assert dataset["primary"] == "nDCG@10"  # although a system of documents lacks it
    ids = orjson.loads(unpacked(data.chunks["ids-0"]))
    values = dataset["values"]
    codes = np.frombuffer(unpacked(data.chunks["values-0"]), "u1").reshape(4, len(ids))
    means = [np.array([np.nan, *values["palette"]])[line].mean() for line in codes]
    wanted = [row.measures["nDCG@10"].mean if "nDCG@10" in row.measures else np.nan for row in board.rows]
    assert means == pytest.approx(wanted, abs=1e-6, nan_ok=True)


def test_rows_with_other_queries_are_put_side_by_side(tmp_path):
    board, rows = files(tmp_path, {"a": "q1\t1\nq2\t0.5\n", "b": "q3\t0.25\nq1\t0\n", "c": None})
    queries = queries_of(board, rows, "AP")
    assert queries.ids == ["q1", "q2", "q3"]
    wanted = [[1, 0.5, np.nan], [0, np.nan, 0.25], [np.nan] * 3]
    assert np.array_equal(queries.values, wanted, equal_nan=True)


def files(folder, texts):
    import hashlib

    rows = []
    for name, text in texts.items():
        cited = {}
        if text is not None:
            content = f"query\tAP\n{text}".encode()
            (folder / f"{name}.tsv").write_bytes(content)
            cited["per_query"] = File(f"{name}.tsv", hashlib.sha256(content).hexdigest())
        measures = {"AP": Measure(0.5, None, None)}
        row = published_row(dataset="d", split="test", system=name, protocol=None, measures=measures)
        rows.append(structs.replace(row, files=cited))
    return board_file.Leaderboard(None, folder), rows


def test_a_changed_file_of_values_and_one_outside_of_the_folder_are_refused(tmp_path):
    board, rows = files(tmp_path, {"a": "q1\t1\n"})
    (tmp_path / "a.tsv").write_text("query\tAP\nq1\t0\n", encoding="utf-8")
    with pytest.raises(HarnessError, match=r"a\.tsv: .*leaderboard cites"):
        queries_of(board, rows, "AP")
    board = board_file.Leaderboard(board.data, tmp_path / "inner")
    rows[0] = structs.replace(rows[0], files={"per_query": File("../a.tsv", "")})
    with pytest.raises(HarnessError, match=r"a\.tsv.* outside"):
        queries_of(board, rows, "AP")


def test_the_queries_on_which_systems_differ_most_are_looked_at():
    values = np.array([[0.0, 1, 0.5, np.nan], [0.0, 0, 0.25, np.nan]])
    assert evidence.chosen(values, 2) == [1, 2]
    assert evidence.chosen(values, 9) == [1, 2, 0]  # of the last nothing is known
    assert evidence.chosen(np.zeros((0, 0)), 2) == []


def test_evidence_has_the_text_as_each_system_read_it(made):
    board, store = made
    queries = queries_of(board, board.rows, "nDCG@10")
    looked = evidence.of_dataset(board, 0, queries.ids, queries.values, store, True)
    variants = [system["variant"] for system in looked.data["systems"]]
    assert variants[1] == variants[3] != variants[0]  # a fusion is shown with its first input's context
    query = looked.data["queries"][0]
    name = query["rankings"]["1"]["hits"][0][0]
    pieces, cut = looked.data["passages"][f"{variants[1]} {name}"]
    assert [added for _, added in pieces] == [1, 0]
    assert cut == 0
    assert looked.judged[0] is not None
    assert 0 < looked.judged[0] < 1


def test_without_texts_no_word_of_the_collection_is_on_the_page(made):
    board, store = made
    queries = queries_of(board, board.rows, "nDCG@10")
    with_texts = evidence.of_dataset(board, 0, queries.ids, queries.values, store, True)
    without = evidence.of_dataset(board, 0, queries.ids, queries.values, store, False)
    texts = [query["text"] for query in with_texts.data["queries"]]
    texts += [piece for pieces, _ in with_texts.data["passages"].values() for piece, _ in pieces]
    dumped = orjson.dumps(without.data).decode()
    assert len(texts) > 20
    assert not [text for text in texts if text.strip() and text in dumped]
    assert "--no-text" in without.note


def test_texts_are_bounded_and_say_how_much_was_cut(made, monkeypatch):
    board, store = made
    queries = queries_of(board, board.rows, "nDCG@10")
    monkeypatch.setattr(evidence, "LONGEST", 10)
    looked = evidence.of_dataset(board, 0, queries.ids, queries.values, store, True)
    for pieces, cut in looked.data["passages"].values():
        assert sum(len(piece) for piece, _ in pieces) <= 10
        assert cut > 0
    monkeypatch.setattr(evidence, "BYTES", 5000)
    fewer = evidence.of_dataset(board, 0, queries.ids, queries.values, store, True)
    assert 0 < len(fewer.data["queries"]) < len(looked.data["queries"])
    assert f"for {len(fewer.data['queries'])} of {len(queries.ids)} queries" in fewer.note


def test_without_the_store_the_runs_give_ids_and_the_report_says_so(made, tmp_path):
    board, _ = made
    queries = queries_of(board, board.rows, "nDCG@10")
    looked = evidence.of_dataset(
        board, 0, queries.ids, queries.values, Store(tmp_path / "empty").open(), True
    )
    assert looked.data["queries"][0]["rankings"]["0"]["hits"]
    assert looked.data["queries"][0]["text"] is None
    assert looked.data["passages"] == {}
    assert "the store has no corpus" in looked.note


def test_the_page_runs_its_own_scripts_alone(made):
    board, _ = made
    data = content(board, {}, HOSTILE)
    text = page.fill({**data.board, "name": HOSTILE}, data.chunks, "/* no plots */")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy.partition("style-src-attr")[0]
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    assert len(scripts) == 2
    assert [page._digest(script) in policy for script in scripts] == [True, True]
    assert page._digest(re.search(r"<style>(.*?)</style>", text, re.S)[1]) in policy
    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", text)
    assert 'document.title = "ran"' not in text


def test_a_row_can_be_made_again_from_what_the_page_says(made):
    board, _ = made
    data = content(board, {}, None)
    texts = orjson.loads(unpacked(data.chunks["rows-0"]))
    assert "harness run suite.yaml --only tour/titles\n" in texts[1]
    for part in ("corpus", "queries", "judgements"):
        assert f"{part} digest: {board.data.datasets[0].digests[part]}" in texts[1]
    for step in board.rows[1].provenance.steps:
        assert f"{step.step} {step.key}" in texts[1]


def test_a_command_to_copy_is_safe_to_paste(made):
    from harness.html import reproduction

    board, _ = made
    row = structs.replace(board.rows[0], system="x'; rm -rf [a]* #")
    text = reproduction.of_row(board, row, board.data.datasets[0])
    assert """--only 'tour/x'"'"'; rm -rf [[]a][*] #'\n""" in text


def test_per_query_files_of_arrow_strings_keep_odd_ids(tmp_path):
    board, rows = files(tmp_path, {"a": '"1\t1\n0012\t0\nNA\t0.5\n'})
    assert queries_of(board, rows, "AP").ids == ['"1', "0012", "NA"]


def test_a_report_without_its_extra_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(HarnessError, match=r"pip install 'passage-harness\[report\]'"):
        vega.library()


def test_the_share_that_is_judged_is_counted_over_judged_queries(made):
    board, store = made
    found = material.opened(board, board.data.datasets[0], store)
    for row in board.rows:
        run = Rankings(board, row, found, store, [])
        shown = judged = 0
        for name in found.queries.ids:
            grades = found.grades(name, row.unit)
            ids = run.of(name, 10, []).ids if grades else []
            shown += len(ids)
            judged += sum(id in grades for id in ids)
        assert found.judged_share(run.hits, 10) == pytest.approx(judged / shown)


def test_tiers_are_those_of_compare_and_very_many_are_left_to_it(made, monkeypatch):
    board, _ = made
    told = tiers.tiers(board, board.folder)
    assert {(dataset, label) for dataset, label in told.letters} >= {("tour", "nDCG@10"), ("tour", "R@100")}
    letters = told.letters["tour", "nDCG@10"]
    assert set(letters) == {(name, "run") for name in ("bm25", "titles", "fused")}
    assert "randomisation test" in told.note
    shown = content(board, told.letters, None).board["rows"]
    assert shown[0]["tiers"]["nDCG@10"] == letters["bm25", "run"]
    monkeypatch.setattr(tiers, "MOST", 10)
    assert tiers.tiers(board, board.folder) == tiers.TierLetters({}, tiers.tiers(board, board.folder).note)
    assert "are left to `harness compare`" in tiers.tiers(board, board.folder).note


def test_a_published_row_has_no_letter_of_the_tested_row_of_its_name(made):
    board, _ = made
    claim = published_row(
        dataset="tour", split="test", system="bm25", protocol=None, measures=board.rows[0].measures
    )
    both = board_file.Leaderboard(structs.replace(board.data, rows=(*board.rows, claim)), board.folder)
    rows = content(both, tiers.tiers(board, board.folder).letters, None).board["rows"]
    assert rows[0]["tiers"]["nDCG@10"]
    assert rows[-1]["origin"] == "published"
    assert rows[-1]["tiers"] == {}


def test_a_leaderboard_of_failed_and_published_rows_can_be_shown(made, tmp_path):
    board, _ = made
    claim = published_row(
        dataset="tour", split="test", system="paper", protocol=None, measures=board.rows[0].measures
    )
    failed = structs.replace(claim, system="bad", origin="run", status="failed", error="no", measures={})
    bare = board_file.Leaderboard(structs.replace(board.data, rows=(failed, claim)), tmp_path)
    assert tiers.tiers(bare, tmp_path) == tiers.TierLetters({}, "")
    data = content(bare, {}, None)
    assert data.board["datasets"][0]["queries"] == 0
    looked = evidence.of_dataset(bare, 0, [], data.queries[0].values, Store(tmp_path / "empty").open(), True)
    assert looked.data["queries"] == []
    assert "origin: published" in orjson.loads(unpacked(data.chunks["rows-0"]))[1]


def test_a_leaderboard_without_anything_can_be_shown(made, tmp_path):
    board, _ = made
    bare = board_file.Leaderboard(structs.replace(board.data, rows=(), datasets=()), tmp_path)
    data = content(bare, {}, None)
    assert data.chunks == {}
    assert "</html>" in page.fill(data.board, data.chunks, "")
