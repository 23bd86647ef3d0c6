"""`harness new-plugin`: writes a working package, which its author then changes."""

from __future__ import annotations

import argparse
import importlib.util
import re
from pathlib import Path

from harness.plugin import HarnessError, shown_path
from harness.toolkit.commands.settings import offering
from harness.toolkit.files import writing
from harness_new_plugin import scaffold
from harness_new_plugin.scaffold import Names

SCAFFOLDS = (
    "retriever", "rewriter", "reranker", "trainer", "maker", "context", "dataset", "combiner", "measure",
    "analysis",
)  # fmt: skip
FIT = re.compile(r"[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*", re.ASCII)
WORDS_OF_YAML = ("true", "false", "null")  # YAML reads these words as values, not as names


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="the method's name, such as my-retriever")
    kinds = "(default: retriever); docs/hooks.md has an example of every other kind"
    command.add_argument("--kind", choices=SCAFFOLDS, default="retriever", help=kinds)
    into = "where its folder goes (default: here)"
    command.add_argument("--into", type=Path, default=Path(), metavar="DIR", help=into)


def run(options: argparse.Namespace) -> int:
    names = checked(options.name, options.kind)
    folder: Path = options.into / names.distribution
    write(folder, scaffold.files(options.kind, names))
    shown = shown_path(folder.absolute())
    print(f"wrote {shown}, the {options.kind} '{scaffold.record_name(options.kind, names.name)}'. Next:")
    for command in (f"cd {shown}", "pip install -e '.[dev]'", "pytest", "harness run suite.yaml"):
        print(f"  {command}")
    return 0


def checked(name: str, kind: str) -> Names:
    """The names of a new method's package. Raises HarnessError if the package cannot have them."""
    where = f"new-plugin {name}"
    if not FIT.fullmatch(name) or name.lower() in WORDS_OF_YAML:
        what = f"'{name}' cannot name a package and a method"
        raise HarnessError(f"{where}: {what}; use letters, digits and single hyphens, starting with a letter")
    names = scaffold.names(name)
    owner = offering(scaffold.plural(kind), scaffold.record_name(kind, name))
    if owner:
        raise HarnessError(f"{where}: {owner} has a {kind} of that name already; choose another name")
    if importlib.util.find_spec(names.module) is not None:
        raise HarnessError(f"{where}: a package '{names.module}' is installed already; choose another name")
    return names


def write(folder: Path, files: dict[str, str]) -> None:
    """Writes the files into a new folder. Raises HarnessError if the folder exists."""
    where = shown_path(folder.absolute())
    try:
        if folder.parent.exists() and not folder.parent.is_dir():
            raise HarnessError(f"--into {shown_path(folder.parent)}: is no folder; choose another one")
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except FileExistsError:
        raise HarnessError(f"{where}: is there already; choose another name, or another --into") from None
    except OSError as error:
        raise _unwritten(where, error) from None
    try:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
    except OSError as error:
        writing.remove_tree(folder)
        raise _unwritten(where, error) from None


def _unwritten(where: str, error: OSError) -> HarnessError:
    reason = (error.strerror or str(error)).lower()
    return HarnessError(f"{where}: cannot be written ({reason}); choose another --into")
