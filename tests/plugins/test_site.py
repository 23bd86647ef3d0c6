"""`harness site`: pages for leaderboards, datasets and systems, with what is comparable side by side."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from harness.cli import main
from harness.errors import HarnessError
from harness.leaderboard.model import Provenance, Step, published_row
from harness_site import cells, methods, standings
from harness_site.collected import collect, slug_of

LEADERBOARDS = Path(__file__).parents[2] / "leaderboards"


def data_of(path):
    """The data that a page holds."""
    island = re.search(r'<script type="application/json" id="board">(.*?)</script>', path.read_text(), re.S)
    return json.loads(island[1])


def table(page, caption):
    (found,) = [item for item in page["tables"] if item["caption"] == caption]
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site of the repository's leaderboards, two of them with one name, one with an earlier state."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("scifact-lexical", "neural-en", "published"):
        shutil.copytree(LEADERBOARDS / name, folder / "boards" / name)
    shutil.copytree(LEADERBOARDS / "scifact-lexical", folder / "boards" / "again")
    (folder / "boards" / "neural-en" / "previous").mkdir()
    shutil.copy(
        LEADERBOARDS / "neural-en" / "leaderboard.json",
        folder / "boards" / "neural-en" / "previous" / "leaderboard-1.json",
    )
    assert main(["site", str(folder / "boards"), "--out", str(folder / "out"), "--title", "Ours"]) == 0
    return folder / "out"


def test_the_index_has_every_current_leaderboard_dataset_and_row(site):
    page = data_of(site / "index.html")
    boards = table(page, "Leaderboards")
    names = [row["leaderboard"]["text"] for row in boards]
    assert names == sorted(names, key=str.casefold)
    assert {"neural-en", "scifact-lexical (again)", "scifact-lexical (scifact-lexical)"} <= set(names)
    assert page["name"] == "Ours"
    rows = table(page, "All rows")
    files = list((site.parent / "boards").rglob("leaderboard.json"))
    assert len(rows) == sum(len(json.loads(path.read_bytes())["rows"]) for path in files)


def test_every_link_leads_to_a_page(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 100
    for path in pages:
        page = data_of(path)
        links = [
            cell["href"]
            for item in page["tables"]
            for row in item["rows"]
            for cell in row
            if isinstance(cell, dict) and "href" in cell
        ]
        for href in set(links):
            assert (path.parent / page["root"] / href).is_file(), f"{path}: {href}"


def test_a_datasets_page_has_all_leaderboards_with_intervals_and_the_best_marked(site):
    page = data_of(site / "datasets" / "scifact.html")
    rows = table(page, "test split")
    boards = {row["leaderboard"]["text"] for row in rows}
    assert {"neural-en", "neural-en (earlier)", "scifact-lexical (again)"} <= boards
    best = [row for row in rows if row["#nDCG@10"] and row["#nDCG@10"]["best"]]
    assert all(
        row["#nDCG@10"]["mean"] == max(row["#nDCG@10"]["mean"] for row in rows if row["#nDCG@10"])
        for row in best
    )
    assert best[0]["#nDCG@10"]["low"] < best[0]["#nDCG@10"]["mean"] < best[0]["#nDCG@10"]["high"]


def test_an_earlier_state_with_other_scores_does_not_take_the_tiers_of_the_current_one(tmp_path):
    board = shutil.copytree(LEADERBOARDS / "neural-en", tmp_path / "boards" / "neural-en")
    content = json.loads((board / "leaderboard.json").read_bytes())
    for row in content["rows"]:
        row["measures"]["nDCG@10"]["mean"] -= 0.01
    (board / "previous").mkdir()
    (board / "previous" / "leaderboard-1.json").write_text(json.dumps(content))
    assert main(["site", str(tmp_path / "boards"), "--out", str(tmp_path / "out")]) == 0
    rows = table(data_of(tmp_path / "out" / "datasets" / "scifact.html"), "test split")
    tiers = {row["leaderboard"]["text"]: row["#nDCG@10"].get("tier") for row in rows}
    assert tiers["neural-en"] is not None
    assert tiers["neural-en (earlier)"] is None


def test_a_card_is_of_the_current_data_however_many_earlier_leaderboards_have_other_data(tmp_path):
    board = shutil.copytree(LEADERBOARDS / "neural-en", tmp_path / "boards" / "neural-en")
    content = json.loads((board / "leaderboard.json").read_bytes())
    content["datasets"][0]["contents"] = {"corpus": "0" * 64}
    (board / "previous").mkdir()
    for number in (1, 2):
        (board / "previous" / f"leaderboard-{number}.json").write_text(json.dumps(content))
    assert main(["site", str(tmp_path / "boards"), "--out", str(tmp_path / "out")]) == 0
    cards = data_of(tmp_path / "out" / "index.html")["front"]["cards"]
    assert [(card["name"], card["count"]) for card in cards] == [("xquad-en", 4), ("scifact", 4)]


def test_numbers_on_other_data_stand_in_another_table(site, tmp_path):
    shutil.copytree(LEADERBOARDS / "scifact-lexical", tmp_path / "a")
    shutil.copytree(LEADERBOARDS / "scifact-lexical", tmp_path / "b")
    path = tmp_path / "b" / "leaderboard.json"
    content = json.loads(path.read_bytes())
    content["datasets"][0]["contents"] = {"corpus": "0" * 64}
    content["datasets"][0]["counts"]["passages"] += 1
    path.write_text(json.dumps(content))
    assert main(["site", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    page = data_of(tmp_path / "out" / "datasets" / "scifact.html")
    assert [item["caption"] for item in page["tables"]] == [
        "test split, data 1 of 2",
        "test split, data 2 of 2",
    ]


def test_published_rows_stand_beside_and_a_systems_page_marks_no_best(site):
    page = data_of(site / "datasets" / "conditionalqa.html")
    origins = {row[page["tables"][0]["columns"].index("origin")] for row in page["tables"][0]["rows"]}
    assert "published" in origins
    system = data_of(site / "systems" / "bm25.html")
    (item,) = system["tables"]
    cells = [cell for row in item["rows"] for cell in row if isinstance(cell, dict) and "mean" in cell]
    assert cells
    assert not any(cell["best"] for cell in cells)


def test_pages_run_their_own_script_alone_and_fetch_nothing(site):
    text = (site / "index.html").read_text()
    assert "default-src 'none'" in text
    assert "unsafe-eval" not in text
    assert not re.search(r'(?:src|href)="https?:', text)


def test_a_second_run_removes_pages_that_are_no_longer_made(tmp_path):
    shutil.copytree(LEADERBOARDS / "scifact-lexical", tmp_path / "boards" / "a")
    out = tmp_path / "out"
    assert main(["site", str(tmp_path / "boards"), "--out", str(out)]) == 0
    (out / "systems" / "gone.html").write_text("an earlier page")
    assert main(["site", str(tmp_path / "boards"), "--out", str(out)]) == 0
    assert not (out / "systems" / "gone.html").exists()


def test_what_cannot_be_a_site_is_refused(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["site", str(tmp_path / "empty"), "--out", str(tmp_path / "out")]) == 2
    assert "empty: has no leaderboard.json; name a folder of leaderboards" in capsys.readouterr().err
    (tmp_path / "out").mkdir(exist_ok=True)
    (tmp_path / "out" / "index.html").write_text("<p>mine</p>")
    assert main(["site", str(LEADERBOARDS / "tour"), "--out", str(tmp_path / "out")]) == 2
    assert "index.html: was not written by harness site; name another folder" in capsys.readouterr().err


def test_the_front_has_a_card_a_dataset_with_intervals_tiers_cost_and_date(site):
    cards = {card["name"]: card for card in data_of(site / "index.html")["front"]["cards"]}
    assert set(cards) == {"scifact", "xquad-en"}  # published rows alone make no card
    card = cards["xquad-en"]
    best = card["systems"][0]
    assert best["name"] == "bm25 reranked"
    assert best["low"] < best["mean"] < best["high"]
    assert [system["tier"] for system in card["systems"]] == ["a", "b", "c"]
    assert best["seconds"] > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", card["date"])
    assert [point["name"] for point in card["points"]] == ["bm25 reranked", "bm25", "bge-small-en", "minilm"]
    assert card["history"][-1][2] == "bm25 reranked"
    bm25 = [point for point in cards["scifact"]["points"] if point["name"] == "bm25"]
    assert len(bm25) == 1  # equal rows of two leaderboards are one system
    assert "scifact-lexical" in bm25[0]["says"]
    assert "neural-en" in bm25[0]["says"]


def test_ranks_are_resampled_over_queries_or_over_datasets(site):
    groups = {group["name"]: group for group in data_of(site / "index.html")["front"]["groups"]}
    neural, dapr = groups["neural-en"], groups["published/dapr"]
    assert "resamples of the queries" in neural["note"]
    assert "resamples of the datasets" in dapr["note"]
    assert not any("average" in column for column in dapr["columns"])
    rows = {row[0]: row[1] for row in neural["rows"]}
    assert rows["bm25 reranked"] == {"mean": 1.5, "low": 1.5, "high": 2.0, "digits": 2, "best": False}
    means = [row[1]["mean"] for row in dapr["rows"]]
    assert means == sorted(means)
    assert all(row[1]["low"] <= row[1]["mean"] <= row[1]["high"] for row in dapr["rows"])


def test_equal_scores_share_the_mean_of_their_ranks():
    ranks = standings.ranked(np.array([[0.5, 0.1], [0.5, 0.3], [0.9, 0.2]]))
    assert ranks.tolist() == [[2.5, 3], [2.5, 1], [1, 2]]


def test_models_have_size_licence_and_paper_from_records_alone(site):
    rows = {
        row["system"]["text"]: row for row in table(data_of(site / "boards" / "neural-en.html"), "scifact")
    }
    assert rows["bge-small-en"]["#parameters"] == 33360000
    assert rows["bge-small-en"]["licence"] == "MIT"
    assert rows["bge-small-en"]["paper"]["links"][0]["text"] == "arXiv:2309.07597"
    assert rows["bm25"]["model"] is None
    assert rows["bm25"]["paper"]["links"][0]["url"] == "https://doi.org/10.1561/1500000019"
    assert rows["bm25 reranked"]["model"] == "ms-marco-MiniLM-L-12-v2"


def test_a_trained_model_counts_as_its_start_and_an_unknown_one_has_no_facts(tmp_path):
    def step(kind, **params):
        return Step(step=kind, key="k" * 64 if kind == "search" else "0" * 64, name="x", version="1", sources=None,
                    libraries={}, params=params, plugin="p")  # fmt: skip

    def of(*steps):
        row = published_row(dataset="d", split="s", system="x", protocol=None, measures={})
        return methods.described(structs.replace(row, provenance=Provenance(None, 0, steps)), facts)

    (tmp_path / "mine.json").write_text(
        '{"models": [{"name": "me/mine", "parameters": 5, "licence": "MIT"}]}'
    )
    facts = methods.known(tmp_path / "mine.json")
    made = of(step("search", model=f"made:train-{'0' * 64}/model"), step("train", init="me/mine"))
    assert made[:3] == (5, "mine (trained here)", "")  # the licence of what was trained is nobody's to say
    assert of(step("search", model="me/mine", query_model=None))[:3] == (5, "mine", "MIT")
    assert of(step("search", model={"sha256": "f" * 64}))[:3] == (None, "ffffffff…", "")
    (tmp_path / "mine.json").write_text("[]")
    with pytest.raises(HarnessError, match="is not a JSON object"):
        methods.known(tmp_path / "mine.json")


def test_every_table_has_its_csv_and_a_text_is_never_a_formula(site):
    page = data_of(site / "boards" / "neural-en.html")
    lines = (site / page["tables"][0]["csv"]).read_text().splitlines()
    assert lines[0].startswith("system,nDCG@10,nDCG@10 low,nDCG@10 high,")
    assert len(lines) == 1 + len(page["tables"][0]["rows"])
    rows = [
        ["=1+1", -0.5],
        ["-x", {"mean": 1.0, "low": None}],
        ["@a", None],
        ["+", 2],
        ["\t=x\x1b[31m", 1],
        ["a=b", 0],
    ]
    text = cells.as_csv(["=name", "#n"], rows)
    assert list(csv.reader(io.StringIO(text))) == [
        ["'=name", "n"], ["'=1+1", "-0.5"], ["'-x", "1.0"], ["'@a", ""], ["'+", "2"], ["'\t=x\\x1b[31m", "1"], ["a=b", "0"]
    ]  # fmt: skip


@pytest.mark.extras
def test_pictures_of_differences_and_of_two_systems_are_drawn_on_demand(tmp_path, capsys):
    pytest.importorskip("vl_convert", reason="needs the extra report")
    board = shutil.copytree(LEADERBOARDS / "neural-en", tmp_path / "board")
    assert main(["pictures", str(board), "--baseline", "bm25", "--systems", "bm25", "minilm"]) == 0
    drawn = {path.name: path.read_text() for path in (board / "pictures").glob("*.svg")}
    assert set(drawn) == {
        f"{data}-{what}.svg"
        for data in ("scifact", "xquad-en")
        for what in ("cost", "differences", "queries")
    }
    assert all(
        name in drawn["scifact-cost.svg"] for name in ("bm25", "minilm", "bge-small-en", "bm25 reranked")
    )
    assert "nDCG@10, difference from bm25" in drawn["scifact-differences.svg"]
    assert main(["pictures", str(board), "--baseline", "bm52"]) == 2
    assert "did you mean 'bm25'?" in capsys.readouterr().err


def test_slugs_are_files_names_and_never_shared():
    names = ["bm25", "BM25", "bm25 ", "a/b", "a b", "一座桥", "", "..", "x" * 300, "bm25,k1=0.9"]
    slugs = [slug_of(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert all(
        re.fullmatch(r"[a-z0-9.+=-]+", slug) and len(slug) <= 70 and not slug.startswith(".")
        for slug in slugs
    )
    assert slug_of("bm25") == "bm25"


def test_leaderboards_have_the_date_of_their_last_commit_or_change(tmp_path):
    shutil.copytree(LEADERBOARDS / "scifact-lexical", tmp_path / "a")
    (entry,) = collect([tmp_path])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry.date)
