"""A suite with models as they are published: pickled ones are converted once, and rows show what was read."""

import os
import shutil
from pathlib import Path

import pytest
import tiny_crossencoders
import tiny_models

from harness import run
from harness.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.extras]
torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

SUITE = """
suite: published
datasets: {tour: {tour: {documents: 10}}}
systems:
  plain: {retriever: {dense: {model: ./plain, dtype: fp32}}}
  pickled: {retriever: {dense: {model: ./pickled, dtype: fp32}}}
  copied: {retriever: {dense: {model: ./copied, dtype: fp32, query_length: 40}}}
  bad: {retriever: {dense: {model: ./bad, dtype: fp32}}}
  ce: {of: plain, rerank: {crossencoder: {model: ./ce, dtype: fp32}, depth: 5}}
  trained: {retriever: {dense: {model: {made: lora}, dtype: fp32}}}
models:
  lora:
    train: {lora: {init: ./pickled, rank: 2, epochs: 1, batch: 8, query_length: 16, passage_length: 32, dtype: fp32}}
    on: other/test
measures: [nDCG@10]
depth: 10
""".replace("datasets: {tour: {tour: {documents: 10}}}", "datasets:\n  tour: {tour: {documents: 10}}\n"
            "  other: {tour: {documents: 10, seed: 1}, scored: false}")  # fmt: skip


class Runs:
    def __reduce__(self) -> object:
        return os.system, ("touch ran",)


def test_pickled_models_give_the_rows_of_safetensors_and_are_converted_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny_models.sentence_transformer(tmp_path / "plain")
    for name in ("pickled", "bad"):
        shutil.copytree(tmp_path / "plain", tmp_path / name)
        tiny_models.pickled(tmp_path / name)
    shutil.copytree(tmp_path / "pickled", tmp_path / "copied")
    torch.save({"weight": Runs()}, tmp_path / "bad" / "pytorch_model.bin")
    tiny_models.pickled(tiny_crossencoders.bert(tmp_path / "ce"))
    (tmp_path / "suite.yaml").write_text(SUITE)
    note = f"{tmp_path / 'pickled'}: pytorch_model.bin is a pickle: it is read by torch's weights-only loader"
    for command in (["check"], ["run", "--dry-run"]):
        assert main([*command, str(tmp_path / "suite.yaml"), "--store", str(tmp_path / "store")]) == 0
        shown = capsys.readouterr().out
        assert shown.count(f"note: {note}") == 1
        assert f"note: {tmp_path / 'plain'}" not in shown
    board = run(tmp_path / "suite.yaml", store=tmp_path / "store", jobs=2, quiet=True)
    rows = {row.system: row for row in board.rows}
    errors = {name: row.error for name, row in rows.items() if row.error}
    assert list(errors) == ["bad"]
    assert f"{tmp_path / 'bad' / 'pytorch_model.bin'} asks for posix.system" in str(errors["bad"])
    assert not list(tmp_path.rglob("ran"))
    assert rows["pickled"].measures == rows["plain"].measures
    formats = {
        name: [line for item in row.reported or () for line in item.facts.get("weights", ())]
        for name, row in rows.items()
    }
    assert formats["plain"] == formats["bad"] == []
    for name, times in (("pickled", 2), ("copied", 2), ("ce", 1), ("trained", 3)):
        assert len(formats[name]) == times  # index and search, the re-ranking alone, or training too
        assert all(line.startswith("pytorch_model.bin (pickle, ") for line in formats[name])
    converted = {
        path: path.stat().st_mtime_ns for path in (tmp_path / "store" / "converted").rglob("*.safetensors")
    }
    assert len(converted) == 2
    run(tmp_path / "suite.yaml", store=tmp_path / "store", fresh=True, quiet=True)
    assert {path: path.stat().st_mtime_ns for path in converted} == converted
