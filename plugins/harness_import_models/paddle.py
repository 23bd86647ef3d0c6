"""Finds the parts of a checkpoint of RocketQA or ERNIE: parameters, configuration and vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.plugin import HarnessError
from harness_import_models import ernie, paddle_files, paddle_pickles
from harness_import_models.folders import Read, Words, object_of
from harness_import_models.paddle_files import Tensors

_PATHS = ("model_conf_path", "model_vocab_path")  # beside model_checkpoint_path in an archive of rocketqa


def read(place: Path, config: Path | None, vocab: Path | None, drop_spaces: bool) -> Read:
    """Reads a checkpoint: an archive of rocketqa, a folder of parameters, or one file of them."""
    if not place.exists():
        raise HarnessError(f"model: there is no {place}; check the path")
    folder = place if place.is_dir() else place.parent
    toolkit = object_of(folder / "config.json") if (folder / "config.json").is_file() else {}
    if "model_checkpoint_path" in toolkit:
        lacks = [name for name in _PATHS if name not in toolkit]
        if lacks:
            raise HarnessError(f"model: {folder / 'config.json'} has no {', '.join(lacks)}")
        config = config or folder / str(toolkit["model_conf_path"])
        vocab = vocab or folder / str(toolkit["model_vocab_path"])
        place = folder / str(toolkit["model_checkpoint_path"])
    else:
        toolkit = {}
        config = config or _first(folder, "ernie_config.json", "model_config.json", "config.json")
        vocab = vocab or _first(folder, "vocab.txt")
    if config is None or vocab is None:
        raise HarnessError(
            f"model: {folder} has no {'configuration' if config is None else 'vocab.txt'}; name it by "
            f"{'--config' if config is None else '--vocab'}, it is in the authors' release"
        )
    tensors = _parameters(place)
    networks, left = ernie.networks(tensors, _architecture(config), toolkit)
    lengths = {
        reads: toolkit[name]
        for reads, name in (
            ("queries", "q_max_seq_len"), ("passages", "p_max_seq_len"), ("pairs", "max_seq_len")
        )
        if isinstance(toolkit.get(name), int)
    }  # fmt: skip
    words = Words(_vocabulary(vocab), bool(toolkit.get("for_cn", drop_spaces)))
    return Read(networks, words, lengths, len(tensors), left)


def _parameters(place: Path) -> Tensors:
    """The tensors at a place, whichever of Paddle's forms they have."""
    if place.is_dir():
        if (place / "params").is_dir():
            return _parameters(place / "params")
        files = [*place.glob("*.pdparams"), *place.glob("*.pdiparams")]
        files += [path for name in ("__params__", "params") if (path := place / name).is_file()]
        if not files:
            return paddle_files.Separate(place)
        place = sorted(files)[0]
        if len(files) > 1:
            raise HarnessError(
                f"model: {place.parent} has {len(files)} files of parameters; name one of them"
            )
    if place.suffix == ".pdparams":
        return paddle_pickles.read(place)
    program = place.with_suffix(".pdmodel") if place.suffix == ".pdiparams" else place.parent / "__model__"
    if not program.is_file():
        raise HarnessError(
            f"model: {place} has all tensors in one file, and {program.name}, which names them, is not "
            "beside it; unpack the archive again"
        )
    return paddle_files.combined(place, program)


def _architecture(path: Path) -> dict[str, Any]:
    """The network's configuration, also of PaddleNLP's older files, which keep it within a list."""
    config = object_of(path)
    while isinstance(within := config.get("init_args"), list) and within and isinstance(within[0], dict):
        config = within[0]
    needed = ("num_hidden_layers", "num_attention_heads", "hidden_act", "vocab_size", "hidden_size")
    missing = [name for name in needed if name not in config]
    if missing:
        raise HarnessError(
            f"model: {path} has no {', '.join(missing)}; name ERNIE's configuration by --config"
        )
    return config


def _vocabulary(path: Path) -> dict[str, int]:
    """The tokens of vocab.txt by number: that of their line, or that behind a tab."""
    tokens: dict[str, int] = {}
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise HarnessError(f"model: {path} cannot be read as a vocabulary ({error})") from error
    for number, line in enumerate(lines):
        token, _, place = line.strip().partition("\t")
        if place and not (place.isdecimal() and len(place) < 8):  # as many lines are written
            raise HarnessError(f"model: {path}:{number + 1}: '{place[:40]}' is not the number of a token")
        if token or place:
            tokens[token.strip()] = int(place or number)
    missing = [token for token in ("[CLS]", "[SEP]", "[PAD]", "[UNK]") if token not in tokens]
    if missing:
        raise HarnessError(f"model: {path} has no {', '.join(missing)}; is it a vocabulary?")
    return tokens


def _first(folder: Path, *names: str) -> Path | None:
    return next((path for name in names if (path := folder / name).is_file()), None)
