"""`harness import-model`: what it reads, and what it says."""

from __future__ import annotations

import argparse
from pathlib import Path


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "place", type=Path, metavar="DIR", help="the checkpoint: a folder, or one file of it"
    )
    form = "paddle: RocketQA's and ERNIE's parameters"
    command.add_argument("--from", dest="form", choices=("paddle",), required=True, help=form)
    out = "where the folder goes; with several networks, one folder below it for each"
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help=out)
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
    from harness_import_models import folders, paddle

    out: Path = options.out
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise HarnessError(f"--out {shown_path(out)}: is not empty; name another folder")
    read = paddle.read(options.place, options.config, options.vocab, options.drop_spaces)
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
