"""Writes a network as a folder of transformers, with its tokenizer and what `dense` reads of its use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import save_file

from harness_import_models.paddle_files import Tensors

_POOLING = "sentence_transformers.models"
SPECIAL = {f"{name}_token": f"[{name.upper()}]" for name in ("cls", "sep", "pad", "unk", "mask")}


class Network(NamedTuple):
    """One network under the names of transformers."""

    folder: str  # where it goes below the folder that is written
    reads: str  # queries, passages, both or pairs; "" for a network that is still to be trained
    config: dict[str, Any]
    tensors: Tensors


class Words(NamedTuple):
    """A BERT tokenizer: its tokens by number, and whether spaces are dropped before anything else."""

    tokens: Mapping[str, int]
    drop_spaces: bool


def write(folder: Path, network: Network, words: Words, lengths: Mapping[str, int]) -> None:
    """Writes the folder. `lengths` says how many tokens are read of queries, passages and pairs, as far as
    this is known."""
    reads = "passages" if network.reads == "both" else network.reads
    length = lengths.get(reads) or int(network.config["max_position_embeddings"])
    weights(folder, network)
    _tokenizer(folder, words, length)
    if network.reads in ("queries", "passages", "both"):
        as_encoder(folder, length)


def weights(folder: Path, network: Network) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _json(folder / "config.json", network.config)
    whole = {name: np.ascontiguousarray(tensor) for name, tensor in network.tensors.items()}
    save_file(whole, folder / "model.safetensors", {"format": "pt"})


def as_encoder(folder: Path, length: int) -> None:
    """The files of sentence-transformers: the first token's state, compared by the inner product."""
    kinds = (("", "Transformer"), ("1_Pooling", "Pooling"))
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"{_POOLING}.{kind}"}
        for i, (path, kind) in enumerate(kinds)
    ]
    _json(folder / "modules.json", modules)
    width = json.loads((folder / "config.json").read_bytes())["hidden_size"]
    pooling = {"word_embedding_dimension": width, "pooling_mode_cls_token": True}
    _json(folder / "1_Pooling" / "config.json", pooling)
    _json(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    _json(folder / "config_sentence_transformers.json", {"prompts": {}, "similarity_fn_name": "dot"})


def _tokenizer(folder: Path, words: Words, length: int) -> None:
    """BERT's tokenizer for lower-cased text. Special tokens in a text are read as its other signs are, as
    rocketqa does."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(
        models.WordPiece(dict(words.tokens), unk_token="[UNK]", max_input_chars_per_word=100)
    )
    lower = normalizers.BertNormalizer(lowercase=True)
    spaces = normalizers.Replace(" ", "")
    tokenizer.normalizer = normalizers.Sequence([spaces, lower]) if words.drop_spaces else lower
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(token, words.tokens[token]) for token in ("[SEP]", "[CLS]")]
    tokenizer.post_processor = processors.BertProcessing(*ends)
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.save(str(folder / "tokenizer.json"))
    by_number = {number: token for token, number in words.tokens.items()}
    lines = (by_number.get(number, f"[unused{number}]") for number in range(max(by_number) + 1))
    (folder / "vocab.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    special = {name: token for name, token in SPECIAL.items() if token in words.tokens}
    usual = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": length}
    _json(folder / "tokenizer_config.json", {**usual, **special})


def _json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")
