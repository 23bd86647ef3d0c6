"""Reads the settings of a model's folder before training, and writes them after it, in the layout of
sentence-transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from harness.plugin import HarnessError
from harness.toolkit.neural import adapters, backbones, model_folder, prefixes

MODES = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens", "last": "lasttoken"}
KNOWN = ("Transformer", "Pooling", "Normalize", "Dropout")


def network(folder: Path, keeps_prefix: bool = False) -> Path:
    """The folder of the network and its tokenizer. Raises HarnessError if the folder has modules that a
    training would lose, or, without `keeps_prefix`, a prefix that it would lose."""
    changed = folder
    while not keeps_prefix and adapters.is_adapter(changed):  # an adapter may change a network with a prefix
        changed = backbones.network(changed)
    if not keeps_prefix and prefixes.is_prefix(changed):
        raise HarnessError(
            f"init: {folder} is a network with a prefix, as `prompts` trains it, and this trainer would lose "
            "the prefix; start from the model that `prompts` started from, or train with `lora`"
        )
    for at, kind in model_folder.modules(folder):
        if kind not in KNOWN:
            raise HarnessError(
                f"init: {folder} has a module '{kind}', which cannot be trained; start from another model"
            )
        if kind == "Transformer" and at:
            return folder / at
    return folder


def describe(
    folder: Path, how: str, unit: bool, width: int, length: int, query_prompt: str, passage_prompt: str
) -> None:
    """Write the files that sentence-transformers reads beside the network."""
    stages = ["Transformer", "Pooling", *(["Normalize"] if unit else [])]
    paths = ["", "1_Pooling", "2_Normalize"]
    modules = [
        {"idx": i, "name": str(i), "path": paths[i], "type": f"sentence_transformers.models.{stage}"}
        for i, stage in enumerate(stages)
    ]
    _write(folder / "modules.json", modules)
    modes = {f"pooling_mode_{mode}": name == how for name, mode in MODES.items()}
    _write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": width, **modes})
    prompts = {"query": query_prompt, "document": passage_prompt}
    settings = {"prompts": prompts, "similarity_fn_name": "cosine" if unit else "dot"}
    _write(folder / "config_sentence_transformers.json", settings)
    limit(folder, length)


def limit(folder: Path, length: int) -> None:
    """Write how many tokens of a text or pair are read."""
    _write(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    config = model_folder.read(folder / "tokenizer_config.json") or {}
    _write(folder / "tokenizer_config.json", {**config, "model_max_length": length})


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
