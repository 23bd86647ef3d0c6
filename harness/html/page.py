"""Builds the page: template, style, scripts and data in one file that makes no network request."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.html import evidence, packing, vega
from harness.html.content import content
from harness.html.tiers import TierLetters
from harness.leaderboard.board_file import Leaderboard
from harness.store import disk
from harness.store.artifacts import Store
from harness.types import JSON

HERE = Path(__file__).parent
SCRIPTS = ("base", "table", "labels", "plots", "results", "compare", "queries", "rows", "about",
           "main")  # in this order  # fmt: skip
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def build(board: Leaderboard, store: Store, suite: str | None, tiers: TierLetters, texts: bool) -> str:
    """The whole report of a leaderboard as HTML. `texts` says whether the report contains the texts of
    queries and passages."""
    made = content(board, tiers.letters, suite)
    made.board["tiersSaid"] = tiers.note
    chunks = dict(made.chunks)
    for i, (dataset, known) in enumerate(zip(made.board["datasets"], made.queries, strict=True)):
        looked = evidence.of_dataset(board, i, known.ids, known.values, store, texts)
        chunks[f"evidence-{i}"] = packing.packed_json(looked.data)
        dataset.update(said=looked.note, judged=looked.judged)
    return fill(made.board, chunks, vega.bundle())


def fill(board: Mapping[str, JSON], chunks: Mapping[str, str], vega: str) -> str:
    """The report page. Vega compiles its expressions at run time, so its policy allows `unsafe-eval`."""
    scripts = [vega, enclosed(script(*SCRIPTS))]
    return page_of(board, chunks, scripts, style(), "'unsafe-eval'")


def page_of(
    board: Mapping[str, JSON],
    chunks: Mapping[str, str],
    scripts: Sequence[str],
    style: str,
    further: str = "",
) -> str:
    """The template with its slots filled. The page's policy allows only the given scripts and style to run,
    and no network request."""
    allowed = " ".join([*map(_digest, scripts), *([further] if further else [])])
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src-elem {_digest(style)}; "
        "style-src-attr 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    slots = {
        "policy": policy,
        "title": html.escape(str(board["name"])),
        "style": style,
        "board": packing.island(board),
        "chunks": "\n".join(
            f'<script type="text/plain" id="{name}">{text}</script>' for name, text in chunks.items()
        ),
        "scripts": "\n".join(f"<script>{text}</script>" for text in scripts),
    }
    template = (HERE / "template.html").read_text(encoding="utf-8")
    return _SLOT.sub(lambda slot: slots[slot[1]], template)  # in one pass, since texts may hold braces


def script(*names: str) -> str:
    return "\n".join((HERE / "script" / f"{name}.js").read_text(encoding="utf-8") for name in names)


def enclosed(text: str) -> str:
    """The script in a function of its own, so that its names are not global."""
    return f'"use strict";\n(() => {{\n{text}\n}})();\n'


def style() -> str:
    return (HERE / "page.css").read_text(encoding="utf-8")


def write(path: Path, page: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    disk.replace_file(path, page.encode())


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
