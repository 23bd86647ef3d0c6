"""Writes a network as a folder of transformers, with its tokenizer and what `dense` reads of its use."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import save_file

from harness.plugin import HarnessError
from harness_import_models.paddle_files import Tensors

_POOLING = "sentence_transformers.models"
TOKENIZER = ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
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


class Read(NamedTuple):
    """What a checkpoint has."""

    networks: list[Network]
    words: Words | Path  # a tokenizer's words, or the folder of a model with the same tokenizer
    lengths: Mapping[str, int]
    tensors: int
    left: Counter[str]  # tensors that are left out, by what they are


def write(folder: Path, network: Network, words: Words | Path, lengths: Mapping[str, int]) -> None:
    """Writes the folder, with a tokenizer of these words, or that of another model's folder. `lengths` says
    how many tokens are read of queries, passages and pairs, as far as this is known."""
    reads = "passages" if network.reads == "both" else network.reads
    length = lengths.get(reads) or int(network.config["max_position_embeddings"])
    folder.mkdir(parents=True, exist_ok=True)
    _json(folder / "config.json", network.config)
    whole = {name: np.ascontiguousarray(tensor) for name, tensor in network.tensors.items()}
    save_file(whole, folder / "model.safetensors", {"format": "pt"})
    if isinstance(words, Words):
        _tokenizer(folder, words, length)
    else:
        for path in (words / name for name in TOKENIZER):
            if path.is_file():
                shutil.copyfile(path, folder / path.name)
    if network.reads in ("queries", "passages", "both"):
        _as_encoder(folder, network, length)


def _as_encoder(folder: Path, network: Network, length: int) -> None:
    """The files of sentence-transformers: the first token's state, compared by the inner product."""
    kinds = (("", "Transformer"), ("1_Pooling", "Pooling"))
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"{_POOLING}.{kind}"}
        for i, (path, kind) in enumerate(kinds)
    ]
    _json(folder / "modules.json", modules)
    pooling = {"word_embedding_dimension": network.config["hidden_size"], "pooling_mode_cls_token": True}
    _json(folder / "1_Pooling" / "config.json", pooling)
    _json(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    _json(folder / "config_sentence_transformers.json", {"prompts": {}, "similarity_fn_name": "dot"})


def _tokenizer(folder: Path, words: Words, length: int) -> None:
    """BERT's tokenizer for lower-cased text. Special tokens in a text are plain text, as in rocketqa."""
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


def object_of(path: Path) -> dict[str, Any]:
    """The object that a JSON file holds."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise HarnessError(f"model: {path} cannot be read ({error})") from error
    return value if isinstance(value, dict) else {}
