"""Texts, a tokenizer's file and a counting forward pass for the tests of the neural toolkit."""

import json
from pathlib import Path

import numpy as np

from harness.types import Batch

WORDS = ("a", "b", "c", "the", "city", "0")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
NUMBERS = {word: number for number, word in enumerate((*SPECIAL, *WORDS))}


class Listed:
    """A list as `harness.contracts.Texts`; the position of text i is 2 i, as if every other was no candidate."""

    language, unit = "en", "passage"

    def __init__(self, texts):
        self.texts, self.told = texts, []
        self.size = 2 * len(texts)

    def __len__(self):
        return len(self.texts)

    def batches(self, size=8192, start=0, stop=None):
        stop = len(self) if stop is None else min(stop, len(self))
        for first in range(start, stop, size):
            places = np.arange(first, min(first + size, stop))
            yield Batch(places * 2, [self.texts[place] for place in places], [""] * len(places))

    def take(self, positions):
        return [self.texts[position // 2] for position in positions]

    def progress(self, done):
        self.told.append(done)


def word_tokenizer(folder: Path, pair: bool = True, **more) -> Path:
    """A folder with a tokenizer.json that splits at spaces; it asks for truncation and padding, as many do."""
    folder.mkdir(parents=True, exist_ok=True)
    special = {name: {"id": name, "ids": [NUMBERS[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")}
    first = [_special("[CLS]", 0), _text("A", 0), _special("[SEP]", 0)]
    settings = {
        "version": "1.0",
        "truncation": {"max_length": 4, "stride": 0, "strategy": "LongestFirst", "direction": "Right"},
        "padding": {
            "strategy": {"Fixed": 9},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": first,
            "pair": [*first, _text("B", 1), _special("[SEP]", 1)],
            "special_tokens": special,
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": NUMBERS, "unk_token": "[UNK]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(settings | more))
    return folder


def lengths_and_sums(tokens):
    """float32[n, 2]: a model that shows which tokens it was given."""
    ends = zip(tokens.bounds[:-1], tokens.bounds[1:], strict=True)
    rows = [(end - start, tokens.ids[start:end].sum()) for start, end in ends]
    return np.array(rows, np.float32).reshape(-1, 2)


def _special(name, kind):
    return {"SpecialToken": {"id": name, "type_id": kind}}


def _text(name, kind):
    return {"Sequence": {"id": name, "type_id": kind}}
