"""The contract finds each fault of a record, a dataset or an analyser; and its own tools do what they say."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from testing_toys import WHOLE, Combiner, verdict, verdicts

from harness import records, testing
from harness.errors import HarnessError
from harness.records import param
from harness.types import Card, Document, Inputs, Judgement, Passage, Query


@dataclass(frozen=True)
class Params:
    k: int = param(3, "how many")
    mode: str = param("auto", "by the language")


def resolve(params, facts):
    return replace(params, mode=facts.language or "none") if params.mode == "auto" else params


GOOD = records.Combiner(
    name="toy", summary="a toy", build=lambda _: Combiner(), params=Params, resolve=resolve
)


def test_a_good_record_keeps_every_promise():
    assert verdicts("combiner", GOOD, {"k": 5}) == {}


@dataclass
class NotFrozen:
    k: int = param(3, "how many")


@dataclass(frozen=True)
class NoHelp:
    k: int = 3


@dataclass(frozen=True)
class LongHelp:
    k: int = param(3, "how\nmany")


def unstable(params, facts):
    return replace(params, k=params.k + 1)


def forgetful(params, facts):
    return records.NoParams()


def monolingual(params, facts):
    return replace(params, mode={"en": "english"}[facts.language])


@pytest.mark.parametrize(
    ("change", "case", "sentence"),
    [
        ({"name": "two words"}, "says what it is", "its name has white space in it"),
        ({"name": ""}, "says what it is", "its name must be a text"),
        ({"summary": " "}, "says what it is", "its record has no summary"),
        ({"summary": "one\ntwo"}, "says what it is", "its summary is longer than one line"),
        ({"version": 1}, "says what it is", "its version must be a text"),
        (
            {"needs": "json"},
            "says what it is",
            "`needs` of its record must be a tuple of names, and is 'json'",
        ),
        ({"libraries": [1]}, "says what it is", "`libraries` of its record must be a tuple of names"),
        ({"extra": ""}, "says what it is", "the extra of its record has no name"),
        ({"inputs": (3, 2)}, "says what it is", "it takes (3, 2) inputs"),
        ({"params": NotFrozen}, "describes its parameters", "its parameter type is not frozen"),
        ({"params": NoHelp}, "describes its parameters", "its parameter 'k' has no help"),
        ({"params": LongHelp}, "describes its parameters", "the help of 'k' is longer than one line"),
        ({"resolve": unstable}, "resolves its parameters once and for all", "again changes them"),
        ({"resolve": forgetful}, "resolves its parameters once and for all", "other than its parameters"),
        (
            {"resolve": monolingual},
            "resolves its parameters once and for all",
            "for the language 'zh': KeyError",
        ),
    ],
)
def test_each_fault_of_a_record_is_found(change, case, sentence):
    assert sentence in verdict("combiner", replace(GOOD, **change), case)


def test_a_record_of_another_kind_is_found():
    assert "its record is no context's record" in verdict("context", GOOD, "says what it is")


def test_search_only_must_name_parameters():
    record = records.Retriever(name="toy", summary="a toy", build=lambda _: None, search_only=("k1",))
    found = verdict("retriever", record, "describes its parameters")
    assert "`search_only` names what is no parameter: k1" in found


def test_a_unit_that_does_not_exist_is_found():
    record = records.Retriever(name="toy", summary="a toy", build=lambda _: None, units=("sentence",))
    assert "its units are ('sentence',)" in verdict("retriever", record, "says what it is")


def test_a_method_whose_module_is_missing_is_skipped_with_what_to_install():
    record = replace(GOOD, needs=("no_such_module",), extra="toys")
    with pytest.raises(pytest.skip.Exception, match=r"pip install 'the plugin\[toys\]'"):
        verdict("combiner", record, "gives the same twice")


def test_wrong_parameters_and_names_are_the_authors_mistake():
    with pytest.raises(HarnessError, match="did you mean 'k'"):
        verdict("combiner", GOOD, "gives the same twice", {"kk": 1})
    with pytest.raises(HarnessError, match="unknown kind 'retreiver'; did you mean 'retriever'"):
        testing.cases("retreiver", "bm25")
    [case, *_] = testing.cases("combiner", "convexx")
    with pytest.raises(HarnessError, match="unknown combiner 'convexx'; did you mean 'convex'"):
        case(None)


@testing.contract("combiner", "rrf", {"k": 10})
def test_the_decorator_makes_one_test_of_each_case(case, tmp_path):
    case(tmp_path)


# Datasets


class Source:
    """Two documents and two queries, in one place to be changed."""

    made = 0

    def card(self):
        return Card("en", "test")

    def inputs(self, part):
        return Inputs({"part": part})

    def documents(self):
        yield Document("d1", "One", (Passage("p1", "a lighthouse"), Passage("p2", "lit in 1871")))
        yield Document("d2", "", (Passage("p3", "a ferry", False),))

    def queries(self):
        yield Query("q1", "when was the lighthouse lit")
        yield Query("q2", "a ferry")

    def judgements(self):
        yield Judgement("q1", "p2", 1)
        yield Judgement("q2", "missing", 2)


def dataset(build=Source):
    return records.Dataset(name="toy", summary="a toy", build=lambda _: build())


def source(**parts):
    """A source of which some methods return something else."""
    changed = {name: (lambda self, *_, value=value: value()) for name, value in parts.items()}
    return type("Changed", (Source,), changed)


def columns(**change):
    from harness.collection.corpus import ROWS

    rows = {
        "id": ["p3", "p2", "p1"],
        "document": ["d2", "d1", "d1"],
        "title": ["", "One", "One"],
        "text": ["a ferry", "lit in 1871", "a lighthouse"],
        "candidate": [False, True, True],
        "order": [0, 1, 0],
    }
    import pyarrow as pa

    return [pa.RecordBatch.from_pydict(rows | change, schema=ROWS)]


def test_a_good_dataset_keeps_every_promise():
    assert verdicts("dataset", dataset()) == {}


def test_a_good_dataset_may_hand_over_rows_in_any_order_that_says_so():
    assert verdicts("dataset", dataset(source(rows=columns, locate=lambda: "file:1"))) == {}


def test_what_is_null_in_rows_means_what_their_schema_says():
    def rows():
        return columns(title=[None, "One", "One"], document=[None, "d1", "d1"], candidate=[False, None, None])

    def documents():
        first, second = Source().documents()
        return [first, second._replace(id="p3")]

    changed = source(rows=rows, documents=documents, locate=lambda: "file:1")
    assert verdict("dataset", dataset(changed), "has rows that equal its documents") == WHOLE


ONE = Document("d1", "One", (Passage("p1", "a lighthouse"),))
CALLS = iter(range(10**6))


@pytest.mark.parametrize(
    ("parts", "case", "sentence"),
    [
        ({"card": lambda: ("en", "test")}, "has a card", "its card is a tuple"),
        ({"card": lambda: Card("english", "test")}, "has a card", "'english', which is no ISO 639-1 code"),
        ({"card": lambda: Card("en", "")}, "has a card", "its card names no split"),
        ({"inputs": lambda: Inputs({"n": next(CALLS)})}, "says what it is made from", "change from one call"),
        ({"inputs": lambda: Inputs({"n": {1}})}, "says what it is made from", "what is no plain data"),
        ({"inputs": lambda: Inputs({}, ("no-file",))}, "says what it is made from", "not there: no-file"),
        ({"documents": lambda: [ONE, ONE]}, "has documents with unique ids", "document 'd1' comes twice"),
        (
            {"documents": lambda: [ONE, ONE._replace(id="d2")]},
            "has documents with unique ids",
            "the passage 'p1' comes twice",
        ),
        ({"documents": lambda: []}, "has documents with unique ids", "it has no passages"),
        ({"documents": lambda: [ONE._replace(id="")]}, "has documents with unique ids", "has the id ''"),
        ({"documents": lambda: [ONE._replace(title=None)]}, "has documents with unique ids", "is no text"),
        (
            {"documents": lambda: 1 / 0},
            "has documents with unique ids",
            "read its documents: ZeroDivisionError",
        ),
        (
            {"queries": lambda: [Query("q1", "x"), Query("q1", "y")]},
            "has queries and judgements that agree",
            "the query 'q1' comes twice",
        ),
        (
            {"queries": lambda: [Query("q1", "x", slices="hard")]},
            "has queries and judgements that agree",
            "`slices` of the query 'q1' is no tuple of texts",
        ),
        (
            {"judgements": lambda: [Judgement("q9", "p1", 1)]},
            "has queries and judgements that agree",
            "a judgement is for the query 'q9', which it has not",
        ),
        (
            {"judgements": lambda: [Judgement("q1", "p1", 1), Judgement("q1", "p1", 0)]},
            "has queries and judgements that agree",
            "the passage 'p1' is judged twice for the query 'q1'",
        ),
        (
            {"judgements": lambda: [Judgement("q1", "p1", "1")]},
            "has queries and judgements that agree",
            "the grade '1' of a judgement is no whole number",
        ),
        ({"judgements": lambda: []}, "has queries and judgements that agree", "it has no judgements"),
        (
            {"queries": lambda: [Query("q1", str(next(CALLS))), Query("q2", "")]},
            "reads the same twice",
            "a second reading gives something else",
        ),
        (
            {"rows": lambda: columns(text=["a ferry", "x", "a lighthouse"]), "locate": lambda: "file:1"},
            "has rows that equal its documents",
            "its rows are other passages than its documents",
        ),
        (
            {"rows": lambda: columns(order=[0, 0, 1]), "locate": lambda: "file:1"},
            "has rows that equal its documents",
            "its rows are other passages than its documents",
        ),
        (
            {"rows": lambda: [columns()[0].drop_columns(["title"])], "locate": lambda: "file:1"},
            "has rows that equal its documents",
            "its rows have the schema",
        ),
        (
            {"rows": columns, "locate": lambda: None},
            "has rows that equal its documents",
            "it cannot say where its first row came from",
        ),
    ],
)
def test_each_fault_of_a_dataset_is_found(parts, case, sentence):
    found = verdict("dataset", dataset(source(**parts)), case)
    assert found.startswith("the dataset 'toy': ")
    assert sentence in found


# Analysers


def analyser(analyse, **more):
    return records.Analyser(name="toy", summary="a toy", build=lambda _: analyse, **more)


def test_a_good_analyser_keeps_every_promise():
    assert verdicts("analyser", analyser(str.split, languages=("en",))) == {}


@pytest.mark.parametrize(
    ("analyse", "languages", "case", "sentence"),
    [
        (lambda text: text.split(" "), (), "gives terms", "it gives an empty term"),
        (lambda text: [0], (), "gives terms", "is no text"),
        (lambda text: [text.encode("ascii").decode()], (), "gives terms", "of any script, and none: Unicode"),
        (lambda text: ["<s>", *text.split()], (), "gives terms", "it finds terms in ''"),
        (lambda text: [], (), "gives terms", "it finds no term in any text"),
        (lambda text: [str(next(CALLS))], (), "gives the same twice", "different terms the second time"),
        (str.split, ("eng",), "names languages by two letters", "'eng' is no ISO 639-1 code"),
    ],
)
def test_each_fault_of_an_analyser_is_found(analyse, languages, case, sentence):
    found = verdict("analyser", analyser(analyse, languages=languages), case)
    assert found != WHOLE
    assert sentence in found


# The corpora for authors


def test_texts_are_read_in_batches_of_candidates_with_their_positions():
    corpus = testing.texts(["a", "b", "c", "d"], titles="ABCD", candidates=[1, 0, 1, 1], batch=2)
    assert (corpus.size, len(corpus), corpus.language, corpus.unit) == (4, 3, "en", "passage")
    batches = [(batch.positions.tolist(), batch.texts, batch.titles) for batch in corpus.batches()]
    assert batches == [([0, 2], ["a", "c"], ["A", "C"]), ([3], ["d"], ["D"])]


def test_start_and_stop_count_texts_and_not_positions():
    corpus = testing.texts(["a", "b", "c", "d"], candidates=[1, 0, 1, 1])
    assert [batch.texts for batch in corpus.batches(1, 1, 3)] == [["c"], ["d"]]


def test_texts_are_taken_by_position_in_the_order_asked_for():
    assert testing.texts(["a", "b", "c"]).take(np.array([2, 0, 2])) == ["c", "a", "c"]


def test_titles_and_candidates_must_fit_the_texts():
    with pytest.raises(ValueError, match="of one length"):
        testing.texts(["a", "b"], titles=["A"])
