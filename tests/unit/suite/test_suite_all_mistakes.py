"""`harness check` needs one round: a mistake hides no other one, and is told once, at its line."""

from pathlib import Path

import pytest

from harness import catalogue
from harness.errors import HarnessError
from harness.running import preparation
from harness.store.artifacts import Store

CATALOGUE = catalogue.load()
SUITE = """suite: every
datasets:
  en: {tour: {documents: 5}}
  zh: {tour: {language: zh, documents: 5}, scored: false}
  made: {of: en, make: [{label-by-answers: {tau: 0.5}}]}
systems:
  bm25: {retriever: {bm25: {b: 0.9}}}
  ql: {context: [titles], retriever: ql}
  dense: {retriever: {dense: {model: all-minilm-l6-v2}}}
  own: {retriever: {dense: {model: {made: m}}}}
  expanded: {queries: [{rm3: {}, of: ql}], retriever: bm25}
  fused: {of: [bm25, ql], combine: {convex: {weight: {tune: {on: en/dev, measure: RR@10, grid: [0, 1, 0.5]}}}}}
  k1: {retriever: {bm25: {k1: {tune: {on: en/dev, measure: AP@9, values: [0.9, 1.2]}}}}}
  ranked: {of: fused, rerank: {crossencoder: {model: ms-marco-minilm-l6-v2}, depth: 50}}
models:
  m:
    train: {dual-encoder: {init: bge-small-zh, epochs: 1}}
    on: zh/test
    negatives: {of: ql, take: 4}
    validate: {on: zh/dev, measure: nDCG@3, corpus: {of: ql, depth: 10}}
analyses: [depth, {ils: {encoder: {dense: {model: bge-m3}}}, together: [en, made]}]
measures: [R@10]
depth: 200
"""
MISTAKES = {  # what is written, what is written instead, and the problem
    "documents: 5}}": ("documents: x}}", "3: datasets.en.tour.documents: expected a whole number, got 'x'"),
    "of: en,": ("of: enn,", "5: datasets.made.of: unknown dataset 'enn'"),
    "tau:": ("taux:", "5: datasets.made.make[0].label-by-answers.taux: unknown parameter"),
    "{b: 0.9}": ("{bb: 0.9}", "7: systems.bm25.retriever.bm25.bb: unknown parameter"),
    "[titles]": ("[title]", "8: systems.ql.context[0]: unknown context"),
    "all-minilm-l6-v2": ("all-minilm-l6-v3", "9: dense: model: unknown model"),
    "made: m}": ("made: n}", "10: systems.own.retriever.dense.model.made: unknown model"),
    "{rm3: {}": ("{rm4: {}", "11: systems.expanded.queries[0]: unknown rewriter"),
    "of: ql}]": ("of: qll}]", "11: systems.expanded.queries[0].of: unknown system"),
    "[bm25, ql]": ("[bm52, ql]", "12: systems.fused.of: unknown system"),
    "en/dev, measure: RR": (
        "nope/dev, measure: RR",
        "12: systems.fused.combine.convex.weight.tune.on: unknown",
    ),
    "RR@10": ("XX@10", "12: systems.fused.combine.convex.weight.tune.measure: XX@10: unknown measure"),
    "0.5]}}}": ("0]}}}", "12: systems.fused.combine.convex.weight.tune.grid: expected [from, to, step]"),
    "AP@9": ("YY@9", "13: systems.k1.retriever.bm25.k1.tune.measure: YY@9: unknown measure"),
    "0.9, 1.2": ("0.9, high", "13: systems.k1.bm25.tune.grid: expected a number"),
    "of: fused": ("of: fusedd", "14: systems.ranked.of: unknown system"),
    "ms-marco-minilm-l6-v2": ("ms-marco-minilm", "14: crossencoder: model: unknown model"),
    "depth: 50": ("depth: 500", "14: systems.ranked.rerank: re-ranks 500, but"),
    "epochs: 1": ("epochs: many", "17: models.m.train.dual-encoder.epochs: expected a whole number"),
    "zh/test": ("zh/train", "18: models.m.on: zh/train: expected one of 'test', 'dev'"),
    "of: ql, take": ("of: qlx, take", "19: models.m.negatives.of: unknown system"),
    "take: 4}": ("takes: 4}", "19: models.m.negatives: unknown key 'takes'"),
    "on: zh/dev": ("on: zhx/dev", "20: models.m.validate.on: unknown dataset"),
    "nDCG@3": ("ZZ@3", "20: models.m.validate.measure: ZZ@3: unknown measure"),
    "of: ql, depth": ("of: qly, depth", "20: models.m.validate.corpus.of: unknown system"),
    "[depth,": ("[dept,", "21: analyses[0]: unknown analysis"),
    "bge-m3": ("bge-m4", "21: dense: model: unknown model 'bge-m4'"),
    "[en, made]": ("[en, mde]", "21: analyses[1].together: 'mde' is no scored dataset"),
    "[R@10]": ("[Q@10]", "22: measures: Q@10: unknown measure"),
    "suite: e": ("suit: e", "1: unknown key 'suit'"),
}


def problems(folder: Path, text: str) -> list[str]:
    (folder / "s.yaml").write_text(text, encoding="utf-8")
    try:
        preparation.read(folder / "s.yaml", CATALOGUE, Store(folder / "store").open())
    except HarnessError as error:
        return [
            str(problem).replace(" on dataset 'en'", "").partition(".yaml:")[2] for problem in error.problems
        ]
    return []


def test_each_mistake_is_one_problem(tmp_path):
    assert problems(tmp_path, SUITE) == []
    for right, (wrong, problem) in MISTAKES.items():
        assert SUITE.count(right) == 1, right
        [line] = problems(tmp_path, SUITE.replace(right, wrong))
        assert line.startswith(problem)


def test_no_mistake_hides_another(tmp_path):
    text = SUITE
    for right, (wrong, _) in MISTAKES.items():
        text = text.replace(right, wrong)
    lines = problems(tmp_path, text)
    for _, problem in MISTAKES.values():
        assert any(line.startswith(problem) for line in lines), problem
    assert len(lines) == len(MISTAKES)
    numbers = [int(line.partition(":")[0]) for line in lines]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("encoder", ["[[]]", "3", "[a]"])
@pytest.mark.parametrize("key", ["analyses", "negatives", "on", "datasets"])
def test_what_ended_in_a_traceback_is_a_problem(tmp_path, key, encoder):
    text = {
        "analyses": SUITE.replace("{dense: {model: bge-m3}}", f"{{dense: {encoder}}}"),
        "negatives": SUITE.replace("negatives: {of: ql", f"negatives: {{of: {encoder}"),
        "on": SUITE.replace("on: en/dev, measure: AP", f"on: {encoder}, measure: AP"),
        "datasets": SUITE.replace(
            SUITE[SUITE.index("datasets") : SUITE.index("systems")], f"datasets: {encoder}\n"
        ),
    }[key]
    assert problems(tmp_path, text)
