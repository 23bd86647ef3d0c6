"""Writes the pages of a site, each as one file with its style, script and data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.plugin import HarnessError, shown_path
from harness.toolkit.boards import pages as report
from harness.toolkit.files import writing
from harness_site import methods
from harness_site.cells import as_csv
from harness_site.collected import collect
from harness_site.pages import pages, tables_of

HERE = Path(__file__).parent
MARK = "<!-- written by `harness site` -->"
INDEX = "index.html"
FOLDERS = ("boards", "datasets", "systems", "csv")


def write(paths: Sequence[Path], out: Path, title: str, models: Path | None = None) -> int:
    """Writes the site into a folder, removes pages of an earlier site, and returns the number of pages.
    Raises HarnessError for a folder whose index was not written by `harness site`."""
    made = pages(collect(paths), title, methods.known(models))
    index = out / INDEX
    if index.exists() and MARK not in index.read_text(encoding="utf-8", errors="replace")[-200:]:
        raise HarnessError(f"{shown_path(index)}: was not written by harness site; name another folder")
    script = "\n".join(
        [report.script("base", "table", "labels"), *map(_own, ("figures.js", "front.js", "site.js"))]
    )
    style = report.style() + _own("site.css")
    with writing.explaining(out):
        for folder in FOLDERS:
            (out / folder).mkdir(parents=True, exist_ok=True)
        written = set()
        for page in made:
            path = out / page.path
            text = report.page_of(page.data, {}, [report.enclosed(script)], style)
            _replace(path, f"{text}{MARK}\n")
            written.add(path)
            for table in tables_of(page):
                path = out / table["csv"]
                _replace(path, as_csv(table["columns"], table["rows"]))
                written.add(path)
        for folder in FOLDERS:
            for path in (out / folder).glob("*.csv" if folder == "csv" else "*.html"):
                if path not in written:
                    path.unlink()
    return len(made)


def _own(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _replace(path: Path, text: str) -> None:
    """Writes a page whole or not at all. It is not synced, because it can be made again."""
    beside = path.with_suffix(".new")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
