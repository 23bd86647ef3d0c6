"""Measures the peak memory of encoding many short passages with a tiny random model: `memory.py --work DIR`.

Prints one line of JSON. The passages are generated while they are read, so only the loop is measured."""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertModel

from harness.toolkit.neural import tokens, torch_encoder
from harness.toolkit.neural.encoding import loop, vectors
from harness.types import Batch

WORDS = [f"w{number}" for number in range(2000)]


class Generated:
    """Generated passages of 4 to 19 words, the same in each run."""

    language, unit = "en", "passage"

    def __init__(self, count):
        self.size = count

    def __len__(self):
        return self.size

    def batches(self, size=8192, start=0, stop=None):
        stop = self.size if stop is None else min(stop, self.size)
        for first in range(start, stop, size):
            places = np.arange(first, min(first + size, stop))
            texts = [" ".join(WORDS[(p * 31 + i * i) % 2000] for i in range(4 + p % 16)) for p in places]
            yield Batch(places, texts, [""] * len(texts))

    def progress(self, done):
        pass


def tokenizer(folder, more=()):
    words = {word: number for number, word in enumerate(["[PAD]", "[CLS]", "[SEP]", *WORDS, *more])}
    made = Tokenizer(models.WordLevel(words, unk_token="[PAD]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    made.save(str(folder / "tokenizer.json"))
    return tokens.load(folder)


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main():
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--work", type=Path, required=True, help="a folder for the vectors; 130 MB")
    asked.add_argument("--passages", type=int, default=1_000_000)
    options = asked.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    torch.manual_seed(1)
    encoders = torch_encoder.encoders(BertModel(BertConfig(vocab_size=2003, **sizes)).eval(), 0)
    forwards = [
        lambda batch, states=states: states(batch).float().numpy()[batch.bounds[:-1]] for states in encoders
    ]
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        tokeniser = tokenizer(Path(folder))
        before, began = peak_mb(), time.perf_counter()
        encoded = loop.encode(
            Generated(options.passages),
            Path(folder),
            lambda batch: tokens.tokenise(tokeniser, batch.texts, 32),
            forwards,
            vectors.writer(Path(folder), options.passages, 32),
        )
        spent = time.perf_counter() - began
    measured = {"passages": encoded.texts, "tokens": encoded.tokens, "seconds": round(spent, 1)}
    print(json.dumps({**measured, "peak_mb": peak_mb(), "peak_mb_before": before}))


if __name__ == "__main__":
    main()
