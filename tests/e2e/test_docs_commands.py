"""The commands in the code blocks of the documentation, run page by page on a small collection."""

import gzip
import importlib.util
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pools
import pytest

from harness import cli

pytest.importorskip("safetensors")
from standins import paddle as standins

pytestmark = [pytest.mark.slow, pytest.mark.extras]
ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
CLUSTER = "needs a Ray cluster: tests/e2e/test_ray_suites.py"
WEIGHTS = "needs weights of the hub"
IMPORTED = "tests/plugins/test_import_models.py imports such checkpoints"
REHEARSED = "tests/e2e/test_rehearsed_suites.py runs the suite"
INSTALLS = "installs this repository; CI does so itself"
NOT_HERE = {  # page -> the start of a command -> why it is not run here
    "CONTRIBUTING.md": {"make test": INSTALLS, "make test-all": INSTALLS},
    "README.md": {"make demo": INSTALLS, "make test": INSTALLS, "harness eval all-minilm-l6-v2": WEIGHTS},
    "annotate.md": {"harness annotate pool --out judgements --grade-by": "needs a chat service"},
    "cluster.md": {"harness run": CLUSTER},
    "document-context.md": {"harness run": REHEARSED},
    "import-model.md": {
        "harness import-model --from paddle marco_dual_encoder_v0": IMPORTED,
        "harness import-model --from paddle dual_params": IMPORTED, "harness import-model --from t2ranking": IMPORTED,
    },
    "reproduce.md": {"harness run": REHEARSED},
    "suite.md": {"harness eval all-minilm-l6-v2": WEIGHTS},
    "training.md": {"harness run suite.yaml": "needs the package installed: tests/e2e/test_training_strangers.py"},
    "make-a-benchmark.md": {"harness": "tests/e2e/test_make_a_benchmark.py walks the page"},
}  # fmt: skip
BLOCKS = {  # page with blocks of Python -> the test that runs them, or why none does; None: they are run here
    "api.md": "tests/unit/test_door.py", "compare.md": None, "coreference.md": "needs AllenNLP and its weights",
    "exchange.md": None,
    "hooks.md": "tests/unit/docs/test_docs_hooks.py", "make-a-benchmark.md": "tests/e2e/test_make_a_benchmark.py",
    "measures.md": "tests/unit/docs/test_docs_pages.py", "notebook.md": "tests/unit/docs/test_docs_pages.py",
}  # fmt: skip
SUITE = """
suite: page
datasets:
  scifact: {files: {path: data/scifact, split: test, language: en}}
systems:
  bm25: {retriever: bm25}
  bm25+titles: {context: [titles], retriever: bm25}
  dense: {retriever: ql}
measures: [nDCG@10, R@100, RR@10]
depth: 200
"""
DEMO = SUITE.replace(
    "scifact: {files: {path: data/scifact, split: test, language: en}}", "tour-en: {tour: {documents: 6}}"
)
WORDS = ("river", "stone", "garden", "winter", "north", "old", "castle", "island")


def commands(page: Path) -> list[str]:
    """The commands of a page that begin with `harness` or `make`, in order."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    fenced = re.findall(r"^ *```(\w*)\n(.*?)^ *```", text, re.M | re.S)
    blocks = [block for kind, block in fenced if kind in ("", "bash", "sh", "console")]
    lines = (re.sub(r"^ *(?:\.venv/bin/)?", "", line) for block in blocks for line in block.splitlines())
    return [line for line in lines if re.match(r"(harness|make) ", line)]


def why_not(page: Path, command: str) -> str | None:
    """Why a command is not run here; None if it is run."""
    reasons = NOT_HERE.get(page.name, {})
    return next((why for start, why in reasons.items() if f"{plain(command)} ".startswith(f"{start} ")), None)


def plain(command: str) -> str:
    return " ".join(shlex.split(command, comments=True))


def collection(folder: Path) -> None:
    rows = [
        {
            "_id": f"p{i}",
            "title": WORDS[i % 8],
            "text": f"the {WORDS[i % 8]} and {WORDS[i % 7]} of {WORDS[i % 5]}",
        }
        for i in range(40)
    ]
    asked = [{"_id": str(915593 + i), "text": f"{WORDS[i]} of {WORDS[i % 5]}"} for i in range(8)]
    (folder / "qrels").mkdir(parents=True)
    for name, items in (("corpus", rows), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    lines = "".join(f"{item['_id']}\tp{i}\t1\n{item['_id']}\tp{i + 8}\t1\n" for i, item in enumerate(asked))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{lines}")


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Iterator[Path]:
    """A folder with all files that the pages name."""
    here = tmp_path_factory.mktemp("world")
    collection(here / "data" / "scifact")
    (here / "suite.yaml").write_text(SUITE)
    (here / "demo.yaml").write_text(DEMO)
    pools.write_pool(here / "pool", pools.pairs(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        for words in (
            "run suite.yaml --out results", "run demo.yaml --out demo", "run suite.yaml --only bm25* --out machine-1",
            "run suite.yaml --only dense* --out machine-2",
        ):  # fmt: skip
            assert cli.main(words.split()) == 0, words
        for name in ("before", "after", "main", "pull-request", "LEADERBOARD"):
            shutil.copytree("results", name)
        for name in ("bm25.run.gz", "monot5.run.gz"):
            shutil.copy("results/runs/scifact/bm25.run.gz", name)
        Path("theirs.run").write_bytes(gzip.decompress(Path("bm25.run.gz").read_bytes()))
        judged = Path("data/scifact/qrels/test.tsv").read_text().splitlines()[1:]
        for name in ("judgements.qrels", "qrels.txt"):
            Path(name).write_text("".join("{} 0 {} {}\n".format(*line.split()) for line in judged))
        example = {
            "query_id": "1",
            "query": "why",
            "positive_passages": [{"docid": "2", "text": "so"}],
            "negative_passages": [],
        }
        Path("train.jsonl.gz").write_bytes(gzip.compress(json.dumps(example).encode()))
        for name in ("tour", "mteb", "neural-en"):
            shutil.copytree(ROOT / "leaderboards" / name, f"leaderboards/{name}")
        shutil.copytree("main", "results/mteb")
        standins.release(here, "v2_marco_ce")
        yield here


def test_every_command_that_is_not_run_here_is_still_on_its_page():
    pages = {page.name: page for page in PAGES}
    for name, reasons in NOT_HERE.items():
        found = [plain(line) for line in commands(pages[name])]
        stale = [start for start in reasons if not any(f"{line} ".startswith(f"{start} ") for line in found)]
        assert stale == [], name
        for why in reasons.values():
            for path in re.findall(r"tests/\S+\.py", why):
                assert (ROOT / path).is_file(), path


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_the_commands_of_a_page_run(page, world, tmp_path, monkeypatch, capsys):
    here = tmp_path / "inner"  # a command may write beside the folder
    shutil.copytree(world, here)
    monkeypatch.chdir(here)
    run = 0
    for line in commands(page):
        if why_not(page, line) is not None:
            continue
        if line.startswith("harness import-mteb"):  # its folder is MTEB's, not a leaderboard
            shutil.rmtree("results")
            assert cli.main("export ours --form mteb --out made".split()) == 0
            shutil.copytree("made/results", "results")
        words = shlex.split(line.replace("s3://bucket/prefix", f"file://{tmp_path}/remote"), comments=True)[
            1:
        ]
        if words[0] == "annotate" and words[-1] in ("judgements", "t2ranking"):
            words.append("--progress")  # else it serves the page until it is stopped
        assert cli.main(words) == 0, f"{line}\n{capsys.readouterr().err}"
        run += 1
    if not run:
        pytest.skip("; ".join(sorted(set(NOT_HERE[page.name].values()))))


def test_every_page_with_python_has_a_test_that_runs_it():
    blocks = [page for page in PAGES if "```python\n" in page.read_text(encoding="utf-8")]
    assert [page.name for page in blocks] == sorted(BLOCKS)
    for page, test in BLOCKS.items():
        assert (
            test is None
            or test.startswith("needs ")
            or page.removesuffix(".md") in (ROOT / test).read_text(encoding="utf-8")
        )


@pytest.mark.parametrize("name", [name for name, test in BLOCKS.items() if test is None])
def test_the_python_of_a_page_runs(name, world, tmp_path, monkeypatch):
    shutil.copytree(world, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    shutil.copytree("results", "ours")
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        if "pandas" in block and importlib.util.find_spec("pandas") is None:
            pytest.skip("needs pandas")
        exec(compile(block, name, "exec"), {})
