"""`harness eval METHOD DATASET`: one line to a leaderboard, and the suite that it stands for."""

import json

import pytest
import yaml
from running import leaderboard

from harness import catalogue
from harness.errors import HarnessError
from harness.suite import one_line
from harness.suite.one_line import Asked

CATALOGUE = catalogue.load()


@pytest.fixture
def folder(tmp_path):
    """A BEIR folder of four passages and two queries."""
    path = tmp_path / "my-folder"
    (path / "qrels").mkdir(parents=True)
    texts = ["a stone bridge", "a railway station", "the river", "an old bridge over the river"]
    lines = [json.dumps({"_id": f"p{i}", "title": "", "text": text}) for i, text in enumerate(texts)]
    (path / "corpus.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (path / "queries.jsonl").write_text('{"_id": "q1", "text": "bridge"}\n{"_id": "q2", "text": "station"}\n')
    for split in ("test", "dev"):
        judged = "query-id\tcorpus-id\tscore\nq1\tp0\t1\n" + ("q2\tp1\t1\n" if split == "test" else "")
        (path / "qrels" / f"{split}.tsv").write_text(judged)
    return path


def suite_of(*methods, dataset="tour", base, **asked):
    return one_line.suite_of(Asked(methods, dataset, **asked), CATALOGUE, base)


def test_one_line_makes_a_leaderboard_and_keeps_its_suite(harness, folder):
    ran = harness.command("eval", "bm25", "my-folder", "--measures", "nDCG@10, RR@10", "--store", "store")
    assert ran.code == 0, ran.err
    out = harness.folder / "bm25-on-my-folder"
    written = yaml.safe_load((out / "suite.yaml").read_text())
    assert written["datasets"]["my-folder"]["files"] == {
        "path": "../my-folder",
        "split": "test",
        "language": "en",
    }
    assert written["systems"] == {"bm25": {"context": ["titles"], "retriever": "bm25"}}
    assert yaml.safe_dump(written, sort_keys=False) in ran.out
    (row,) = leaderboard(out)["rows"]
    assert row["measures"]["nDCG@10"]["mean"] == 1.0
    again = harness.command("run", "bm25-on-my-folder/suite.yaml", "--store", "store", "--dry-run")
    assert ", 0 to do" in again.out
    other = harness.command("eval", "bm25", "my-folder", "--store", "store")
    assert other.code == 2
    assert "bm25-on-my-folder/suite.yaml: is another suite" in other.err


def test_what_is_wrong_leaves_nothing_behind(harness, folder):
    before = sorted(harness.folder.iterdir())
    for words, problem in (
        (("bm25", "my-folder", "--measures", "nDCG@x"), "measures"),
        (("bm25", "my-folde"), "my-folde: is no folder with a corpus"),
        (
            ("bm25", "my-folder", "--context", "title"),
            "--context: unknown context 'title'; did you mean 'titles'?",
        ),
    ):
        ran = harness.command("eval", *words, "--store", "store")
        assert (ran.code, problem in ran.err) == (2, True), ran.err
    assert sorted(path for path in harness.folder.iterdir() if path.name != "store") == before


def test_a_re_ranker_gets_the_hits_of_bm25(tmp_path):
    suite = suite_of("sdm", base=tmp_path, context=("titles",))
    assert suite["systems"] == {
        "bm25": {"context": ["titles"], "retriever": "bm25"},
        "sdm": {"of": "bm25", "rerank": {"sdm": {}, "depth": 100}},
    }


def test_any_other_method_is_a_dense_model(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    systems = suite_of("all-minilm-l6-v2", "intfloat/e5-small", "mine", base=tmp_path / "out")["systems"]
    assert systems == {
        "all-minilm-l6-v2": {"retriever": {"dense": {"model": "all-minilm-l6-v2"}}},
        "intfloat-e5-small": {"retriever": {"dense": {"model": "intfloat/e5-small"}}},
        "mine": {"retriever": {"dense": {"model": "../mine"}}},
    }


@pytest.mark.parametrize(
    ("text", "dataset"),
    [
        ("tour", {"tour": {}}),
        ("mteb/scifact", {"mteb": {"path": "mteb/scifact"}}),
        ("C-MTEB/CmedqaRetrieval/dev", {"mteb": {"path": "C-MTEB/CmedqaRetrieval", "split": "dev"}}),
        ("beir/scifact/test", {"ir_datasets": {"id": "beir/scifact/test"}}),
    ],
)
def test_datasets_are_named_by_plugin_hub_or_id(tmp_path, text, dataset):
    suite = suite_of("bm25", dataset=text, base=tmp_path)
    assert list(suite["datasets"].values()) == [dataset]


def test_a_folder_may_be_named_with_its_split(tmp_path, folder, monkeypatch):
    monkeypatch.chdir(tmp_path)
    suite = suite_of("bm25", dataset="my-folder/dev", base=tmp_path / "out")
    assert suite["datasets"] == {
        "my-folder-dev": {"files": {"path": "../my-folder", "split": "dev", "language": "en"}}
    }


def test_a_path_is_not_taken_for_an_id_of_ir_datasets(tmp_path, folder, monkeypatch):
    (tmp_path / "data" / "logs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HarnessError, match=r"^data/logs: is a folder without corpus.jsonl; .*in a suite"):
        suite_of("bm25", dataset="data/logs", base=tmp_path)
    with pytest.raises(HarnessError, match=r"^data/log/dev: there is no such folder; .*'data/logs/dev'"):
        suite_of("bm25", dataset="data/log/dev", base=tmp_path)
    suite = suite_of("bm25", dataset="data/nfcorpus/test", base=tmp_path)  # like no folder that is here
    assert list(suite["datasets"].values()) == [{"ir_datasets": {"id": "data/nfcorpus/test"}}]


def test_the_suite_is_written_without_aliases(tmp_path):
    suite = suite_of("bm25", "ql", base=tmp_path, context=("titles",))
    assert yaml.safe_dump(suite["systems"]).count("- titles") == 2


@pytest.mark.parametrize(
    ("text", "name", "code"),
    [("一座古老的石桥", "Chinese", "zh"), ("\\u4e00\\u5ea7\\u53e4\\u8001", "Chinese", "zh"), ("東京は日本の首都です", "Japanese", "ja"),
     ("ข้าวเป็นอาหารหลัก", "Thai", "th"), ("столица", "Russian", "ru")],
)  # fmt: skip
def test_a_folder_in_another_script_needs_its_language(tmp_path, folder, text, name, code):
    (folder / "corpus.jsonl").write_text(f'{{"_id": "p0", "text": "{text}"}}\n', encoding="utf-8")
    with pytest.raises(HarnessError, match=f"its passages look {name}; say --language {code}"):
        suite_of("bm25", dataset=str(folder), base=tmp_path)
    suite = suite_of("bm25", dataset=str(folder), base=tmp_path, language=code)
    assert suite["datasets"]["my-folder"]["files"]["language"] == code
