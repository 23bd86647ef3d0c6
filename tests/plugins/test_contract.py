"""Every method that `harness list` shows keeps the contract of `harness.testing`."""

import dataclasses
from pathlib import Path

import pytest
import tiny_cde
import tiny_crossencoders
import tiny_heads
import tiny_models

from harness import catalogue, testing

pytestmark = pytest.mark.extras

# Required parameters. All other methods are tested with their defaults.
DATA = Path(__file__).parent / "data"
PYTHON = """
def g(query, texts):
    words = set(query.lower().split())
    return [len(words & set(text.lower().split())) for text in texts]
def f(queries, corpus, k):
    rows = [g(query, corpus.texts) for query in queries]
    return [sorted(enumerate(row), key=lambda pair: (-pair[1], pair[0]))[:k] for row in rows]
"""
GIVEN = {
    ("dataset", "files"): {"path": str(DATA / "beir")},
    ("maker", "drop-similar"): {"to": ["other"]},
    ("maker", "pool"): {"of": ["one", "other"], "depth": 5},
    ("maker", "active-sample"): {"of": "one", "quantiles": True, "take": 20},
    ("maker", "hard-queries"): {"of": ["one", "other"], "depth": 1},
    ("maker", "sample-errors"): {"of": "one", "top": 2, "queries": 3},
    ("maker", "propose"): {"of": ["one", "other"], "depth": 5},
    ("maker", "judged"): {"file": str(DATA / "judgements.jsonl")},
    ("retriever", "python"): {"name": "f", "source": PYTHON},
    ("reranker", "python"): {"name": "g", "source": PYTHON},
    ("context", "python"): {"name": "h", "source": "def h(document):\n    return document.title + ' '"},
    ("context", "keyphrases-from-file"): {"file": str(DATA / "keyphrases.jsonl"), "missing": "skip"},
    **{
        ("context", f"{what}-from-file"): {"file": str(DATA / "context.jsonl"), "missing": "skip"}
        for what in ("prefix", "text")
    },
}
# Methods that need a model are tested with a tiny one. fp32, because the contract compares scores more closely
# than bf16 resolves them.
# a training of few steps, for the contract of trainers
SMALL = {"epochs": 2, "batch": 2, "micro": 4, "dtype": "fp32"}
MADE = {
    ("retriever", "dense"): lambda folder: {
        "model": str(tiny_models.sentence_transformer(folder)),
        "dtype": "fp32",
    },
    ("retriever", "cde"): lambda folder: {**tiny_cde.written(folder), "dtype": "fp32"},
    ("retriever", "splade"): lambda folder: {"model": str(tiny_heads.splade(folder)), "dtype": "fp32"},
    ("retriever", "colbert"): lambda folder: {"model": str(tiny_heads.colbert(folder)), "dtype": "fp32"},
    ("reranker", "colbert"): lambda folder: {"model": str(tiny_heads.colbert(folder)), "dtype": "fp32"},
    ("reranker", "crossencoder"): lambda folder: {
        "model": str(tiny_crossencoders.bert(folder)),
        "dtype": "fp32",
    },
    ("trainer", "dual-encoder"): lambda folder: {
        **SMALL, "init": str(tiny_models.sentence_transformer(folder)), "query_length": 8, "passage_length": 8
    },
    ("trainer", "prompts"): lambda folder: {
        **SMALL, "init": str(tiny_models.sentence_transformer(folder)), "prefix": 2, "query_length": 8,
        "passage_length": 8,
    },
    ("trainer", "lora"): lambda folder: {
        **SMALL, "init": str(tiny_models.sentence_transformer(folder)), "rank": 2, "query_length": 8,
        "passage_length": 8,
    },
    ("trainer", "cross-encoder"): lambda folder: {**SMALL, "init": str(tiny_models.bert(folder)), "length": 16},
    ("trainer", "rocketqav2"): lambda folder: {
        **SMALL, "init": str(tiny_models.bert(folder)), "init_reranker": str(folder),
        "query_length": 8, "passage_length": 8,
    },
}  # fmt: skip
# These need a release in its official layout, or a file made for the corpus. Their test files write a small one
# and run the same cases.
TESTED_ELSEWHERE = {
    "ccovid-news": "mteb",
    "cmedqa": "mteb",
    "coreference-clusters": "coreference_files",
    "coreference-rewritten": "coreference_files",
    "dapr": "dapr_dataset",
    "dapr-original": "dapr_original",
    "doct5query": "doct5query",  # slow: it samples for each of some thousand passages
    "dureader-questions": "dureader_raw",
    "dureader-retrieval": "dureader",
    "generate": "rewriting",
    "hyde": "rewriting",
    "impacts": "impacts",
    "ir_datasets": "ir_datasets",
    "embeddings": "language_models",
    "listwise": "language_models",
    "pairwise": "language_models",
    "pointwise": "language_models",
    "setwise": "language_models",
    "mteb": "mteb",
    "run": "run_retriever",
    "t2ranking": "t2ranking",
    "vectors": "vectors",
}

# Each of these shares its code with another method of its kind, and differs from it in words, a formula or a rule.
# Their cases that start a process are left to CI. All other cases are tried here too.
ANALYSERS_OF_EACH_FORM = ("cjk", "english", "german", "jieba", "simple", "whitespace")
LIKE_ANOTHER = {
    "combiner": ("combanz", "combmax", "combmed", "combmin", "combmnz", "log-isr"),
    "maker": ("hard-queries", "sample-errors"),
    "retriever": ("ql",),
    "rewriter": ("bo1",),
}


def every_case():
    for kind, name in shipped():
        if name in TESTED_ELSEWHERE:
            continue
        for case in testing.cases(kind, name, GIVEN.get((kind, name))):
            starts_a_process = "process" in case.name or "killed" in case.name
            left = pytest.mark.slow if starts_a_process and like_another(kind, name) else ()
            yield pytest.param(case, id=f"{kind}-{name}-{case.name}", marks=left)


def like_another(kind: str, name: str) -> bool:
    if kind == "analyser":
        return name not in ANALYSERS_OF_EACH_FORM
    return name in LIKE_ANOTHER.get(kind, ())


def shipped():
    plugins = catalogue.load()
    for kind in (
        "datasets",
        "contexts",
        "retrievers",
        "rewriters",
        "rerankers",
        "combiners",
        "analysers",
        "trainers",
        "makers",
        "commands",
    ):
        for name in plugins.names(kind):
            entry = plugins.find(kind, name)
            if entry.plugin.distribution == catalogue.OWN:
                yield kind[:-1], name


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A function of kind and name: the method's parameters, with a model that is made once."""
    known = {}

    def given(kind, name):
        if (kind, name) not in known:
            known[kind, name] = MADE[kind, name](tmp_path_factory.mktemp(f"{kind}-{name}"))
        return known[kind, name]

    return given


@pytest.mark.parametrize("case", list(every_case()))
def test_every_method_keeps_the_contract(case, tmp_path, made):
    if (case.kind, case.method) in MADE:
        case = dataclasses.replace(case, given=made(case.kind, case.method))
    case(tmp_path)


def test_every_plugin_loads_and_every_kind_but_measures_is_there():
    assert [plugin for plugin in catalogue.load().plugins if plugin.error] == []
    assert {kind for kind, _ in shipped()} >= {"context", "combiner", "reranker", "retriever", "dataset"}


@pytest.mark.parametrize("name", sorted(TESTED_ELSEWHERE))
def test_the_other_methods_are_tested_by_the_same_contract(name):
    text = Path(__file__).with_name(f"test_{TESTED_ELSEWHERE[name]}.py").read_text(encoding="utf-8")
    assert 'testing.cases("' in text
