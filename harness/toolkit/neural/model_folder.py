"""Reads from the JSON files of a model's folder: length limits, code of its own, exported files."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.toolkit.neural import weight_files

# The usual places of an ONNX file in a model's folder; the first that exists is read.
EXPORTS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
# Model types whose positions begin after the padding's id.
_AFTER_PADDING = ("roberta", "xlm-roberta", "camembert", "mpnet")
# NomicBert's settings: the names of its authors -> those of transformers
NOMIC = {
    "n_embd": "hidden_size", "n_head": "num_attention_heads", "n_layer": "num_hidden_layers",
    "n_inner": "intermediate_size", "n_positions": "max_position_embeddings",
    "layer_norm_epsilon": "layer_norm_eps", "rotary_emb_base": "rope_theta", "vocab_size": "vocab_size",
    "type_vocab_size": "type_vocab_size",
}  # fmt: skip
UNLIMITED = 1 << 20  # a tokenizer without a limit writes a larger number


def read(path: Path, form: type = dict) -> Any:
    """The object or list of a JSON file; None if there is no such file."""
    try:
        if isinstance(value := json.loads(path.read_bytes()), form):
            return value
        raise ValueError(f"it is no {form.__name__}")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise HarnessError(f"model: {path} cannot be read ({error}); fetch the model again") from error


def network(folder: Path) -> Path:
    """The folder of the network and its tokenizer: `folder` itself, or the subfolder that its modules.json
    names."""
    return folder / _network(folder)


def weighted(folder: Path) -> tuple[str, ...]:
    """The folders with weights, by their paths within the model's folder: that of the network, and those of
    the layers after pooling."""
    after = (at for at, kind in modules(folder) if kind in ("Dense", "LayerNorm"))
    return (_network(folder), *after)


def _network(folder: Path) -> str:
    return next((at for at, kind in modules(folder) if kind in ("Transformer", "StaticEmbedding")), "")


def is_static(folder: Path) -> bool:
    """Whether the model is a table with a vector for each token: model2vec's, or a StaticEmbedding."""
    config = read(folder / "config.json") or {}
    stated = config.get("model_type") == "model2vec"
    return stated or any(kind == "StaticEmbedding" for _, kind in modules(folder))


def modules(folder: Path) -> list[tuple[str, str]]:
    """The path and kind of each module of sentence-transformers."""
    path = folder / "modules.json"
    try:
        return [
            (weight_files.inside(str(module.get("path", "")), path), str(module["type"]).rpartition(".")[2])
            for module in read(path, list) or ()
        ]
    except (AttributeError, KeyError):
        raise HarnessError(f"model: {path} lists something without a type; fetch the model again") from None


def exported(folder: Path) -> tuple[str, ...]:
    """The names of the folder's ONNX files, the preferred one first."""
    return tuple(name for name in EXPORTS if (folder / name).is_file())


def exported_among(names: Iterable[str]) -> tuple[str, ...]:
    """Those of `names` that are ONNX files in one of the usual places, the preferred one first."""
    present = set(names)
    return tuple(name for name in EXPORTS if name in present)


def positions(config: Mapping[str, Any]) -> int | None:
    """The largest number of tokens that the network has positions for; None if it has no limit."""
    if config.get("position_embedding_type") == "alibi" or "max_position_embeddings" not in config:
        return None
    whole = int(config["max_position_embeddings"])
    if config.get("model_type") in _AFTER_PADDING:
        return whole - int(config.get("pad_token_id", 1)) - 1
    return whole


def places(folder: Path) -> int | None:
    """The largest number of tokens that the network in `folder` has positions for; None if it has no
    limit."""
    return positions(read(folder / "config.json") or {})


def refuse_beyond(name: str, length: int | str, places: int | None) -> None:
    """Raises HarnessError if `length` is a number above `places`. Without this check, the method
    would fail in the middle of a corpus, at the first text of that length. `length` may also be `auto`."""
    if isinstance(length, int) and places is not None and length > places:
        raise HarnessError(f"{name}: {length} tokens, and the model has places for {places}; give fewer")


def length(folder: Path, most: int | None) -> int | None:
    """The smaller of `most` and the largest number of tokens that the folder's tokenizer allows a text."""
    limit = (read(folder / "tokenizer_config.json") or {}).get("model_max_length")
    return limit if isinstance(limit, int) and limit < (most or UNLIMITED) else most


def translated(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """NomicBert's settings by transformers' names, from those that the code of its authors has; None for
    other settings."""
    if config.get("model_type") != "nomic_bert" or "n_embd" not in config:
        return None
    return {NOMIC[name]: value for name, value in config.items() if name in NOMIC}


def unstated_type(folder: Path) -> str | None:
    """The model type of a folder whose config.json is older than that key: BERT's, if it has the settings of
    Google's BERT beside a vocab.txt. None if the type is stated, or not known."""
    config = read(folder / "config.json") or {}
    if "model_type" in config or "type_vocab_size" not in config:
        return None
    return "bert" if (folder / "vocab.txt").is_file() else None


def code_of(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The hub models that a configuration takes code from; it names them as `org/name--module.Class`."""
    named = (config.get("auto_map") or {}).values()
    classes = [item for value in named for item in (value if isinstance(value, list) else [value])]
    return tuple(sorted({str(item).partition("--")[0] for item in classes if "--" in str(item)}))


def is_jina_bert(config: Mapping[str, Any]) -> bool:
    """Whether `toolkit.neural.jina_bert` reads the network: JinaBERT in its first form. The form of Jina's
    model of program code, with norms of queries and keys, is of another repository."""
    return (
        config.get("position_embedding_type") == "alibi"
        and config.get("feed_forward_type") in ("geglu", "reglu")
        and set(code_of(config)) <= {"jinaai/jina-bert-implementation"}
    )


def own_code(config: Mapping[str, Any], kind: str = "AutoModel") -> bool:
    """Whether the model runs only with the code that comes with it. That code is not needed if transformers
    knows the model's type, unless it gives the network of this type other positions: BERT ALiBi's, XLM-R
    rotary ones (Jina v3), NomicBert scaled ones. JinaBERT's is not needed either."""
    if kind == "AutoModel" and is_jina_bert(config):
        return False
    if kind not in config.get("auto_map", {}):
        return False
    spec = importlib.util.find_spec("transformers")
    name = str(config.get("model_type", "")).replace("-", "_")
    native = (
        spec is not None and spec.origin is not None and (Path(spec.origin).parent / "models" / name).is_dir()
    )
    changed = config.get("position_embedding_type") in ("alibi", "rotary")
    return not (name and native) or changed or bool(config.get("rotary_scaling_factor"))
