"""Reads the settings in a model's folder as plain JSON, without weights or torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import HarnessError
from harness.toolkit.neural import model_folder, torch_archives, weight_files

# sentence-transformers' names of pooling modes -> ours
POOLING = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max", "lasttoken": "last"}
ANCE_HEAD = {"embeddingHead.weight", "embeddingHead.bias", "norm.weight", "norm.bias"}
LONGEST_HEADER = 100 << 20  # bytes that the format of safetensors allows


class Layer(NamedTuple):
    """A module after pooling, as sentence-transformers lists it."""

    kind: str  # Dense, LayerNorm, Normalize
    path: Path
    settings: dict[str, Any]  # its configuration


class FolderSettings(NamedTuple):
    """The settings in a model's folder. None stands for a setting that the folder does not state."""

    pooling: str | None = None
    normalise: bool | None = None
    similarity: str | None = None
    query_prompt: str | None = None
    passage_prompt: str | None = None
    length: int | None = None  # tokens that a text is cut to
    positions: int | None = None  # tokens that the network has places for
    dimension: int | None = None  # numbers of a vector
    lower: bool = False  # texts are lower-cased before they are tokenised
    own_code: bool = False  # the folder has code, or names where to fetch it
    code: tuple[str, ...] = ()  # the hub's models whose code this model uses
    exported: tuple[str, ...] = ()  # the ONNX files, the preferred one first
    weights: bool = False  # the folder has weights that torch reads
    static: bool = False  # a table with a vector for each token


def read(folder: Path) -> FolderSettings:
    at = model_folder.network(folder)
    config = model_folder.read(at / "config.json") or {}
    config |= model_folder.translated(config) or {}
    positions = model_folder.positions(config)
    described = FolderSettings(
        positions=positions,
        dimension=config.get("projection_dim") or config.get("hidden_size") or config.get("dim"),
        length=model_folder.length(at, positions),
        own_code=model_folder.own_code(config),
        code=() if model_folder.is_jina_bert(config) else model_folder.code_of(config),
        exported=model_folder.exported(folder),
        weights=weight_files.first({path.name for path in at.glob("*")}) is not None,
    )
    if model_folder.is_static(folder):
        # model2vec reads 512 tokens unless its config.json says otherwise; a StaticEmbedding reads all
        most = config.get("max_length", 512) if config.get("model_type") == "model2vec" else None
        described = described._replace(
            static=True,
            pooling="mean",
            normalise=bool(config.get("normalize")),
            similarity="cosine",
            length=most or model_folder.UNLIMITED,
            dimension=config.get("hidden_dim"),
        )
    elif original(at) is not None:
        described = described._replace(pooling="cls", similarity="dot", normalise=False)
    return _sentence_transformer(folder, described) if (folder / "modules.json").is_file() else described


def original(at: Path) -> str | None:
    """The checkpoint's format (dpr or ance) if transformers' auto classes cannot load it, else None."""
    if (model_folder.read(at / "config.json") or {}).get("model_type") == "dpr":
        return "dpr"
    return "ance" if names_of_tensors(at) >= ANCE_HEAD else None


def names_of_tensors(at: Path) -> frozenset[str]:
    """The names of the tensors in the weights of a folder, and in an archive of torch other strings too,
    without reading a tensor. The set is empty if there are no such files or they cannot be read."""
    try:
        chosen = weight_files.chosen(at)
        if chosen is None:
            return frozenset()
        if chosen.listing is not None:
            return frozenset(json.loads((at / chosen.listing).read_bytes())["weight_map"])
        path = at / chosen.files[0]
        if chosen.pickled:
            return torch_archives.seen(path).strings
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            return frozenset(json.loads(file.read(length) if length < LONGEST_HEADER else b"{}"))
    except (OSError, ValueError, HarnessError):  # loading the model reports the error
        return frozenset()


def layers(folder: Path) -> list[Layer]:
    """The modules that come after pooling, in order."""
    known = {"Transformer", "Pooling", "Dropout", "Dense", "LayerNorm", "Normalize", "StaticEmbedding"}
    modules: list[Layer] = []
    for path, kind in model_folder.modules(folder):
        if kind not in known:
            raise HarnessError(
                f"model: {folder / 'modules.json'} has a module '{kind}', which is not supported; "
                f"choose a model with {', '.join(sorted(known))} only"
            )
        if kind in ("Dense", "LayerNorm", "Normalize"):
            at = folder / path
            modules.append(Layer(kind, at, model_folder.read(at / "config.json") or {}))
    return modules


def _sentence_transformer(folder: Path, described: FolderSettings) -> FolderSettings:
    """`described` with the settings in sentence-transformers' files. A setting that these files lack has the
    default of sentence-transformers: cosine, no prompt."""
    settings = model_folder.read(folder / "config_sentence_transformers.json") or {}
    text = model_folder.read(model_folder.network(folder) / "sentence_bert_config.json") or {}
    prompts = {name: prompt for name, prompt in (settings.get("prompts") or {}).items() if prompt is not None}
    usual = prompts.get(settings.get("default_prompt_name") or "", "")
    passages = [prompts[name] for name in ("document", "passage", "corpus") if name in prompts]
    widths = [layer.settings["out_features"] for layer in layers(folder) if "out_features" in layer.settings]
    return described._replace(
        pooling=_pooling(folder) or described.pooling,
        normalise=bool(described.normalise) or any(layer.kind == "Normalize" for layer in layers(folder)),
        dimension=[described.dimension, *widths][-1],
        similarity=_similarity(settings.get("similarity_fn_name") or "cosine", folder),
        query_prompt=prompts.get("query", usual),
        passage_prompt=passages[0] if passages else usual,
        length=text.get("max_seq_length") or described.length,
        lower=bool(text.get("do_lower_case", False)),
    )


def _pooling(folder: Path) -> str | None:
    for at, kind in model_folder.modules(folder):
        if kind != "Pooling":
            continue
        path = folder / at / "config.json"
        settings = model_folder.read(path) or {}
        if isinstance(settings.get("pooling_mode"), str):  # as later versions of the library write it
            modes = [{"lasttoken": "last"}.get(settings["pooling_mode"], settings["pooling_mode"])]
        else:
            modes = [name.removeprefix("pooling_mode_") for name, on in settings.items() if on is True]
            modes = [POOLING.get(name, name) for name in modes if name != "include_prompt"]
        if len(modes) != 1 or modes[0] not in POOLING.values():
            raise HarnessError(
                f"model: {path} pools by {' and '.join(modes) or 'nothing'}, which is not supported; "
                f"say pooling: one of {', '.join(POOLING.values())}"
            )
        if settings.get("include_prompt") is False:
            raise HarnessError(f"model: {path} leaves the prompt out of pooling, which is not supported")
        return str(modes[0])
    return None


def _similarity(name: str, folder: Path) -> str:
    known = {"cosine": "cosine", "dot": "dot", "dot_product": "dot"}
    if name not in known:
        raise HarnessError(
            f"model: {folder} compares by '{name}', which is not supported; say similarity: dot or cosine"
        )
    return known[name]
