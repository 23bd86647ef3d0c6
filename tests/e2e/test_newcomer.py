"""The mistakes of a newcomer, in suites and on the command line: one line says where, what and what to do."""

import pytest
from running import Harness

SUITE = """suite: mistaken
datasets: {{toy: toy{datasets}}}
systems:
  plain: {{retriever: overlap}}
  other: {system}
models: {{m: {model}}}
measures: [nDCG@10]
depth: 20
"""
TRAINED = "train: {dual-encoder: {init: .}}, on: toy/train"
MADE = "{retriever: {dense: {model: {made: m}}}}"


def checked(place: Harness, system: str = MADE, model: str = f"{{{TRAINED}}}", datasets: str = "") -> str:
    """The message of `harness check` about a suite with these parts."""
    place.suite(SUITE.format(system=system, model=model, datasets=datasets))
    ran = place.command("check", "suite.yaml", "--store", "store")
    assert "Traceback" not in ran.err
    assert ran.code == 2, ran.out
    assert ran.err.startswith("suite.yaml:")
    return ran.err


@pytest.mark.parametrize(("model", "words"), [
    ("3", "models.m: expected a mapping, got 3\n"),
    ("{train: {dual-encoder: {init: .}}, on: []}", "models.m.on: is empty"),
    (f"{{{TRAINED}, negatives: 5}}", "models.m.negatives: expected a mapping, got 5\n"),
    (f"{{{TRAINED}, validate: {{on: toy/dev, measure: nope}}}}", "models.m.validate.measure: nope: "),
    (f"{{{TRAINED}, validate: {{on: toy/dev, measure: RR@10, corpus: 3}}}}", "validate.corpus: expected a mapping"),
    ("{train: {dual-encoder: {init: {made: m}}}, on: toy/train}", "models.m: is made of itself"),
    ("{train: {dual-encoder: {init: ., epoch: 2}}, on: toy/train}", "'epoch'; did you mean 'epochs'"),
])  # fmt: skip
def test_a_model(harness: Harness, model: str, words: str) -> None:
    message = checked(harness, model=model)
    assert message.startswith("suite.yaml:6: ")
    assert words in message


@pytest.mark.parametrize(("reference", "words"), [
    ("{made: m, part: x}", "'m' has no parts"),
    ("{made: m, checkpoint: 5}", "'m' has no checkpoint 5"),
    ("{made: n}", "unknown model 'n'; choose from: m"),
    ("{made: [m]}", "got a list"),
])  # fmt: skip
def test_a_reference_to_a_model(harness: Harness, reference: str, words: str) -> None:
    message = checked(harness, f"{{retriever: {{dense: {{model: {reference}}}}}}}")
    assert message.startswith("suite.yaml:5: ")
    assert words in message


@pytest.mark.parametrize("tune", ["3", "[1]", "null", "x"])
@pytest.mark.parametrize(("system", "path"), [
    ("{{retriever: {{bm25: {{k1: {{tune: {}}}}}}}}}", "systems.other.retriever.bm25.k1.tune"),
    ("{{of: [plain, plain], combine: {{convex: {{weight: {{tune: {}}}}}}}}}", "systems.other.combine.convex.weight.tune"),
])  # fmt: skip
def test_a_tuning_that_is_no_mapping(harness: Harness, system: str, path: str, tune: str) -> None:
    assert f"{path}: expected {{on: DATASET/SPLIT" in checked(harness, system.format(tune))


def test_values_to_try_that_are_too_few(harness: Harness) -> None:
    tune = "{on: toy/dev, measure: nDCG@10, values: [0.9]}"
    message = checked(harness, f"{{retriever: {{bm25: {{k1: {{tune: {tune}}}}}}}}}")
    assert "k1.tune.values: expected a list of two or more different values, got [0.9]" in message


@pytest.mark.parametrize(("pool", "words"), [
    ("nope", "suite.yaml:2: datasets.made.make.pool: unknown system 'nope'"),
    ("several", "pool: 'several' is several"),
])  # fmt: skip
def test_a_pool_of_no_system_and_of_several(harness: Harness, pool: str, words: str) -> None:
    datasets = f", made: {{of: toy, make: [{{pool: {{of: [{pool}], depth: 5}}}}]}}"
    several = "{retriever: overlap}\n  several: {retriever: {overlap: {weight: [1, 2]}}}"
    [message] = checked(harness, several, datasets=datasets).splitlines()
    assert words in message


@pytest.mark.parametrize(("words", "code", "message"), [
    (["datasets", "show", "."], 2, ".: is a folder; name the dataset that reads it, as `files path=.`"),
    (["datasets", "show", "toy", "documents=[1"], 2, "'documents=[1': is no YAML ("),
    (["eval", "bm52", "toy"], 2, "bm52: is no method and no model; did you mean 'bm25'?"),
    (["validate", ".", "--suite", "suite.yaml", "--out", "v", "--once", "--store", "store"], 2,
     "suite.yaml: no system has a model of its own; give one a model, such as {dense: {model: ...}}"),
    (["score", "--run", ".", "--qrels", "suite.yaml", "--out", "s"], 2, ".: is a folder; name the runs in it"),
    (["new-plugin", "x", "--into", "suite.yaml"], 2, "--into suite.yaml: is no folder; choose another one"),
    (["cache", "push", "--store", "store", "--remote", "shared"], 2, "--remote shared: URI has empty scheme"),
    (["merge", "suite.yaml", "--out", "m"], 2, "suite.yaml:1: not valid JSON"),
    (["export", "suite.yaml", "--form", "model", "--out", "m"], 2, "suite.yaml:1: not valid JSON"),
    (["annotate", "store", "--out", "a"], 2, "--scheme: a new folder needs one; choose from: "),
    (["annotate", "store", "--out", "a", "--scheme", "dureader"], 2, "store: is no pool (it has no pool.json)"),
])  # fmt: skip
def test_a_command(harness: Harness, words: list[str], code: int, message: str) -> None:
    harness.suite("suite: s\ndatasets: [toy]\nsystems: {plain: {retriever: overlap}}\nmeasures: [nDCG@10]\n")
    assert (
        harness.command("cache", "pull", "suite.yaml", "--store", "store", "--remote", "file:///nowhere").code
        == 0
    )
    ran = harness.command(*words)
    assert "Traceback" not in ran.err
    assert ran.code == code, ran.err
    assert ran.err.splitlines()[-1].startswith(message), ran.err


def test_a_file_in_the_place_of_a_folder_is_named_whichever_command_writes(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(options: object) -> int:
        (harness.folder / "file").touch()
        (harness.folder / "file").mkdir()
        return 0

    monkeypatch.setattr("harness.cli.schema.schema", refused)
    ran = harness.command("schema", "suite")
    assert ran.code == 1, ran.err
    assert ran.err == f"{harness.folder / 'file'}: file exists; choose another folder with --store or --out\n"
