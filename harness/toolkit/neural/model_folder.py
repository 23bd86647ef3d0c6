"""What any model's folder says of itself, read as plain JSON: limits, code of its own, exported files."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.errors import HarnessError

# Where people keep an ONNX file in a model's folder; the first that is there is read.
EXPORTS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
# Families that count positions from the padding's id on.
AFTER_PADDING = ("roberta", "xlm-roberta", "camembert", "mpnet")
UNLIMITED = 1 << 20  # tokenizers that know no limit write a larger number


def read(path: Path) -> Any:
    """A JSON file's value; None if there is no such file."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise HarnessError(f"model: {path} cannot be read ({error}); fetch the model again") from error


def exported(folder: Path) -> tuple[str, ...]:
    """Its ONNX files, the preferred one first."""
    return tuple(name for name in EXPORTS if (folder / name).is_file())


def exported_among(names: Iterable[str]) -> tuple[str, ...]:
    """As `exported`, of a folder that has files of these names."""
    present = set(names)
    return tuple(name for name in EXPORTS if name in present)


def positions(config: Mapping[str, Any]) -> int | None:
    """How many tokens the network has places for; None where it does not limit them."""
    if config.get("position_embedding_type") == "alibi" or "max_position_embeddings" not in config:
        return None
    whole = int(config["max_position_embeddings"])
    if config.get("model_type") in AFTER_PADDING:
        return whole - int(config.get("pad_token_id", 1)) - 1
    return whole


def places(folder: Path) -> int | None:
    """As `positions`, of the network in a folder."""
    return positions(read(folder / "config.json") or {})


def refuse_beyond(name: str, given: int | str, places: int | None) -> None:
    """Refuse a length, unless it is `auto`, that the network has no places for: it would fail in the middle
    of a corpus, at the first text that is so long."""
    if isinstance(given, int) and places is not None and given > places:
        raise HarnessError(f"{name}: {given} tokens, and the model has places for {places}; give fewer")


def length(folder: Path, most: int | None) -> int | None:
    """How many tokens its tokenizer gives a text at most, where that is less than the network takes."""
    limit = (read(folder / "tokenizer_config.json") or {}).get("model_max_length")
    return limit if isinstance(limit, int) and limit < (most or UNLIMITED) else most


def code_of(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The hub's models that a configuration takes code from, which it writes `org/name--module.Class`."""
    named = (config.get("auto_map") or {}).values()
    classes = [item for value in named for item in (value if isinstance(value, list) else [value])]
    return tuple(sorted({str(item).partition("--")[0] for item in classes if "--" in str(item)}))


def own_code(config: Mapping[str, Any], kind: str = "AutoModel") -> bool:
    """Whether only code beside the model can run it: transformers may know the kind by now, but not BERT
    with ALiBi, which calls itself a BERT."""
    if kind not in config.get("auto_map", {}):
        return False
    spec = importlib.util.find_spec("transformers")
    name = str(config.get("model_type", "")).replace("-", "_")
    native = (
        spec is not None and spec.origin is not None and (Path(spec.origin).parent / "models" / name).is_dir()
    )
    return not (name and native) or config.get("position_embedding_type") == "alibi"
