"""Whatever is done to a valid suite, its author hears a problem with its place, and never a traceback."""

import copy
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness import catalogue
from harness.errors import HarnessError
from harness.running import preparation
from harness.store.artifacts import Store

CATALOGUE = catalogue.load()
VALID = b"""suite: valid
include: base.yaml
datasets:
  en: {tour: {language: en, documents: 5, seed: 3}}
  tour:
systems:
  bm25: {retriever: {bm25: {k1: [0.9, 1.2], b: 0.4}}}
  titled: {context: [titles], retriever: ql}
  documents: {retriever: bm25, unit: document}
  fused: {of: [bm25, documents], combine: {convex: {weight: 0.7}}}
  ranked: {of: fused, rerank: [{sdm: {mu: 100}, depth: 50, tail: drop}]}
measures: [nDCG@10, R@100, "RR(rel=2)@10"]
depth: 200
seed: 3
timeout: 60
"""
BASE = b"systems: {base: {retriever: ql}}\n"
GIVEN = b"{tour: {language: en, documents: 5, seed: 3}}"
# What 10,000 random mutations of suites once ended in a traceback or a hang with.
NAMED = {
    "no inputs of a combiner": VALID.replace(b"of: [bm25, documents]", b"of: []"),
    "a dataset without the parameters that it needs": VALID.replace(GIVEN, b"{mteb: }"),
    "a dataset of null parameters": VALID.replace(GIVEN, b"{mteb: {path: null, qrels: null}}"),
    "an integer of more than 64 bits": VALID.replace(b"documents: 5", b"documents: 99999999999999999999"),
    "an integer beyond a float": VALID.replace(b"weight: 0.7", b"weight: 1" + b"0" * 400),
    "a parameter of the wrong shape": VALID.replace(b"{weight: 0.7}", b"{weight: {tune: [1]}}"),
    "a grid from infinity": VALID.replace(b"0.7}", b"{tune: {folds: 2, measure: RR, grid: [-.inf, 1, 1]}}}"),
    "a grid of endless steps": VALID.replace(
        b"0.7}", b"{tune: {folds: 2, measure: RR, grid: [0, 1, 1e-320]}}}"
    ),
    "a grid of equal values": VALID.replace(
        b"0.7}", b"{tune: {folds: 2, measure: RR, grid: [0, 1e-12, 1e-13]}}}"
    ),
    "a grid as wide as floats go": VALID.replace(
        b"0.7}", b"{tune: {folds: 2, measure: RR, grid: [-1.7e308, 1.7e308, 1e307]}}}"
    ),
    "a tuned parameter on a dataset that cannot be read": VALID.replace(
        b"0.7}", b"{tune: {on: en/dev, measure: RR, grid: [0, 1, 1]}}}"
    ).replace(b"documents: 5", b"documents: x"),
    "recursion by anchors": VALID.replace(
        b"timeout: 60", b"".join(b"x%d: &a%d [*a%d]\n" % (i, i, i - 1) for i in range(1, 900))
    ).replace(b"suite: valid", b"suite: &a0 valid"),
    "a name of thousands of characters": VALID.replace(b"  bm25:", b"  ? " + b"b" * 5000 + b"\n  :"),
    "an included name of thousands of characters": VALID.replace(b"base.yaml", b"b" * 5000),
    "a path of thousands of characters": VALID.replace(GIVEN, b"{files: {path: " + b"d" * 5000 + b"}}"),
    "an include through itself": VALID.replace(b"base.yaml", b"sub/../suite.yaml"),
    "a path that is a device": VALID.replace(GIVEN, b"{files: {path: /dev/zero, language: en}}"),
    "a path that is a pipe": VALID.replace(GIVEN, b"{files: {path: pipe, language: en}}"),
    "half of a surrogate pair": VALID.replace(b"suite: valid", b'suite: "\\ud800"'),
    "a system of itself and a grid": VALID.replace(
        b"documents: {retriever: bm25, unit: document}", b"documents: {of: [bm25, documents], combine: rrf}"
    ),
    "a made model in the place of parameters": VALID.replace(b"{weight: 0.7}", b"{made: nothing}"),
    "a made model in the place of a dataset's parameters": VALID.replace(GIVEN, b"{tour: {made: nothing}}"),
    "the home of nobody": VALID.replace(GIVEN, b"{files: {path: ~nobody-of-this-name/x}}"),
}
PIECES = [
    b"{", b"}", b"[", b"]", b":", b"\n", b"  ", b"\t", b"- ", b"*a", b"&a ", b"!!python/name:os.system ", b"${X}", b"null",
    b"1e400", b"-1", b".nan", b"'", b'"', b"\xff", b"\x00", b"\xe2\x80\xa8", b"<<: ", b"---\n", b"? ", b"true", b"fused",
    b"depth", b"of", b"convex", b"of: []", b"tune", b"{tune: {}}", b"grid", b"/dev/zero", b"mteb", b"9" * 30, b"\\ud800",
    b"9" * 5000, "\u00fc".encode(), b"%", b"@", b"`", b"|", b">",
]  # fmt: skip
LINE = re.compile(r"^[^:\n]+(:\d+)?: .+")


@st.composite
def mutated(draw) -> bytes:
    text = bytearray(VALID)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 30))
        piece = draw(
            st.sampled_from(PIECES) | st.binary(max_size=6) | st.just(bytes(text[start : start + length]))
        )
        at = draw(st.integers(0, len(text)))
        change = draw(st.sampled_from(["insert", "replace", "delete", "truncate"]))
        if change == "insert":
            text[at:at] = piece
        elif change == "replace":
            text[at : at + max(1, len(piece))] = piece
        elif change == "delete":
            del text[at : at + length]
        else:
            del text[at:]
    return bytes(text)


def try_it(folder: Path, text: bytes) -> int:
    """How many problems `check` and `run` find in the suite, each of them a line with its place. What is sound
    is planned although the rest is not."""
    (folder / "base.yaml").write_bytes(BASE)
    (folder / "suite.yaml").write_bytes(text)
    try:
        preparation.read(folder / "suite.yaml", CATALOGUE, Store(folder / "store").open())
    except HarnessError as error:
        for problem in error.problems:
            assert LINE.match(str(problem)), str(problem)
        return len(error.problems)
    return 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutated")


@pytest.mark.parametrize("text", NAMED.values(), ids=NAMED.keys())
def test_what_once_ended_in_a_traceback_is_a_problem_with_its_place(folder, text):
    (folder / "sub").mkdir(exist_ok=True)
    if not (folder / "pipe").exists():
        os.mkfifo(folder / "pipe")
    assert text != VALID
    assert try_it(folder, text) > 0


@settings(suppress_health_check=list(HealthCheck))
@given(text=mutated())
@example(text=VALID)
@example(text=VALID.replace(b"base.yaml", b"suite.yaml"))
@example(text=VALID.replace(b"base.yaml", b"\x01"))
@example(text=VALID.replace(b"nDCG@10", b"nDCG@1000000"))
@example(text=VALID.replace(b"of: fused", b"of: ranked"))
@example(text=VALID.replace(b"[0.9, 1.2]", b"[{a: 1}, {b: 2}]"))
@example(text=VALID.replace(b"[0.9, 1.2]", b"[" + b"0.9, " * 2000 + b"1]"))
def test_a_mutated_suite_gives_no_traceback(folder, text):
    try_it(folder, text)


EVERY_FORM = """
suite: valid
include: base.yaml
datasets:
  en: {tour: {language: en, documents: 5, seed: 3}}
  parts: {files: {corpus: data/corpus.jsonl, queries: data/queries.jsonl, qrels: data/qrels.tsv, language: en}, scored: false, unknown_judgements: drop}
  made: {of: en, make: [{join-paragraphs: {limit: 600}}, {judged: {file: judged.tsv}}, {pool: {of: [titled], depth: 5}}, strip-titles]}
  cleaned: {of: parts/test, make: [{drop-similar: {to: [en/dev]}}, {segment: {by: tokens}, splits: [test]}], limit: 3, sample: 9}
systems:
  bm25: {retriever: {bm25: {k1: [0.9, 1.2], b: 0.4}}}
  titled: {context: [titles], retriever: ql}
  documents: {retriever: bm25, unit: document, scored: false}
  fused: {of: [titled, documents], combine: {convex: {weight: {tune: {on: en/dev, measure: RR@10, grid: [0, 1, 0.5]}}}}}
  folded: {of: [titled, documents], combine: {convex: {weight: {tune: {folds: 2, measure: RR, grid: [0, 1, 0.5]}}}}}
  weighed: {of: [titled, documents], combine: {combsum: {weights: {tune: {on: en/dev, measure: RR, simplex: [2, 0.5], trials: 2}}}}}
  tuned: {retriever: {bm25: {k1: {tune: {on: en/dev, measure: RR, values: [0.4, 0.9]}}, b: {tune: {grid: [0.2, 0.8, 0.6]}}}}}
  ranked: {of: fused, rerank: [{sdm: {mu: 100}, depth: 50, tail: drop}]}
  dense: {retriever: {dense: {model: {made: m}}}}
  expanded: {queries: [{rm3: {}, of: titled}], retriever: bm25}
  served: {retriever: {embeddings: {service: {url: "http://localhost:8080/v1", model: bge-m3, key: KEY}}}}
  listed: {of: titled, rerank: {listwise: {service: {url: "http://localhost:8080/v1", model: x, budget_tokens: 9}}, depth: 9}}
  asked: {queries: [{generate: {service: {url: "http://localhost:8080/v1", model: x, extra: {a: null}}}}], retriever: bm25}
models:
  m:
    train: {dual-encoder: {init: bge-small-zh, epochs: 1, batch: 2}, resources: {gpus: 1}}
    on: parts/test
    negatives: {of: titled, depth: 50, take: 4}
    validate: {on: en/dev, measure: RR@10, checkpoints: 2, corpus: {of: titled, depth: 10}}
    seeds: [0, 1]
  ce: {train: {cross-encoder: {init: {made: m}}}, on: [parts/test, en/dev], negatives: {of: dense, below: 0.5}, queries: 3}
averages: {both: [en, cleaned]}
analyses: [depth, {ils: {encoder: {dense: {model: all-minilm-l6-v2}}}, together: [en, cleaned]}, {similar-queries: {to: [en/dev]}}]
beside: {published: dapr, as: dev}
measures: [nDCG@10, "RR(rel=2)@10"]
depth: 200
seed: 3
timeout: 60
memory: 2
"""
VALUES = [
    None, True, -1, 0, 1.5, 10**30, 10**400, float("inf"), float("nan"), 1e-320, "", "x", "a\0b", "../../x", "x" * 5000,
    "\u202e", "\x1b[31m", [], [1], [[]], {}, {"x": 1}, {"tune": {}}, {"made": "m"}, {"made": "nothing"}, "/dev/zero",
    "pipe", "~", "${X}", "fused", "bm25", "en", "en/dev", "en/test", "files/train", "titles", "nDCG@0", "RR(rel=-1)@10",
    "R@99999999999999999999", {1: 2}, {None: None}, {"": ""}, ["bm25", "bm25"], ["ranked"], "files", "mteb",
    {"mteb": None}, {"files": {}}, {"files": {"path": "/dev/zero"}}, {"dense": {"model": "pipe"}}, {"hierarchical": {}},
]  # fmt: skip
NAMES = [
    "depth",
    "of",
    "retriever",
    "combine",
    "rerank",
    "context",
    "unit",
    "tail",
    "tune",
    "grid",
    "on",
    "path",
]


FORMS = yaml.safe_load(re.sub(r"\bon:", '"on":', EVERY_FORM))  # a plain `on` is true for PyYAML


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value below."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def with_changed_values(chance: random.Random) -> bytes:
    """The suite of every form with one to three values replaced, moved, renamed or removed."""
    data = copy.deepcopy(FORMS)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        path = chance.choice(list(places(data)))
        inner = data
        for key in path[:-1]:
            inner = inner[key]
        name, value = path[-1], inner[path[-1]]
        change = chance.random()
        if change < 0.1:
            del inner[name]
        elif change < 0.2 and isinstance(inner, dict):
            inner[chance.choice([*NAMES, *misspelt(str(name), chance)])] = inner.pop(name)
        elif change < 0.3:
            other = data
            for key in chance.choice(list(places(data))):
                other = other[key]
            inner[name] = copy.deepcopy(other)
        elif change < 0.4:
            inner[name] = chance.choice(
                ([value], [value, value], {str(name): value}, {"tune": value}, [[value]])
            )
        elif change < 0.5 and isinstance(value, str):
            inner[name] = chance.choice(misspelt(value, chance))
        elif change < 0.55:
            inner[name] = data  # an anchor of what it stands in
            break
        else:
            inner[name] = copy.deepcopy(chance.choice(VALUES))
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    if chance.random() < 0.1:  # a key twice
        lines = text.splitlines(keepends=True)
        at = chance.randrange(len(lines))
        text = "".join([*lines[: at + 1], *lines[at : at + chance.randint(1, 3)], *lines[at + 1 :]])
    return text.encode("utf-8", "surrogatepass")


def misspelt(text: str, chance: random.Random) -> list[str]:
    """The text with a letter less, with two changed places, in capitals, and with characters of other scripts."""
    at = chance.randrange(len(text)) if text else 0
    swapped = text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
    return [
        text[:at] + text[at + 1 :],
        swapped,
        text.upper(),
        f"{text}\u0301",
        f"\u202e{text}",
        f"{text}\U0001f600/\n",
    ]


def with_data(folder: Path) -> Path:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "corpus.jsonl").write_text('{"_id": "a", "text": "b"}\n')
    (folder / "data" / "queries.jsonl").write_text('{"_id": "q", "text": "b"}\n')
    (folder / "data" / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")
    (folder / "judged.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")
    if not (folder / "pipe").exists():
        os.mkfifo(folder / "pipe")
    return folder


def survived(folder: Path, seeds: range) -> Counter[str]:
    """How many of these mutations were refused, and how many are still suites. None ends in a traceback."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        try:
            problems = try_it(folder, with_changed_values(random.Random(seed)))
        except BaseException as error:
            raise AssertionError(f"mutation {seed}") from error
        counts["refused" if problems else "right"] += 1
    return counts


def test_a_suite_with_changed_values_gives_no_traceback(folder):
    """200 mutations, and 8,000 or 40,000 in the longer profiles."""
    counts = survived(with_data(folder), range(4 * settings.default.max_examples))
    assert counts["refused"] > 100
    assert counts["right"] > 0


def test_the_suite_of_every_form_is_right(folder):
    assert try_it(with_data(folder), EVERY_FORM.encode()) == 0
