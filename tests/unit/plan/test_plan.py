"""The plan: what shares a step, what is in a key, and what fails while planning."""

import dataclasses
from pathlib import Path

import pytest

from harness import catalogue, plan, records, suite
from harness.catalogue import Catalogue, Entry
from harness.errors import HarnessError
from harness.plan import needs
from harness.problems import Need

CATALOGUE = catalogue.load()
TEXT = """
datasets: {t: {tour: {documents: 3}}}
systems:
  a: {retriever: bm25}
  b: {retriever: {bm25: {k1: 1.5}}}
  c: {context: [titles], retriever: bm25}
  d: {of: [a, c], combine: rrf}
measures: [nDCG@10]
"""


def digest(path: Path) -> str:
    return "0" * 64


def planned(tmp_path: Path, text: str = TEXT, found: Catalogue = CATALOGUE):
    (tmp_path / "s.yaml").write_text(text)
    return plan.build(suite.load(tmp_path / "s.yaml", found), found, digest)


def with_record(kind: str, name: str, **changes) -> Catalogue:
    """The catalogue with one record changed."""
    [entry] = CATALOGUE.entries[kind][name]
    changed = Entry(dataclasses.replace(entry.record, **changes), entry.plugin)
    return Catalogue(
        CATALOGUE.plugins, {**CATALOGUE.entries, kind: {**CATALOGUE.entries[kind], name: (changed,)}}
    )


def ids(found: plan.Plan, kind: str) -> set[str]:
    return {step for step in found.steps if step.startswith(f"{kind}-")}


def test_a_system_that_is_not_scored_has_no_row_and_runs_where_it_is_read(tmp_path):
    whole = planned(tmp_path)
    hidden = planned(tmp_path, TEXT.replace("a: {retriever: bm25}", "a: {retriever: bm25, scored: false}"))
    assert [row.system for row in hidden.rows] == ["b", "c", "d"]
    assert hidden.steps.keys() == whole.steps.keys()  # the fusion reads it
    assert hidden.suite.digest != whole.suite.digest
    with pytest.raises(HarnessError, match="--only 'a': the system is not scored, so it has no row"):
        plan.build(hidden.suite, CATALOGUE, digest, only=["a"])


def test_only_takes_the_name_that_the_suite_gives_to_the_systems_of_a_grid(tmp_path):
    text = TEXT.replace("a: {retriever: bm25}", "a: {retriever: {bm25: {b: [0.3, 0.4]}}}")
    suite = planned(tmp_path, text).suite
    for pattern, chosen in (
        ("a", {"a,b=0.3", "a,b=0.4"}),
        ("*/a", {"a,b=0.3", "a,b=0.4"}),
        ("a,b=0.4", {"a,b=0.4"}),
    ):
        rows = plan.build(suite, CATALOGUE, digest, only=[pattern]).rows
        assert {row.system for row in rows if row.selected} == chosen


def test_systems_share_what_is_the_same(tmp_path):
    built = planned(tmp_path)
    counts = {kind: len(ids(built, kind)) for kind in ("corpus", "augment", "index", "search", "combine")}
    assert counts == {"corpus": 1, "augment": 1, "index": 2, "search": 3, "combine": 1}
    [corpus] = ids(built, "corpus")
    assert built.used_by()[corpus] == 4


def test_every_file_that_cannot_be_read_is_reported_with_its_place(tmp_path):
    def refused(path: Path) -> str:
        raise HarnessError(f"{path.name}: it cannot be read: permission denied; check the file")

    for name, text in (
        ("corpus.jsonl", '{"_id": "d", "text": "t"}'), ("queries.jsonl", '{"_id": "q", "text": "t"}'),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\td\t1"), ("vectors.jsonl", ""),
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    (tmp_path / "s.yaml").write_text("""
datasets:
  t: {tour: {documents: 3}}
  closed: {files: {path: ., language: en}}
systems:
  a: {retriever: {vectors: {passages: vectors.jsonl, queries: vectors.jsonl}}}
measures: [nDCG@10]
""")
    with pytest.raises(HarnessError) as raised:
        plan.build(suite.load(tmp_path / "s.yaml", CATALOGUE), CATALOGUE, refused)
    assert [str(problem).partition("s.yaml:")[2] for problem in raised.value.problems] == [
        "4: datasets.closed: corpus.jsonl: it cannot be read: permission denied; check the file",
        "6: vectors: vectors.jsonl: it cannot be read: permission denied; check the file",
    ]


def test_inputs_stand_before_what_reads_them(tmp_path):
    seen: set[str] = set()
    for step in planned(tmp_path).steps.values():
        assert seen.issuperset(step.inputs)
        seen.add(step.id)


def test_auto_is_resolved_in_the_key(tmp_path):
    [text] = {
        step.record.method.params["analyser"]
        for step in planned(tmp_path).steps.values()
        if step.kind == "index"
    }
    assert text == "english"


@pytest.mark.parametrize(
    ("kind", "name", "changed"),
    [
        ("retrievers", "bm25", {"index", "search", "combine"}),
        ("analysers", "english", {"index", "search", "combine"}),  # which bm25 builds on
        ("contexts", "titles", {"augment", "index", "search", "combine"}),
        ("combiners", "rrf", {"combine"}),
        ("datasets", "tour", {"corpus", "queries", "judgements", "augment", "index", "search", "combine"}),
        ("rerankers", "sdm", set()),
    ],
)
def test_another_version_of_a_method_changes_the_keys_of_what_it_makes_and_all_above(
    tmp_path, kind, name, changed
):
    before, after = planned(tmp_path), planned(tmp_path, found=with_record(kind, name, version="another"))
    kinds = {step.partition("-")[0] for step in before.steps.keys() ^ after.steps.keys()}
    assert kinds == changed


def test_a_parameter_of_searching_alone_leaves_the_index(tmp_path):
    before, after = planned(tmp_path), planned(tmp_path, TEXT.replace("k1: 1.5", "k1: 1.6"))
    assert ids(before, "index") == ids(after, "index")
    assert ids(before, "search") != ids(after, "search")


def test_the_place_of_a_suite_and_the_names_in_it_are_in_no_key(tmp_path):
    (tmp_path / "other").mkdir()
    renamed = TEXT.replace("{t:", "{u:").replace(" a:", " z:").replace("[a, c]", "[z, c]")
    assert planned(tmp_path).steps.keys() == planned(tmp_path / "other", renamed).steps.keys()


def test_a_plugin_that_fails_while_planning_fails_its_rows_only(tmp_path):
    def resolve(params, facts):
        raise RuntimeError("no reason")

    rows = {
        row.system: row
        for row in planned(tmp_path, found=with_record("contexts", "titles", resolve=resolve)).rows
    }
    assert rows["a"].error is None
    for system in ("c", "d"):
        assert rows[system].error == "'titles' failed while planning: RuntimeError: no reason"


def test_a_users_mistake_while_planning_is_told_with_its_line(tmp_path):
    with pytest.raises(HarnessError, match=r"s.yaml:4: bm25 on dataset 't': .*analyser"):
        planned(tmp_path, TEXT.replace("a: {retriever: bm25}", "a: {retriever: {bm25: {analyser: klingon}}}"))


def test_what_is_missing_is_a_need_and_no_error(tmp_path):
    absent = with_record("retrievers", "bm25", needs=("no_such_module",), extra="fast")
    built = planned(tmp_path, found=absent)
    [need] = {need for step in built.steps.values() for need in step.needs}
    assert need == Need("modules", "", "bm25", ("no_such_module",), "pip install 'passage-harness[fast]'")
    assert all(step.needs for step in built.steps.values() if step.kind == "combine")


def test_a_record_names_what_it_depends_on_by_kind_and_name():
    depends_on = CATALOGUE.find("retrievers", "bm25").record.depends_on
    params = CATALOGUE.find("retrievers", "bm25").record.params(analyser="cjk")
    assert depends_on(params) == (("analysers", "cjk"),)
    assert isinstance(CATALOGUE.find("analysers", "cjk").record, records.Analyser)


def test_what_only_a_search_lacks_does_not_keep_another_system_from_the_index(tmp_path):
    @dataclasses.dataclass(frozen=True)
    class Params:
        query_model: str = "default"

    class Method:
        def __init__(self, params): ...

    found = with_record(
        "retrievers",
        "bm25",
        params=Params,
        build=Method,
        resolve=None,
        depends_on=None,
        search_only=("query_model",),
        missing_files=lambda values: ["weights"] if values.query_model == "absent" else [],
    )
    text = """
datasets: {t: {tour: {documents: 3}}}
systems:
  a: {retriever: {bm25: {query_model: absent}}}
  b: {retriever: bm25}
measures: [nDCG@10]
"""
    made = planned(tmp_path, text, found)
    needs = {row.system: made.steps[row.hits].needs for row in made.rows}
    assert needs == {"a": (Need("other", "weights"),), "b": ()}


SILENT = """
datasets:
  mute: {files: {path: data}}
systems:
  a: {retriever: bm25}
  b: {retriever: ql}
  c: {context: [keyphrases], retriever: bm25}
  d: {of: a, rerank: sdm}
measures: [nDCG@10]
"""


def test_a_dataset_that_does_not_say_its_language_is_told_once_with_its_own_line(tmp_path):
    (tmp_path / "data" / "qrels").mkdir(parents=True)
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):  # a plan reads the last one's form alone
        (tmp_path / "data" / name).write_text("query-id\tcorpus-id\tscore\nq\tp\t1\n")
    with pytest.raises(HarnessError) as error:
        planned(tmp_path, SILENT)
    [line] = str(error.value).splitlines()
    assert line.startswith(f"{tmp_path}/s.yaml:3: datasets.mute: does not say its language")
    assert "`language: en`" in line
    assert "`analyser: english`" in line


def test_a_need_is_told_once_with_the_systems_that_have_it_themselves(tmp_path):
    built = planned(
        tmp_path, found=with_record("retrievers", "bm25", missing_files=lambda params: ["weights"])
    )
    every = [need for step in built.steps.values() for need in step.needs]
    assert needs.described(built, every) == ["weights (bm25, of a, b and c on t)"]  # d is made of a and c


def test_the_needs_of_many_systems_are_cut_short(tmp_path):
    more = "".join(f"  x{i}: {{retriever: {{bm25: {{k1: {i}}}}}}}\n" for i in range(1, 4))
    text = TEXT.replace("measures", more + "measures")
    built = planned(
        tmp_path, text, with_record("retrievers", "bm25", missing_files=lambda params: ["weights"])
    )
    assert needs.described(built, [Need("other", "weights")]) == [
        "weights (bm25, of a, b, c and 3 more on t)"
    ]


def test_modules_that_one_command_installs_are_told_together(tmp_path):
    def missing_files(params):
        command = "pip install 'passage-harness[x]'"
        return [Need("modules", "with the backend fast", "bm25", ("two", "three"), command)]

    absent = with_record(
        "retrievers", "bm25", needs=("no_such_module",), extra="x", missing_files=missing_files
    )
    built = planned(tmp_path, found=absent)
    assert needs.described(built, [need for step in built.steps.values() for need in step.needs]) == [
        "'bm25' needs no_such_module, two, three; install with: pip install 'passage-harness[x]'"
        " (of a, b and c on t)"
    ]


def test_the_need_of_a_dataset_names_the_dataset_alone(tmp_path):
    built = planned(tmp_path, TEXT.replace("{tour: {documents: 3}}", "{files: {path: gone, language: en}}"))
    every = [need for step in built.steps.values() for need in step.needs]
    told = needs.described(built, every)
    assert len(told) == 3
    assert all(line.endswith("(not there) (the dataset t)") for line in told)


def test_the_need_of_an_analysis_names_it(tmp_path):
    absent = with_record("analyses", "levels", needs=("no_such_module",), extra="x")
    built = planned(tmp_path, TEXT + "analyses: [levels]\n", absent)
    [need] = built.analyses[0].needs
    assert (need.method, need.modules) == ("levels", ("no_such_module",))
    assert needs.described(built, [need]) == [str(need)]  # which begins with its name
