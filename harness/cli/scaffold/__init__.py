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


def files(kind: str, given: Names) -> dict[str, str]:
    """Relative path -> contents: what every package has, then what one of this kind has."""
    version = importlib.metadata.version("passage-harness")
    words = {**given._asdict(), "kind": kind, "version": version}
    found = {}
    for template in (*_templates("package"), *_templates(kind)):
        path = template.relative_to(HERE).as_posix().partition("/")[2].removesuffix(SUFFIX)
        text = template.read_text(encoding="utf-8")
        found[path.replace("MODULE", given.module)] = Template(text).substitute(words)
    return found


def _templates(folder: str) -> list[Path]:
    return sorted((HERE / folder).rglob(f"*{SUFFIX}"))
