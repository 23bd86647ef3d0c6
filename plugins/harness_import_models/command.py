"""`harness import-model`: what it reads, and what it says."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness_import_models.folders import Read


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "place", type=Path, metavar="DIR", help="the checkpoint: a folder, or one file of it"
    )
    form = "paddle: RocketQA's and ERNIE's parameters; t2ranking: one of its checkpoints (*.p)"
    command.add_argument("--from", dest="form", choices=("paddle", "t2ranking"), required=True, help=form)
    out = "where the folder goes; with several networks, one folder below it for each"
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help=out)
    base = "t2ranking: the folder of the model that the checkpoint began as, for its tokenizer"
    command.add_argument("--base", type=Path, metavar="DIR", help=base)
    config = "the network's configuration, if the checkpoint is without it"
    command.add_argument("--config", type=Path, metavar="FILE", help=config)
    vocab = "its vocabulary, if the checkpoint is without it"
    command.add_argument("--vocab", type=Path, metavar="FILE", help=vocab)
    spaces = (
        "spaces are dropped before a text is split, as rocketqa's `for_cn` does (read from its config.json)"
    )
    command.add_argument("--drop-spaces", action="store_true", help=spaces)


def run(options: argparse.Namespace) -> int:
    from harness.plugin import HarnessError, shown_path

    missing = [name for name in ("safetensors", "torch") if importlib.util.find_spec(name) is None]
    if missing:  # checked here, so that --help works without them
        install = "pip install 'passage-harness[dense]'"
        raise HarnessError(f"import-model: needs {' and '.join(missing)}; install them with: {install}")
    from harness_import_models import folders

    out: Path = options.out
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise HarnessError(f"--out {shown_path(out)}: is not empty; name another folder")
    read = _read(options)
    for network in read.networks:
        folder = out / network.folder
        folders.write(folder, network, read.words, read.lengths)
        kind, count = network.config["architectures"][0], len(network.tensors)
        print(
            f"{shown_path(folder.absolute())}: {kind}, {count} tensors, reads {network.reads or 'any text'}"
        )
    left = "; ".join(f"left out are {count} {what}" for what, count in sorted(read.left.items()))
    print(f"{read.tensors} tensors in the checkpoint; {left or 'none is left out'}")
    return 0


def _read(options: argparse.Namespace) -> Read:
    from harness.plugin import HarnessError

    if options.form == "paddle":
        from harness_import_models import paddle

        return paddle.read(options.place, options.config, options.vocab, options.drop_spaces)
    if options.base is None:
        raise HarnessError(
            "--from t2ranking: a checkpoint has no tokenizer; download that of google-bert/bert-base-chinese "
            "with its config.json, and name the folder by --base"
        )
    from harness_import_models import t2ranking

    return t2ranking.read(options.place, options.base)
