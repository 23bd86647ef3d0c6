"""Lucene's planning side, which needs no Java: parameters, languages, which Java is taken, where indexes are."""

from pathlib import Path

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.types import Batch, Facts
from harness_lucene import LuceneBM25, LuceneQL, languages, prebuilt, resolve, runtime, writing
from harness_lucene.runtime import Home
from harness_lucene.searching import ordered

pytestmark = pytest.mark.extras


@pytest.mark.parametrize(
    ("language", "code"), [("en", "en"), ("zh", "zh"), ("zh-Hans", "zh"), ("pt_BR", "pt"), ("nb", "no")]
)
def test_auto_takes_the_analyser_of_the_datasets_language(language, code):
    assert resolve(LuceneBM25(), Facts(language, language, "passage")).analyser == code


def test_an_analyser_that_is_named_stays():
    assert resolve(LuceneQL(analyser="whitespace"), Facts("en", "en", "passage")).analyser == "whitespace"


@pytest.mark.parametrize(("name", "language", "culprit"), [
    ("englsh", "en", "'englsh'"), ("auto", "sw", "'sw'"), ("auto", None, "its language"),
])  # fmt: skip
def test_an_analyser_that_there_is_not_is_refused_while_planning(name, language, culprit):
    with pytest.raises(HarnessError, match=culprit):
        languages.resolve(name, language)


def java(folder: Path, version: str | None, library: bool = True) -> Path:
    (folder / "lib" / "server").mkdir(parents=True)
    if library:
        (folder / "lib" / "server" / "libjvm.so").touch()
    if version is not None:
        (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return folder


def test_the_first_java_that_fits_is_taken(tmp_path):
    old, new = java(tmp_path / "old", "17.0.15"), java(tmp_path / "new", "21.0.8")
    found = [Home(tmp_path / "none", "JAVA_HOME"), Home(old, "PATH"), Home(new, "PATH")]
    assert runtime.choose(found) == new


@pytest.mark.parametrize(
    ("version", "library", "said"),
    [
        ("17.0.15", True, "is Java 17, and 21 is needed"),
        ("1.8.0_392", True, "is Java 8, and 21 is needed"),
        ("21.0.8", False, "has no Java in it"),
        (None, True, "does not say its version"),
    ],
)
def test_a_java_that_does_not_fit_is_named_with_the_remedy(tmp_path, version, library, said):
    with pytest.raises(HarnessError) as problem:
        runtime.choose([Home(java(tmp_path, version, library), "JAVA_HOME")])
    assert f"JAVA_HOME ({tmp_path}) {said}" in str(problem.value)
    assert "pip install 'passage-harness[lucene]'" in str(problem.value)


def test_no_java_at_all_is_said():
    with pytest.raises(HarnessError, match="java: there is none"):
        runtime.choose([])


def test_javas_memory_is_bounded_whatever_the_machine_has():
    [heap] = [option for option in runtime.options() if option.startswith("-Xmx")]
    assert 0 < int(heap[4:-1]) <= runtime.HEAP_MB


def test_a_prebuilt_index_is_where_pyserini_keeps_it(monkeypatch, tmp_path):
    monkeypatch.delenv("ANSERINI_INDEX_CACHE", raising=False)
    monkeypatch.setenv("PYSERINI_CACHE", str(tmp_path))
    assert prebuilt.place("an-index.tar.gz", "0123") == tmp_path / "indexes" / "an-index.0123"
    monkeypatch.setenv("ANSERINI_INDEX_CACHE", str(tmp_path / "other"))
    assert prebuilt.place("an-index.tar.gz", "0123") == tmp_path / "other" / "an-index.0123"


def test_long_texts_go_to_java_in_pieces_that_keep_their_order(monkeypatch):
    monkeypatch.setattr(writing, "CHARACTERS", 10)
    texts = ["a" * 4, "b" * 4, "c" * 30, "", "d" * 4, "e" * 7]
    batch = Batch(np.arange(10, 16), texts, [text[:1] for text in texts])
    pieces = list(writing.portions(batch))
    assert [text for piece in pieces for text in piece.texts] == texts
    assert [title for piece in pieces for title in piece.titles] == batch.titles
    assert np.concatenate([piece.positions for piece in pieces]).tolist() == batch.positions.tolist()
    assert [len(piece.texts) for piece in pieces] == [2, 1, 2, 1]


def test_equal_scores_are_ordered_by_position_and_empty_places_stay_last():
    passages = np.array([[7, 3, 5, -1], [-1, -1, -1, -1]])
    scores = np.array([[2, 1, 2, 0], [0, 0, 0, 0]], np.float32)
    found, values = ordered(passages, scores)
    assert found.tolist() == [[5, 7, 3, -1], [-1] * 4]
    assert values.tolist() == [[2, 2, 1, 0], [0] * 4]
