"""`harness eval` knows no method and no dataset: their records say which words they take."""

import ast
from pathlib import Path

import pytest

import harness.suite
from harness import catalogue
from harness.catalogue import Catalogue, Entry, Plugin
from harness.errors import HarnessError
from harness.records import Dataset, Meant, Reranker, Retriever
from harness.suite import one_line
from harness.suite.one_line import Asked

PLUGIN = Plugin("theirs", "theirs", "theirs", "1", None)


def offered(**kinds) -> Catalogue:
    offers = {
        kind: {record.name: (Entry(record, PLUGIN),) for record in given} for kind, given in kinds.items()
    }
    return Catalogue((PLUGIN,), {kind: offers.get(kind, {}) for kind in catalogue.KINDS})


def taking(start: str, sure: bool = True):
    def from_word(word: str, language: str | None) -> Meant | None:
        return Meant({"name": word, "folder": Path("there")}, sure) if word.startswith(start) else None

    return from_word


def dataset(name: str, from_word=None) -> Dataset:
    return Dataset(name=name, summary="", build=lambda params: None, from_word=from_word)


def retriever(name: str, **given) -> Retriever:
    return Retriever(name=name, summary="", build=lambda params: None, **given)


def suite_of(method: str, word: str, records: Catalogue, base: Path):
    return one_line.suite_of(Asked((method,), word), records, base)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_record_of_a_stranger_takes_its_words(tmp_path):
    records = offered(
        datasets=[dataset("one", taking("x:")), dataset("any", taking("", sure=False))],
        retrievers=[retriever("exact"), retriever("model", from_word=taking("own/"))],
    )
    suite = suite_of("own/m", "x:1", records, tmp_path / "out")
    assert list(suite["datasets"].values()) == [{"one": {"name": "x:1", "folder": "../there"}}]
    assert suite["systems"]["own-m"]["retriever"] == {"model": {"name": "own/m", "folder": "../there"}}
    assert list(suite_of("exact", "y:1", records, tmp_path)["datasets"].values())[0].keys() == {"any"}


def test_a_word_of_two_records_and_a_word_of_none_are_refused(tmp_path):
    both = [dataset("one", taking("x")), dataset("two", taking("x"))]
    records = offered(datasets=both, retrievers=[retriever("exact")])
    for method, word in (("exact", "x"), ("exact", "y"), ("nothing", "one")):
        with pytest.raises(HarnessError, match=f"^{'nothing' if method == 'nothing' else word}: "):
            suite_of(method, word, records, tmp_path)


def test_a_plugin_is_named_before_a_record_that_is_not_sure(tmp_path):
    records = offered(
        datasets=[dataset("one"), dataset("any", taking("", sure=False))], retrievers=[retriever("exact")]
    )
    assert suite_of("exact", "one", records, tmp_path)["datasets"] == {"one": {"one": {}}}


def test_a_re_ranker_gets_the_hits_of_the_retriever_that_says_so(tmp_path):
    reranker = Reranker(name="again", summary="", build=lambda params: None)
    given = {"datasets": [dataset("one")], "rerankers": [reranker]}
    records = offered(**given, retrievers=[retriever("exact"), retriever("other", first=True)])
    assert list(suite_of("again", "one", records, tmp_path)["systems"]) == ["other", "again"]
    with pytest.raises(HarnessError, match="first hits"):
        suite_of("again", "one", offered(**given, retrievers=[retriever("exact")]), tmp_path)


def test_no_module_of_suites_names_a_method_or_a_dataset():
    records = catalogue.load()
    kinds = ("datasets", "retrievers", "rerankers", "combiners", "trainers", "rewriters")
    names = {name for kind in kinds for name in records.names(kind)}
    for path in Path(harness.suite.__file__).parent.glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        texts = {node.value for node in nodes if isinstance(node, ast.Constant) and type(node.value) is str}
        assert not names & texts, path.name
