"""Every hook has a section with an example that runs, and a test of that example."""

import argparse
import importlib.metadata
import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from harness import catalogue, findings, hookspecs, testing
from harness.catalogue import params
from harness.catalogue.entry_points import EntryPoint
from harness.collection.judgements import Judged
from harness.plan import plugin_calls
from harness.records import Column
from harness.scoring import protocols, score
from harness.scoring.ranking import Documents
from harness.types import Hits

PAGE = Path(__file__).parents[3] / "docs" / "hooks.md"
HOOKS = sorted(name for name in vars(hookspecs) if name.startswith("harness_"))


def sections() -> dict[str, str]:
    parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]
    return {part.partition("\n")[0].strip(): part for part in parts}


def records(hook: str, folder: Path) -> catalogue.Catalogue:
    """What the example of that hook offers, found as an installed plugin would be."""
    [example] = re.findall(r"^```python\n(.*?)^```", sections()[hook], re.M | re.S)
    path = folder / f"example_of_{hook}.py"
    path.write_text(example, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[path.stem])
    point = EntryPoint("example", path.stem, catalogue.OWN, "1")
    found = catalogue.collect([point])
    assert [plugin.error for plugin in found.plugins] == [None]
    return found


def the_record(hook: str, folder: Path):
    [entries] = records(hook, folder).entries[hook.removeprefix("harness_")].values()
    return entries[0].record


def keeps_the_contract(kind: str, record, folder: Path) -> None:
    for i, case in enumerate(testing.cases(kind, record)):
        (folder / str(i)).mkdir()
        case(folder / str(i))


def hits_of_two_queries() -> Hits:
    return Hits(np.array([[2, 0, 1], [3, -1, -1]]), np.array([[3, 2, 1], [1, -np.inf, -np.inf]], np.float32))


JUDGED = Judged(np.array([0, 1], np.int32), np.array([0, 3]), np.array([1, 1], np.int32))


def test_every_hook_has_a_section_an_example_and_a_test_and_no_section_is_of_another_hook():
    assert sorted(sections()) == HOOKS
    for hook in HOOKS:
        assert f"def {hook}(" in sections()[hook]
        assert any(name.startswith(f"test_the_example_of_{hook}") for name in globals())


def test_the_example_of_parameters_and_files(tmp_path):
    before = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    [example] = [
        block for block in re.findall(r"^```python\n(.*?)^```", before, re.M | re.S) if "Inputs(" in block
    ]
    module = sys.modules["example_of_files"] = ModuleType("example_of_files")
    names = vars(module)
    exec(example, names)
    values, problems = params.convert(names["Folder"], {"path": "data"}, tmp_path)
    assert problems == []
    source = names["Archive"](values)
    assert plugin_calls.inputs(source, "corpus").files == (tmp_path / "data" / "corpus.txt",)
    assert plugin_calls.inputs(source, "queries").files == (tmp_path / "data" / "queries-2024.txt",)
    _, problems = params.convert(names["Folder"], {}, tmp_path)
    assert "the parameter 'path' is missing" in str(problems[0])


def test_the_example_of_harness_datasets(tmp_path):
    keeps_the_contract("dataset", the_record("harness_datasets", tmp_path), tmp_path)


def test_the_example_of_harness_contexts(tmp_path):
    keeps_the_contract("context", the_record("harness_contexts", tmp_path), tmp_path)


def test_the_example_of_harness_trainers(tmp_path):
    keeps_the_contract("trainer", the_record("harness_trainers", tmp_path), tmp_path)


def test_the_example_of_harness_makers(tmp_path):
    keeps_the_contract("maker", the_record("harness_makers", tmp_path), tmp_path)


def test_the_example_of_harness_retrievers(tmp_path):
    keeps_the_contract("retriever", the_record("harness_retrievers", tmp_path), tmp_path)


def test_the_example_of_harness_rewriters(tmp_path):
    keeps_the_contract("rewriter", the_record("harness_rewriters", tmp_path), tmp_path)


def test_the_example_of_harness_rerankers(tmp_path):
    keeps_the_contract("reranker", the_record("harness_rerankers", tmp_path), tmp_path)


def test_the_example_of_harness_combiners(tmp_path):
    keeps_the_contract("combiner", the_record("harness_combiners", tmp_path), tmp_path)


def test_the_example_of_harness_analysers(tmp_path):
    keeps_the_contract("analyser", the_record("harness_analysers", tmp_path), tmp_path)


def test_the_example_of_harness_analyses_stands_in_a_leaderboard(tmp_path):
    found = records("harness_analyses", tmp_path)
    [entry] = found.entries["analyses"]["lengths"]
    hits = hits_of_two_queries()
    data = SimpleNamespace(systems=[SimpleNamespace(name="one", hits=hits)])
    [finding] = entry.record.build(None).analyse(data)
    assert findings.entry(finding)["rows"] == (("one", int((hits.passages >= 0).sum())),)


def test_the_example_of_harness_protocols_scores_passages_and_documents(tmp_path):
    found = records("harness_protocols", tmp_path)
    scoring = protocols.of_protocol("first-page", 100, found)
    documents = Documents(np.array([0, 0, 1, 1], np.int32), np.arange(2, dtype=np.int32))
    scores = score.score(
        hits_of_two_queries(), JUDGED, scoring.columns, size=4, documents=documents, depth=scoring.depth
    )
    means = {label: found.mean for label, found in score.summarise(scores, 0).items()}
    assert means == {"RR@10": 0.75, "document Success@10": 1.0}


def test_the_example_of_harness_measures_is_computed_like_any_other(tmp_path):
    own = protocols.measures_of_plugins(records("harness_measures", tmp_path))
    scores = score.score(hits_of_two_queries(), JUDGED, [Column("TopHeavy@2")], size=4, plugin_measures=own)
    assert scores.columns[0].values.tolist() == pytest.approx([1 / 3, 2 / 3])


def test_the_example_of_harness_commands_lists_failed_rows(tmp_path, capsys):
    command = the_record("harness_commands", tmp_path)
    keeps_the_contract("command", command, tmp_path)
    module = sys.modules["example_of_harness_commands"]
    parser = argparse.ArgumentParser()
    module.arguments(parser)
    board = json.loads((PAGE.parents[1] / "leaderboards" / "tour" / "leaderboard.json").read_text("utf-8"))
    assert module.work(parser.parse_args([str(PAGE.parents[1] / "leaderboards" / "tour")])) == 0
    board["rows"][0] |= {"status": "failed", "error": "out of memory", "measures": {}}
    (tmp_path / "leaderboard.json").write_text(json.dumps(board), encoding="utf-8")
    assert module.work(parser.parse_args([str(tmp_path)])) == 1
    assert capsys.readouterr().out.endswith(": out of memory\n")


@pytest.mark.parametrize("field", list(catalogue.records.Command.__dataclass_fields__))
def test_every_field_of_a_command_is_described(field):
    assert f"`{field}`" in sections()["harness_commands"]


@pytest.mark.parametrize("field", list(catalogue.records.Record.__dataclass_fields__))
def test_every_field_of_a_record_is_described(field):
    assert f"`{field}`" in PAGE.read_text(encoding="utf-8").partition("\n## ")[0]


def test_the_test_that_the_page_shows_is_one_that_pytest_runs(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    [shown] = [block for block in blocks if "testing.contract(" in block]
    names: dict[str, object] = {}
    exec(shown.replace('"my-retriever", {"length": 0.5}', '"bm25", {"k1": 0.5}'), names)
    [mark] = names["test_contract"].pytestmark
    assert mark.name == "parametrize"
    assert len(mark.args[1]) == len(testing.cases("retriever", "bm25"))
