"""The package that `harness new-plugin` writes: templates beside this module, filled with its names."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from string import Template
from typing import NamedTuple

HERE = Path(__file__).parent
SUFFIX = ".txt"  # so that no tool takes a template for a module of ours


class Names(NamedTuple):
    """What a new method and the things around it are called."""

    name: str  # of the method, as suites write it
    module: str
    distribution: str  # of its folder too


def names(name: str) -> Names:
    return Names(name, f"harness_{name.replace('-', '_')}", f"harness-{name.replace('_', '-')}")


def plural(kind: str) -> str:
    return "analyses" if kind == "analysis" else f"{kind}s"


def record_name(kind: str, name: str) -> str:
    """What suites call the method: a measure has no hyphens, because `NAME@10` is an expression."""
    if kind != "measure":
        return name
    return "".join(word[0].upper() + word[1:] for word in name.replace("_", "-").split("-"))


def files(kind: str, given: Names) -> dict[str, str]:
    """Relative path -> contents: what every package has, replaced or joined by what this kind has."""
    version = importlib.metadata.version("passage-harness")
    measure = record_name("measure", given.name)
    words = {**given._asdict(), "kind": kind, "kinds": plural(kind), "measure": measure, "version": version}
    contents = {}
    for template in (*_templates("package"), *_templates(kind)):
        path = template.relative_to(HERE).as_posix().partition("/")[2].removesuffix(SUFFIX)
        text = template.read_text(encoding="utf-8")
        contents[path.replace("MODULE", given.module)] = Template(text).substitute(words)
    return contents


def _templates(folder: str) -> list[Path]:
    return sorted((HERE / folder).rglob(f"*{SUFFIX}"))
