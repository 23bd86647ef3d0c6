"""Whatever is done to a valid suite, its author hears a problem with its place, and never a traceback."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness import catalogue, runner, suite
from harness.errors import HarnessError
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
PIECES = [
    b"{", b"}", b"[", b"]", b":", b"\n", b"  ", b"\t", b"- ", b"*a", b"&a ", b"!!python/name:os.system ", b"${X}", b"null",
    b"1e400", b"-1", b".nan", b"'", b'"', b"\xff", b"\x00", b"\xe2\x80\xa8", b"<<: ", b"---\n", b"? ", b"true", b"fused",
    b"depth", b"of", b"convex", b"9" * 5000, "\u00fc".encode(), b"%", b"@", b"`", b"|", b">",
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


def try_it(folder: Path, text: bytes) -> None:
    (folder / "base.yaml").write_bytes(BASE)
    (folder / "suite.yaml").write_bytes(text)
    try:
        loaded = suite.load(folder / "suite.yaml", CATALOGUE)
        runner.prepare(loaded, CATALOGUE, Store(folder / "store").open())
    except HarnessError as error:
        for line in str(error).splitlines():
            assert LINE.match(line), line


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutated")


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
