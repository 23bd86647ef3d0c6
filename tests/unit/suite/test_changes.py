"""`--set PATH=VALUE` changes a suite before it is checked; limits stand at every dataset."""

from dataclasses import dataclass

import pytest

from harness import catalogue, suite
from harness.errors import HarnessError
from harness.suite import Changes, grid

CATALOGUE = catalogue.load()
TEXT = """
suite: x
datasets: {tour: , zh: {tour: {language: zh}}, named: tour}
systems:
  bm25: {retriever: bm25}
  v1.5: {retriever: {bm25: {k1: 0.9}}}
  chain: {context: [titles, titles], retriever: bm25}
measures: [nDCG@10, R@100]
"""


def load(tmp_path, *settings, text=TEXT, **limits):
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    return suite.load(tmp_path / "s.yaml", CATALOGUE, Changes(settings, **limits))


def test_a_value_is_set_where_the_path_leads(tmp_path):
    made = load(tmp_path, "systems.v1.5.retriever.bm25.k1=1.2", "depth=50", "measures=[RR@10]")
    assert made.system("v1.5").retriever.params.k1 == 1.2
    assert (made.depth, made.measures) == (50, ("RR@10",))


def test_a_plugins_bare_name_gets_parameters(tmp_path):
    made = load(
        tmp_path,
        "systems.bm25.retriever.bm25.k1=1.2",
        "datasets.named.tour.documents=9",
        "datasets.tour.tour.documents=8",
    )
    assert made.system("bm25").retriever.params.k1 == 1.2
    assert [spec.chosen.params.documents for spec in made.datasets][0::2] == [8, 9]


def test_a_value_may_be_new_a_list_or_in_a_list(tmp_path):
    made = load(
        tmp_path,
        "description=tried",
        "systems.v1.5.retriever.bm25.k1=[1, 2]",
        "systems.chain.context.1=keyphrases",
    )
    assert made.description == "tried"
    assert [system.name for system in made.systems if system.base == "v1.5"] == ["v1.5,k1=1", "v1.5,k1=2"]
    assert [chosen.name for chosen in made.system("chain").context] == ["titles", "keyphrases"]


def test_a_change_changes_the_digest_of_the_suite(tmp_path):
    assert load(tmp_path, "depth=50").digest != load(tmp_path).digest
    assert load(tmp_path, "depth=1000").digest == load(tmp_path).digest


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("depth", "--set depth: expected PATH=VALUE"),
        ("systems.bm52.retriever.bm25.k1=1", "--set systems.bm52.retriever.bm25.k1=1: systems has bm25, v1.5, chain; name one"),
        ("systems.chain.context.7=titles", "systems.chain.context is a list of 2; name a place from 0"),
        ("systems.bm25.retriever.bm25.k=1", "s.yaml:5: systems.bm25.retriever.bm25.k: unknown parameter 'k'; did you mean 'k1'?"),
        ("systems.bm25.retriever.bm25.k1=high", "systems.bm25.retriever.bm25.k1: expected a number, got 'high'"),
        ("measures=[a", "'[a': not valid YAML"),
    ],
)  # fmt: skip
def test_a_wrong_change_is_refused(tmp_path, setting, problem):
    with pytest.raises(HarnessError) as error:
        load(tmp_path, setting)
    assert problem in str(error.value)


def test_limits_are_of_every_dataset_in_whatever_form_it_is_written(tmp_path):
    made = load(tmp_path, limit=5, sample=100)
    assert [spec.limits for spec in made.datasets] == [{"queries": 5, "passages": 100}] * 3
    listed = load(
        tmp_path, text=TEXT.replace("{tour: , zh: {tour: {language: zh}}, named: tour}", "[tour]"), limit=5
    )
    assert [spec.limits for spec in listed.datasets] == [{"queries": 5}]
    assert made.digest != listed.digest


def test_limits_may_stand_in_the_suite(tmp_path):
    made = load(tmp_path, text=TEXT.replace("{tour: {language: zh}}", "{tour: {language: zh}, limit: 3}"))
    assert [spec.limits for spec in made.datasets] == [{}, {"queries": 3}, {}]


def test_the_command_says_how_the_suite_was_changed(tmp_path):
    from harness.suite.changes import written

    made = load(tmp_path, "measures=[RR]", limit=5)
    assert written(made.path, made.changes).endswith("s.yaml --set 'measures=[RR]' --limit 5")


@dataclass(frozen=True)
class Fielded:
    fields: tuple[str, ...] = ()
    pairs: tuple[tuple[str, ...], ...] = ()


def test_a_list_of_lists_is_a_grid_where_a_list_is_a_value():
    points = grid.points(Fielded, {"fields": [["title"], ["title", "text"], []]})
    assert [grid.name("x", varied) for _, varied in points] == [
        "x,fields=title",
        "x,fields=title+text",
        "x,fields=none",
    ]
    assert points[1][0] == {"fields": ["title", "text"]}


def test_a_plain_list_and_lists_that_are_values_make_no_grid():
    assert grid.points(Fielded, {"fields": ["a", "b"], "pairs": [["a"], ["b"]]})[0][1] == ()
