"""The notebook of the documentation runs in a real Jupyter kernel and shows what it says."""

import re
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.extras, pytest.mark.slow]
NOTEBOOK = Path(__file__).parents[2] / "docs" / "tour.ipynb"


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The cells with their outputs, and the seconds to the first leaderboard."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    for module in ("ipykernel", "pandas", "vl_convert"):
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp("kernel")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=280, startup_timeout=280, resources={"metadata": {"path": str(folder)}}
    )
    began = time.perf_counter()
    first = []
    client.on_cell_executed = lambda cell, cell_index, execute_reply: first.append(
        time.perf_counter() - began
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        client.execute()
    print(f"seconds to the first leaderboard: {first[1]:.1f}")
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(cells, kind):
    return [
        "".join(out["data"][kind]) for cell in cells for out in cell.outputs if kind in out.get("data", {})
    ]


def test_boards_are_tables_with_tiers(executed):
    pages = [page for page in outputs(executed, "text/html") if "<table" in page]
    assert len(pages) == 2
    assert re.search(r"</b><sup>[a-z]+</sup>", pages[0])
    assert "overlap" in pages[0]


def test_the_progress_is_a_bar_and_no_lines(executed):
    streams = [out for cell in executed for out in cell.outputs if out.output_type == "stream"]
    assert streams == []


def test_comparisons_and_queries_are_shown_as_text(executed):
    pages = "".join(outputs(executed, "text/html"))
    assert "overlap - bm25" in pages
    assert "bm25: k1 1.2 -&gt; 2.0" in pages or re.search(r"bm25: k1 [\d.]+ -&gt; 2.0", pages)
    assert "relevant passages" in pages


def test_the_plot_is_drawn_and_can_be_zoomed(executed):
    assert sum("<iframe" in page for page in outputs(executed, "text/html")) == 1
    (drawing,) = outputs(executed, "image/svg+xml")
    assert drawing.lstrip().startswith("<svg")


def test_the_notebook_is_kept_without_outputs():
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert '"outputs": []' in text
    assert not re.search(r'"execution_count": \d', text)
