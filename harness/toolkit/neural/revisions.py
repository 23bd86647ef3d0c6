"""The commits at which models of the hub are read, unless a suite names another revision."""

from __future__ import annotations

import functools
import json
from pathlib import Path

AUTO = "auto"  # the revision of a suite that names none


def of(model: Path | str, revision: str) -> str:
    """The revision of a model: the one that the suite names, else the commit that is known here, else
    main."""
    return revision if revision != AUTO else _commits().get(str(model), "main")


@functools.cache
def _commits() -> dict[str, str]:
    by_source = json.loads(Path(__file__).with_suffix(".json").read_bytes())
    return {model: commit for commits in by_source.values() for model, commit in commits.items()}
