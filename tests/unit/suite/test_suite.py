"""A suite is checked against the catalogue, and every problem of it is told at once with its line."""

from pathlib import Path

import pytest

from harness import catalogue, suite
from harness.errors import HarnessError
from harness.problems import dotted
from harness.running import preparation
from harness.store.artifacts import Store

CATALOGUE = catalogue.load()
HEAD = "datasets: [tour]\nmeasures: nDCG@10\n"


def load(tmp_path: Path, text: str, name: str = "s.yaml"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return suite.load(tmp_path / name, CATALOGUE)


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(HarnessError) as error:
        load(tmp_path, text)
    found = str(error.value).splitlines()
    assert all(line.startswith(f"{tmp_path}/s.yaml:") for line in found), found
    return [line.removeprefix(f"{tmp_path}/s.yaml:") for line in found]


def test_the_form_of_the_design_is_read(tmp_path):
    text = """
suite: first
datasets:
  en: {tour: {language: en, documents: 5}}
  tour:
systems:
  reranked: {of: fused, rerank: {sdm: {mu: 100}, depth: 50, tail: drop}}
  bm25: {retriever: {bm25: {k1: 0.9, b: 0.4}}}
  bm25+titles: {context: [titles], retriever: bm25}
  documents: {retriever: bm25, unit: document}
  fused: {of: [bm25, documents], combine: {convex: {weight: 0.7}}}
measures: [nDCG@10, R@100]
depth: 200
seed: 3
"""
    result = load(tmp_path, text)
    assert [spec.name for spec in result.datasets] == ["en", "tour"]
    assert [system.name for system in result.systems][0] == "reranked"  # used before it is defined
    assert result.system("bm25+titles").context[0].name == "titles"
    assert result.system("bm25").context is None
    rerank = result.system("reranked").rerank[0]
    assert (rerank.depth, rerank.tail, rerank.chosen.params.mu) == (50, "drop", 100.0)
    assert (result.depth, result.seed, result.measures) == (200, 3, ("nDCG@10", "R@100"))


def test_a_name_with_a_character_that_cannot_be_seen_is_refused(tmp_path):
    text = 'datasets: {"a\\u202eb": tour}\nmeasures: nDCG@10\nsystems:\n  "b\\u200dm": {retriever: bm25}\n'
    first, second = problems(tmp_path, text)
    assert "it has the character U+202E (RIGHT-TO-LEFT OVERRIDE), which cannot be seen; remove it" in first
    assert first.startswith("1: datasets: the name ")
    assert (
        "the name 'b\\u200dm' cannot name a file: it has the character U+200D (ZERO WIDTH JOINER)" in second
    )
    assert second.startswith("4: systems: ")


def test_a_system_that_is_neither_scored_nor_read_is_a_mistake(tmp_path):
    text = HEAD + "systems:\n  a: {retriever: bm25}\n  b: {retriever: bm25, scored: false}\n"
    [problem] = problems(tmp_path, text)
    assert problem.startswith("5: systems.b: 'scored: false' is for a system that another system")
    none = (
        HEAD + "systems:\n  a: {retriever: bm25, scored: false}\n  b: {of: a, rerank: sdm, scored: false}\n"
    )
    assert (
        "4: systems: all have 'scored: false', so the leaderboard has no row; score at least one"
        in problems(tmp_path, none)
    )


def test_a_system_that_a_wrong_system_reads_has_no_problem_of_its_own(tmp_path):
    text = HEAD + "systems:\n  a: {retriever: bm25, scored: false}\n  b: {of: a, rerank: {nosuch: {}}}\n"
    assert len(problems(tmp_path, text)) == 1


def test_a_system_whose_results_a_model_reads_need_not_be_scored(tmp_path):
    text = """
datasets: {tour: tour, other: {tour: {seed: 1}, scored: false}}
systems:
  teacher: {retriever: bm25, scored: false}
  trained: {retriever: {dense: {model: {made: de}}}}
models:
  de:
    train: {dual-encoder: {init: somewhere}}
    on: other/dev
    negatives: {of: teacher}
measures: nDCG@10
"""
    assert [system.scored for system in load(tmp_path, text).systems] == [False, True]


def test_the_digest_is_of_what_a_suite_says_not_of_its_layout(tmp_path):
    text = HEAD + "systems: {a: {retriever: bm25}}\n"
    other = "# a comment\nsystems:\n  a:\n    retriever: bm25\nmeasures: [nDCG@10]\ndatasets: {tour: tour}\nsuite: x\n"
    digests = [load(tmp_path, "suite: x\n" + text).digest, load(tmp_path, other).digest]
    assert digests[0] == digests[1]
    assert load(tmp_path, "suite: x\nseed: 1\n" + text).digest != digests[0]


def test_a_grid_fans_out_and_what_is_built_on_it_too(tmp_path):
    text = HEAD + (
        "systems:\n  g: {retriever: {bm25: {k1: [0.9, 1.2], b: [0.3, 0.4]}}}\n"
        "  f: {of: [g, d], combine: rrf}\n  d: {retriever: bm25, unit: document}\n"
    )
    result = load(tmp_path, text)
    names = [system.name for system in result.systems]
    assert names[:4] == ["g,k1=0.9,b=0.3", "g,k1=0.9,b=0.4", "g,k1=1.2,b=0.3", "g,k1=1.2,b=0.4"]
    assert names[4] == "f,k1=0.9,b=0.3"
    assert result.system("f,k1=1.2,b=0.4").of == ("g,k1=1.2,b=0.4", "d")
    assert len(names) == 9


def test_a_list_where_the_parameter_is_a_list_is_no_grid(tmp_path):
    text = HEAD + (
        "systems:\n  a: {retriever: bm25}\n  b: {retriever: ql}\n  c: {retriever: bm25, unit: document}\n"
        "  f: {of: [a, b, c], combine: {convex: {weights: [0.5, 0.3, 0.2]}}}\n"
    )
    assert [system.name for system in load(tmp_path, text).systems] == ["a", "b", "c", "f"]


def test_one_member_of_a_grid_can_be_named(tmp_path):
    text = HEAD + "systems:\n  g: {retriever: {bm25: {k1: [0.9, 1.2]}}}\n  r: {of: 'g,k1=1.2', rerank: sdm}\n"
    assert load(tmp_path, text).system("r").of == ("g,k1=1.2",)


def test_an_included_suite_lends_its_datasets_systems_and_scoring(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "base.yaml").write_text(
        "suite: base\ndepth: 50\n" + HEAD + "systems: {a: {retriever: bm25}}\n"
    )
    result = load(tmp_path, "suite: mine\ninclude: sub/base.yaml\nsystems: {b: {of: a, rerank: sdm}}\n")
    assert [system.name for system in result.systems] == ["a", "b"]
    assert (result.name, result.depth, result.measures) == ("mine", 50, ("nDCG@10",))


def test_a_name_may_not_be_defined_here_and_in_an_included_suite(tmp_path):
    (tmp_path / "base.yaml").write_text(HEAD + "systems: {a: {retriever: bm25}}\n")
    with pytest.raises(HarnessError, match=r"s.yaml:2: systems: 'a' is already defined at .*base.yaml:3"):
        load(tmp_path, "include: base.yaml\nsystems: {a: {retriever: ql}}\n")


def test_suites_that_include_each_other_are_refused(tmp_path):
    (tmp_path / "base.yaml").write_text("include: s.yaml\n")
    with pytest.raises(HarnessError, match="includes itself"):
        load(tmp_path, "include: base.yaml\n")


def test_all_problems_are_told_at_once_in_the_order_of_the_file(tmp_path):
    text = """suite: 3
datasets: {tour: {tuor: {}}}
systems:
  a: {retriever: {bm25: {k1: high, kk: 1}}}
  b: {retriever: bm52}
  c: {of: [a, z], combine: convex}
  d: {of: e, rerank: sdm}
  e: {of: d, rerank: sdm}
  f: {retrever: bm25}
depht: 10
"""
    found = problems(tmp_path, text)
    lines = [int(line.partition(":")[0]) for line in found]
    assert lines == sorted(lines)
    assert {line.partition(": ")[2] for line in found} >= {
        "suite: expected a text, got 3 (the leaderboard's name)",
        "systems.a.retriever.bm25.k1: expected a number, got 'high'",
        "systems.c.of: unknown system 'z'; choose from: a, b, c, d, e, f",
        "systems.d.of: the systems refer to each other in a circle: d -> e -> d; break it",
        "unknown key 'depht'; did you mean 'depth'?",
    }
    for words in ("unknown dataset 'tuor'; did you mean 'tour'", "did you mean 'bm25'", "'kk'", "'retrever'"):
        assert any(words in line for line in found), words
    assert len(found) >= 9


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- a\n- b\n", "1: a suite is a mapping"),
        ("datasets: [tour]\n", "'systems' is missing"),
        (HEAD + "systems: {}\n", "3: systems: is empty"),
        (HEAD + "systems: {a: }\n", "3: systems.a: expected a mapping, got null"),
        (HEAD + "systems: {a: {}}\n", "systems.a: is empty"),
        (HEAD + "systems: {a: {retriever: bm25, of: a}}\n", "either a 'retriever' or 'of'"),
        (HEAD + "systems: {a: {context: titles}}\n", "either a 'retriever' or 'of'"),
        (HEAD + "systems: {a: {retriever: bm25}, b: {of: [a]}}\n", "needs a 'rerank'"),
        (HEAD + "systems: {a: {retriever: bm25}, b: {of: [a, a], rerank: sdm}}\n", "need a 'combine'"),
        (HEAD + "systems: {a: {retriever: bm25, combine: rrf}}\n", "needs 'of'"),
        (HEAD + "systems: {a: {retriever: bm25}, b: {of: [a], combine: convex}}\n", "combines at least 2 systems"),
        (HEAD + "systems: {a: {retriever: bm25, unit: paragraph}}\n", "systems.a.unit: expected one of"),
        (HEAD + "systems: {a/b: {retriever: bm25}}\n", "cannot name a file: it has '/'; use letters"),
        (HEAD + "systems: {a: {retriever: bm25, rerank: {sdm: {depth: 10}}}}\n", "'depth' is no parameter of 'sdm'; write it outside its braces"),
        (HEAD + "systems: {a: {retriever: {bm25: {}, ql: {}}}}\n", "got several: bm25, ql"),
        (HEAD + "systems: {a: {retriever: {bm25: 3}}}\n", "expected a mapping of parameters, got 3"),
        (HEAD + "systems: {a: {retriever: bm25, rerank: {sdm: {}, depth: 0}}}\n", "expected at least 1, got 0"),
        (HEAD + "systems: {a: {retriever: bm25, rerank: {sdm: {}, tail: cut}}}\n", "systems.a.rerank.tail: expected one of"),
        (HEAD + "systems: {a: {retriever: bm25, depth: 3}}\n", "is the suite's, or stands beside a re-ranker"),
        (HEAD + "systems: {a: {retriever: {bm25: {k1: []}}}}\n", "expected a number, got a list"),
        (HEAD + "systems: {a: {retriever: bm25}, b: {of: a, unit: document, rerank: sdm}}\n", "the unit of a retriever"),
        (HEAD + "systems: {a: {retriever: bm25}}\nprotocol: dapr\n", "only one of 'measures' and 'protocol'"),
        ("datasets: [tour]\nsystems: {a: {retriever: bm25}}\n", "nothing to measure"),
        ("protocol: dpar\ndatasets: [tour]\nsystems: {a: {retriever: bm25}}\n", "did you mean 'dapr'"),
        (HEAD + "systems: {a: {retriever: bm25}}\ndepth: 0\n", "4: depth: expected at least 1, got 0"),
        (HEAD + "systems: {a: {retriever: bm25}}\ntimeout: soon\n", "4: timeout: expected a number"),
        (HEAD + "systems: {a: {retriever: bm25}}\ninclude: none.yaml\n", "no such file 'none.yaml'"),
        (HEAD + "systems: {a: {retriever: bm25}}\nbeside: {published: dapr}\n", "4: beside: 'as' is missing"),
        (HEAD + "systems: {a: {retriever: bm25}}\nbeside: [{published: dapr, as: dev}, {published: dapr, as: test}]\n", "4: beside: 'dapr' is listed twice"),
        (HEAD + "systems: {a: {retriever: bm25}}\nanalyses: [{weights: {}, together: [tour, tuor]}]\n", "'tuor' is no scored dataset"),
        (HEAD + "systems: {a: {retriever: bm25}}\nanalyses: [{weights: {}, together: [tour]}]\n", "two or more different datasets"),
        ("datasets: [tour, 3]\nmeasures: R@5\nsystems: {a: {retriever: bm25}}\n", "a list of different names"),
        ("datasets: {t: {tour: {}, unknown_judgements: ask}}\nmeasures: R@5\nsystems: {a: {retriever: bm25}}\n", "keep"),
    ],
)  # fmt: skip
def test_a_mistake_says_where_what_and_what_is_expected(tmp_path, text, words):
    assert any(words in line for line in problems(tmp_path, text)), problems(tmp_path, text)


def test_two_systems_of_one_name_are_refused(tmp_path):
    text = HEAD + "systems:\n  'g,k1=1.0': {retriever: bm25}\n  g: {retriever: {bm25: {k1: [1.0, 2.0]}}}\n"
    assert any("two systems get this name" in line for line in problems(tmp_path, text))


def test_a_broken_plugin_is_named_when_its_method_is_asked_for(tmp_path):
    broken = catalogue.Plugin("theirs", "theirs", "theirs", "1", "ImportError: no")
    (tmp_path / "s.yaml").write_text(HEAD + "systems: {a: {retriever: theirs}}\n")
    found = catalogue.Catalogue((*CATALOGUE.plugins, broken), CATALOGUE.entries)
    with pytest.raises(HarnessError, match=r"might have offered it: theirs \(ImportError: no\)"):
        suite.load(tmp_path / "s.yaml", found)


def test_what_stands_here_wins_over_the_scoring_of_an_included_suite(tmp_path):
    (tmp_path / "base.yaml").write_text(HEAD + "systems: {a: {retriever: bm25}}\n")
    result = load(tmp_path, "include: base.yaml\nprotocol: dapr\n")
    assert (result.protocol, result.measures) == ("dapr", ())


def test_a_list_of_datasets_joins_those_of_an_included_suite(tmp_path):
    (tmp_path / "base.yaml").write_text(
        "datasets: {en: tour}\nmeasures: R@5\nsystems: {a: {retriever: bm25}}\n"
    )
    result = load(tmp_path, "include: base.yaml\ndatasets: [tour]\n")
    assert [spec.name for spec in result.datasets] == ["en", "tour"]


def test_two_included_suites_may_share_a_base(tmp_path):
    (tmp_path / "base.yaml").write_text(HEAD + "systems: {a: {retriever: bm25}}\n")
    for name in ("one", "two"):
        text = f"include: base.yaml\nsystems: {{{name}: {{retriever: ql}}}}\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    result = load(tmp_path, "include: [one.yaml, two.yaml]\n")
    assert {system.name for system in result.systems} == {"a", "one", "two"}


def test_grids_that_explode_together_and_endless_chains_are_refused(tmp_path):
    values = ", ".join(str(i / 100) for i in range(1, 301))
    text = (
        HEAD
        + f"systems:\n  a: {{retriever: {{bm25: {{k1: [{values}]}}}}}}\n  b: {{of: [a, a], combine: rrf}}\n"
    )
    assert any("90000 systems together" in line for line in problems(tmp_path, text))
    chain = "".join(f"  s{i}: {{of: s{i + 1}, rerank: sdm}}\n" for i in range(1500))
    text = HEAD + "systems:\n" + chain + "  s1500: {retriever: bm25}\n"
    assert any("one on the other" in line for line in problems(tmp_path, text))


@pytest.mark.parametrize("name", ["' '", "检" * 70])
def test_a_name_that_no_file_can_have_is_refused(tmp_path, name):
    text = HEAD + f"systems: {{{name}: {{retriever: bm25}}}}\n"
    assert any("cannot name a file" in line for line in problems(tmp_path, text))


def test_a_re_ranker_that_reads_deeper_than_the_runs_is_refused(tmp_path):
    text = HEAD + "depth: 50\nsystems: {a: {retriever: bm25, rerank: {sdm: {}, depth: 100}}}\n"
    assert any("re-ranks 100, but the suite's depth is 50" in line for line in problems(tmp_path, text))


def test_what_is_wrong_with_a_form_does_not_hide_what_is_wrong_with_the_rest(tmp_path):
    text = """
datasets: {t: {tour: {documents: 5}}}
systems:
  a: {retriever: {bm25: {k: 1}}}
  b: {retriever: {bm25: {analyser: nosuch}}}
  c: {of: [b, nothere], combine: rrf}
  d: {of: [a, c], combine: rrf}
measures: [nDCG@10, Foo@3]
"""
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(HarnessError) as error:
        preparation.read(tmp_path / "s.yaml", CATALOGUE, Store(tmp_path / "store").open())
    told = str(error.value)
    for what in ("unknown parameter 'k'", "unknown system 'nothere'", "unknown analyser 'nosuch'", "'Foo'"):
        assert told.count(what) == 1, what


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            HEAD
            + "systems:\n  a: {retriever: bm25}\n  b:\n    of: a\n    rerank:\n      sdm: {}\n      depht: 5\n",
            ["9: systems.b.rerank.depht: unknown key 'depht'; did you mean 'depth'?"],
        ),
        (
            "datasets:\n  t:\n    tour: {}\n    unknown_judgement: drop\nmeasures: R@5\nsystems: {a: {retriever: bm25}}\n",
            [
                "4: datasets.t.unknown_judgement: unknown key 'unknown_judgement'; did you mean 'unknown_judgements'?"
            ],
        ),
        (  # and the rest is read on
            HEAD + "systems: {a: {retriever: bm25}, b: {of: a, rerank: {sdm: {windo: 1}, tial: drop}}}\n",
            [
                "3: systems.b.rerank.sdm.windo: unknown parameter 'windo'; did you mean 'window'?",
                "3: systems.b.rerank.tial: unknown key 'tial'; did you mean 'tail'?",
            ],
        ),
    ],
    ids=["rerank", "dataset", "rest"],
)
def test_a_misspelt_key_beside_a_plugin_is_told_as_that(tmp_path, text, told):
    assert problems(tmp_path, text) == told


@pytest.mark.parametrize("other", ["crossencoder", "quux"])
def test_two_plugins_where_one_belongs_are_told_as_several(tmp_path, other):
    text = HEAD + f"systems: {{a: {{retriever: bm25}}, b: {{of: a, rerank: {{sdm: {{}}, {other}: {{}}}}}}}}\n"
    [line] = problems(tmp_path, text)
    assert line.endswith(f"got several: sdm, {other}")


def at_once(tmp_path: Path, text: str) -> set[tuple[int, str]]:
    """The lines and the keys of all problems that one `harness check` finds."""
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(HarnessError) as error:
        preparation.read(tmp_path / "s.yaml", CATALOGUE, Store(tmp_path / "store").open())
    return {(problem.place.line, dotted(problem.path)) for problem in error.value.problems}


SEVERAL = """
datasets: {tour: tour, other: {tour: {seed: 1}, scored: false}}
systems:
  bm25: {retriever: bm25}
  unread: {of: bm26, rerank: {nosuch: {}}}
  misread: {of: bm26, rerank: {crossencoder: {model: ms-marco-minlm}}, unti: passage}
  trained: {retriever: {dense: {model: {made: de}}}}
models:
  de: {train: {dual-encoder: {init: somewhere}}, on: other/dev, negatives: {of: nope}, validate: {on: x, measure: 3}}
"""


def test_one_check_finds_misspelt_systems_and_models_beside_all_other_mistakes(tmp_path):
    assert at_once(tmp_path, SEVERAL + "measures: nDCG@10\ndepth: 0\n") == {
        (5, "systems.unread.of"),
        (5, "systems.unread.rerank"),
        (6, "systems.misread"),
        (6, "systems.misread.of"),
        (6, ""),  # the model of the re-ranker, which planning finds
        (9, "models.de.negatives.of"),
        (9, "models.de.validate.on"),
        (9, "models.de.validate.measure"),
        (11, "depth"),
    }


def test_a_suite_without_measures_is_planned_to_find_its_other_mistakes(tmp_path):
    text = "datasets: [tour]\nsystems:\n  a: {retriever: bm25, rerank: {crossencoder: {model: ms-marco-minlm}}}\n"
    assert at_once(tmp_path, text) == {(1, ""), (3, "")}
    assert at_once(tmp_path, text + "protocol: dpar\n") == {(4, "protocol"), (3, "")}


@pytest.mark.parametrize("encoder", ["[[]]", "3", "[a]", "{model: 3}"])
def test_an_encoder_of_the_wrong_shape_is_a_problem(tmp_path, encoder):
    text = HEAD + "systems: {a: {retriever: bm25}}\nanalyses: [{ils: {encoder: {dense: ENCODER}}}]\n"
    [(line, path)] = at_once(tmp_path, text.replace("ENCODER", encoder))
    assert (line, path.partition(".model")[0]) == (4, "ils.encoder.dense")


def test_what_a_grid_that_could_not_be_read_is_asked_for_is_no_further_mistake(tmp_path):
    text = HEAD + "systems:\n  g: {retriever: {bm52: {k1: [1, 2]}}}\n  r: {of: 'g,k1=1', rerank: sdm}\n"
    assert [line.partition(": unknown")[0] for line in problems(tmp_path, text)] == ["4: systems.g.retriever"]
