"""Measures the memory of a search that stores no vectors, while it streams generated passages through a tiny
random ColBERT.

python benchmarks/late_interaction/streaming.py [--passages N] [--queries N]"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertModel

from harness_colbert import RetrieverParams
from harness_colbert.streaming import Streamed

sys.path.append(str(Path(__file__).parents[1] / "encode"))
import memory

MORE = ("[MASK]", "[unused0]", "[unused1]")


def checkpoint(folder: Path) -> Path:
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=2003 + len(MORE), architectures=["HF_ColBERT"], **sizes)
    torch.manual_seed(1)
    tensors = {f"bert.{name}": tensor for name, tensor in BertModel(config).state_dict().items()}
    config.save_pretrained(folder)
    save_file(tensors | {"linear.weight": torch.randn(16, 32)}, folder / "model.safetensors")
    memory.tokenizer(folder, MORE)
    (folder / "artifact.metadata").write_text(json.dumps({"dim": 16, "mask_punctuation": False}))
    return folder


def resident_mb() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) // 1024


class Watched(memory.Generated):
    """Generated passages that print the process's memory after each tenth of them."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.began, self.tenths = time.perf_counter(), 0

    def progress(self, done: int) -> None:
        if done * 10 // self.size > self.tenths:
            self.tenths = done * 10 // self.size
            print(f"| {done:,} | {resident_mb():,} | {time.perf_counter() - self.began:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=16)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        model = checkpoint(Path(name))
        params = RetrieverParams(model, query_length=8, dtype="fp32", device="cpu", stored="none")
        texts = Watched(options.passages)
        queries = [" ".join(memory.WORDS[i : i + 4]) for i in range(options.queries)]
        print("| passages | resident MB | s |\n| --- | --- | --- |")
        hits = Streamed(params, texts).search(queries, 100)
        print(f"{len(queries)} queries, {int((hits.passages >= 0).sum())} hits")


if __name__ == "__main__":
    main()
