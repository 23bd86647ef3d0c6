"""The catalogue finds a stranger's package, keeps what is broken with its reason, and refuses duplicates."""

import importlib
import importlib.metadata
import sys
import textwrap

import pytest

from harness import catalogue, cli, records, testing
from harness.catalogue import probe
from harness.errors import HarnessError
from harness.problems import Need

pytestmark = pytest.mark.extras

GOOD = """
    from collections.abc import Iterable
    from dataclasses import dataclass

    from harness import records
    from harness.hookspecs import hookimpl
    from harness.records import param


    @dataclass(frozen=True)
    class LongestParams:
        base: float = param(0.0, "the score of an empty text")


    def build(params):
        from stranger.longest import Longest

        return Longest(params.base)


    @hookimpl
    def harness_retrievers() -> Iterable[records.Retriever]:
        yield records.Retriever(
            name="longest", summary="The longest texts first", build=build, params=LongestParams
        )
"""
LONGEST = """
    import numpy as np

    from harness.types import Hits


    class Longest:
        def __init__(self, base):
            self.base = base

        def index(self, texts, folder):
            found = [(batch.positions, [len(text) for text in batch.texts]) for batch in texts.batches()]
            positions = [positions for positions, _ in found] or [np.empty(0, np.int64)]
            np.save(folder / "positions.npy", np.concatenate(positions))
            np.save(folder / "lengths.npy", np.array([n for _, row in found for n in row], np.float32))

        def open(self, texts, folder):
            self.unit = texts.unit
            self.positions, self.lengths = np.load(folder / "positions.npy"), np.load(folder / "lengths.npy")
            return self

        def search(self, queries, k, within=None):
            rows = [self.best(k, None if within is None else within[row]) for row in range(len(queries))]
            positions, scores = np.full((len(rows), k), -1, np.int64), np.zeros((len(rows), k), np.float32)
            for row, best in enumerate(rows):
                positions[row, : len(best)] = self.positions[best]
                scores[row, : len(best)] = self.lengths[best] + self.base
            return Hits(positions, scores, self.unit)

        def best(self, k, within):
            order = np.argsort(-self.lengths, kind="stable")
            if within is not None:
                order = order[np.isin(self.positions[order], within)]
            return order[:k]
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a package into a folder of its own: modules, and the metadata that pip would write."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(probe, "crash_of", lambda point: None)  # it has tests of its own

    def installed(modules, points, distribution="stranger-retrieval", version="2.1"):
        for name, text in modules.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
            monkeypatch.delitem(sys.modules, name.split("/")[0].removesuffix(".py"), raising=False)
        folder = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        lines = [f"{name} = {module}" for name, module in points.items()]
        (folder / "entry_points.txt").write_text("\n".join(["[passage_harness]", *lines, ""]))
        importlib.invalidate_caches()

    yield installed
    for name in [name for name in sys.modules if name.split(".")[0] == "stranger"]:
        del sys.modules[name]


def plugin(name):
    [found] = [plugin for plugin in catalogue.load().plugins if plugin.name == name]
    return found


@pytest.fixture
def stranger(install):
    install({"stranger/__init__.py": GOOD, "stranger/longest.py": LONGEST}, {"stranger": "stranger"})


@pytest.mark.usefixtures("stranger")
def test_a_strangers_record_is_found_with_its_distribution_and_version():
    record, found = catalogue.load().find("retrievers", "longest")
    assert record.summary == "The longest texts first"
    assert found == ("stranger", "stranger", "stranger-retrieval", "2.1", None)
    assert "longest" in catalogue.load().names("retrievers")


@pytest.mark.usefixtures("stranger")
@pytest.mark.parametrize(
    "case", testing.cases("retriever", "longest", {"base": 1}), ids=lambda case: case.name
)
def test_a_strangers_method_keeps_the_contract(case, tmp_path_factory):
    case(tmp_path_factory.mktemp("case"))


def test_a_default_path_is_listed_as_a_text(install, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
    given = 'base: float = param(0.0, "the score of an empty text")'
    text = GOOD.replace(given, 'base: Path = param(Path("data"), "a folder")')
    text = text.replace(
        "from harness import records", "from pathlib import Path\n    from harness import records"
    )
    install({"stranger/__init__.py": text}, {"stranger": "stranger"})
    assert cli.main(["list", "retrievers", "--params"]) == 0
    assert "base: a path, default 'data' - a folder" in capsys.readouterr().out


def test_what_differs_in_another_process_is_found(install, tmp_path_factory):
    """Python's hash of a text is another in every process."""
    by_hash = LONGEST.replace("len(text) for", "hash(text) % 999 for")
    install({"stranger/__init__.py": GOOD, "stranger/longest.py": by_hash}, {"stranger": "stranger"})
    with pytest.raises(testing.Broken, match="another process gets another result"):
        case_of("longest", "gives the same in another process")(tmp_path_factory.mktemp("case"))


def test_an_index_that_trusts_what_a_killed_process_left_is_found(install, tmp_path_factory):
    """Only a kill shows it: after an exception this one cleans up."""
    trusting = LONGEST.replace(
        "            found = [",
        "            if (folder / 'begun').exists():\n"
        "                texts = type(texts)(**vars(texts) | {'candidates': texts.candidates[:2]})\n"
        "            (folder / 'begun').touch()\n"
        "            found = [",
    )
    install({"stranger/__init__.py": GOOD, "stranger/longest.py": trusting}, {"stranger": "stranger"})
    with pytest.raises(testing.Broken, match="what a killed process left gives other results"):
        case_of("longest", "finishes an index that was killed")(tmp_path_factory.mktemp("case"))


def test_a_plugin_that_imports_something_heavy_to_be_listed_is_found(install, tmp_path):
    heavy = "import numpy\n" + textwrap.dedent(GOOD)
    install({"stranger/__init__.py": heavy, "stranger/longest.py": LONGEST}, {"stranger": "stranger"})
    with pytest.raises(testing.Broken, match="listing it imports numpy; import them in the module"):
        case_of("longest", "imports nothing heavy to be listed")(tmp_path)


def case_of(method, name):
    [case] = [case for case in testing.cases("retriever", method) if case.name == name]
    return case


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("syntax error", "SyntaxError: invalid syntax"),
        ("raise ValueError('first\\nsecond')", "ValueError: first"),
    ],
)
def test_a_plugin_that_does_not_load_is_kept_with_its_reason(install, text, error):
    install({"stranger/__init__.py": text}, {"stranger": "stranger"})
    assert plugin("stranger").error.startswith(error)
    assert plugin("fusion").error is None
    assert catalogue.load().find("combiners", "rrf").record.name == "rrf"


@pytest.mark.parametrize(
    "declared",
    ["HARNESS_API = 2", "HARNESS_API: int = 2", "from harness.plugin import Later\nHARNESS_API = 2"],
)
def test_a_plugin_for_a_later_api_is_refused_with_both_numbers_and_without_importing_it(
    install, capsys, declared
):
    install({"stranger/__init__.py": declared}, {"stranger": "stranger"})
    error = plugin("stranger").error
    assert error.startswith("it was written for API 2, and this harness has API 1; upgrade passage-harness")
    assert "stranger" not in sys.modules
    assert cli.main(["list"]) == 0
    assert error in capsys.readouterr().out


@pytest.mark.parametrize("declared", ["HARNESS_API = 1\n", "", "# HARNESS_API = 2\n"])
def test_a_plugin_for_this_api_or_without_one_is_loaded(install, declared):
    install(
        {"stranger/__init__.py": declared + textwrap.dedent(GOOD), "stranger/longest.py": LONGEST},
        {"stranger": "stranger"},
    )
    assert plugin("stranger").error is None


def test_a_broken_plugin_is_named_when_a_name_is_not_found(install):
    install({"stranger/__init__.py": "1 / 0"}, {"stranger": "stranger"})
    with pytest.raises(HarnessError) as caught:
        catalogue.load().find("retrievers", "longest")
    assert "these plugins did not load and might have offered it: stranger (ZeroDivisionError" in str(
        caught.value
    )


def test_a_misspelt_hook_is_an_error(install):
    text = GOOD.replace("harness_retrievers", "harness_retreivers")
    install({"stranger/__init__.py": text}, {"stranger": "stranger"})
    expected = "PluginValidationError: unknown hook 'harness_retreivers' in plugin"
    assert plugin("stranger").error.startswith(expected)
    assert "longest" not in catalogue.load().names("retrievers")


def test_a_hook_that_takes_what_it_is_not_given_is_an_error(install):
    text = GOOD.replace("def harness_retrievers()", "def harness_retrievers(suite)")
    install({"stranger/__init__.py": text}, {"stranger": "stranger"})
    assert "PluginValidationError" in plugin("stranger").error


def test_a_hook_that_fails_is_kept_and_offers_nothing(install):
    text = textwrap.dedent(GOOD) + "    raise RuntimeError('no licence')\n"
    install({"stranger/__init__.py": text}, {"stranger": "stranger"})
    assert plugin("stranger").error == "RuntimeError: no licence"
    assert "longest" not in catalogue.load().names("retrievers")


def test_a_record_of_the_wrong_kind_is_an_error(install):
    text = GOOD.replace("records.Retriever(", "records.Reranker(")
    install({"stranger/__init__.py": text}, {"stranger": "stranger"})
    assert plugin("stranger").error.startswith("TypeError: harness_retrievers yielded Reranker(")
    assert plugin("stranger").error.endswith("which is no Retriever")


def test_an_entry_point_to_nothing_is_kept_with_its_reason(install):
    install({}, {"stranger": "stranger_that_is_not_here"})
    assert plugin("stranger").error == "ModuleNotFoundError: No module named 'stranger_that_is_not_here'"


def test_a_name_offered_twice_is_refused_when_it_is_asked_for(install):
    text = GOOD.replace('name="longest"', 'name="rrf"').replace("Retriever", "Combiner")
    text = text.replace("harness_retrievers", "harness_combiners")
    install({"stranger/__init__.py": text}, {"stranger": "stranger"})
    records = catalogue.load()
    assert records.find("combiners", "convex").plugin.distribution == catalogue.OWN
    with pytest.raises(HarnessError) as caught:
        records.find("combiners", "rrf")
    assert str(caught.value) == (
        "the combiner 'rrf' is offered by passage-harness (harness_fusion) "
        "and stranger-retrieval (stranger); write 'fusion:rrf' or 'stranger:rrf'"
    )
    assert records.find("combiners", "stranger:rrf").plugin.distribution == "stranger-retrieval"
    assert records.find("combiners", "fusion:rrf").plugin.distribution == catalogue.OWN


@pytest.mark.parametrize("way", ["print('welcome')", "import os; os.write(1, b'welcome\\n')"])
@pytest.mark.parametrize("module", ["stranger", "stranger.plugin"])
def test_what_a_plugin_prints_when_it_is_imported_is_not_in_the_output(way, module, install, capfd):
    install({"stranger/__init__.py": f"{way}\n", "stranger/plugin.py": ""}, {"stranger": module})
    catalogue.load()
    print("after")
    assert capfd.readouterr() == ("after\n", "welcome\n")


@pytest.mark.parametrize(
    ("kind", "name", "problem"),
    [
        ("combiners", "convx", "unknown combiner 'convx'; did you mean 'convex'?"),
        ("contexts", "xyz", "unknown context 'xyz'; choose from: "),
    ],
)
def test_an_unknown_name_is_answered_with_what_there_is(kind, name, problem):
    with pytest.raises(HarnessError) as caught:
        catalogue.load().find(kind, name)
    assert str(caught.value).startswith(problem)


def test_an_empty_kind_says_that_there_is_none():
    with pytest.raises(HarnessError, match="unknown retriever 'bm25'; there is none"):
        catalogue.collect([]).find("retrievers", "bm25")


def test_a_missing_extra_says_what_to_install():
    record = records.Retriever(
        name="colbert", summary="x", build=lambda _: None, needs=("json", "no_such.part"), extra="dense"
    )
    need = catalogue.missing_modules(record, "passage-harness")
    assert need == Need("modules", "", "colbert", ("no_such.part",), "pip install 'passage-harness[dense]'")
    assert str(need) == "'colbert' needs no_such.part; install it with: pip install 'passage-harness[dense]'"


def test_without_an_extra_the_distribution_is_what_to_install():
    record = records.Retriever(name="x", summary="x", build=lambda _: None, needs=("no_such_module",))
    assert catalogue.missing_modules(record, "stranger").command == "pip install 'stranger'"


def test_nothing_is_missing_where_all_modules_are_there():
    record = records.Retriever(name="x", summary="x", build=lambda _: None, needs=("json", "os.path"))
    assert catalogue.missing_modules(record, "stranger") is None


def test_our_own_plugins_come_first_whatever_a_stranger_calls_itself(install):
    install({"stranger/__init__.py": GOOD, "stranger/longest.py": LONGEST}, {"aaa": "stranger"})
    names = [found.distribution for found in catalogue.load().plugins]
    assert names == [catalogue.OWN] * (len(names) - 1) + ["stranger-retrieval"]
