"""The package that `harness new-plugin` writes: templates beside this module, filled with names."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from string import Template
from typing import NamedTuple

HERE = Path(__file__).parent
SUFFIX = ".txt"  # so that no tool reads a template as a Python module


class Names(NamedTuple):
    """The names of a new method, its module and its distribution."""

    name: str  # the method's name in suites
    module: str
    distribution: str  # also the name of its folder


def names(name: str) -> Names:
    return Names(name, f"harness_{name.replace('-', '_')}", f"harness-{name.replace('_', '-')}")


def plural(kind: str) -> str:
    return "analyses" if kind == "analysis" else f"{kind}s"


def record_name(kind: str, name: str) -> str:
    """The method's name in suites. A measure's has no hyphens: `NAME@10` is an expression."""
    if kind != "measure":
        return name
    return "".join(word[0].upper() + word[1:] for word in name.replace("_", "-").split("-"))


def files(kind: str, names: Names) -> dict[str, str]:
    """Relative path -> content of the package's files: the files of every package, with those of this kind
    added or in their place."""
    version = importlib.metadata.version("passage-harness")
    measure = record_name("measure", names.name)
    words = {**names._asdict(), "kind": kind, "kinds": plural(kind), "measure": measure, "version": version}
    contents = {}
    for template in (*_templates("package"), *_templates(kind)):
        path = template.relative_to(HERE).as_posix().partition("/")[2].removesuffix(SUFFIX)
        text = template.read_text(encoding="utf-8")
        contents[path.replace("MODULE", names.module)] = Template(text).substitute(words)
    return contents


def _templates(folder: str) -> list[Path]:
    return sorted((HERE / folder).rglob(f"*{SUFFIX}"))
