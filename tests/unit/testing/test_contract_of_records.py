"""The contract finds each fault of a record, a dataset or an analyser; and the corpora for authors work."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from contract_toys import WHOLE, Combiner, record_of, verdict, verdicts

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
    ("case", "cause", "change"),
    [
        ("describes itself", "white space", {"name": "two words"}),
        ("describes itself", "its name", {"name": ""}),
        ("describes itself", "no summary", {"summary": " "}),
        ("describes itself", "summary is longer", {"summary": "one\ntwo"}),
        ("describes itself", "its version", {"version": 1}),
        ("describes itself", "`needs` of", {"needs": "json"}),
        ("describes itself", "`libraries` of", {"libraries": [1]}),
        ("describes itself", "the extra", {"extra": ""}),
        ("describes itself", "(3, 2) inputs", {"inputs": (3, 2)}),
        ("describes its parameters", "not frozen", {"params": NotFrozen}),
        ("describes its parameters", "'k' has no help", {"params": NoHelp}),
        ("describes its parameters", "the help of 'k'", {"params": LongHelp}),
        ("resolves its parameters once", "again changes them", {"resolve": unstable}),
        ("resolves its parameters once", "other than its parameters", {"resolve": forgetful}),
        ("resolves its parameters once", "'zh': KeyError", {"resolve": monolingual}),
    ],
)
def test_each_fault_of_a_record_is_found(case, cause, change):
    assert cause in verdict("combiner", replace(GOOD, **change), case)


@pytest.mark.parametrize(
    ("case", "cause", "change"),
    [
        ("describes its parameters", "`search_only` names unknown parameters: k1", {"search_only": ("k1",)}),
        ("describes itself", "its units are ('sentence',)", {"units": ("sentence",)}),
    ],
)
def test_each_fault_of_a_retrievers_record_is_found(case, cause, change):
    assert cause in verdict("retriever", record_of("retriever", Combiner, **change), case)


def test_a_record_of_another_kind_is_found():
    assert "its record is not a context's" in verdict("context", GOOD, "describes itself")


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


DOCUMENTS, QUERIES = "has documents with unique ids", "has queries and judgements that agree"
ROWS = "has rows that equal its documents"


@pytest.mark.parametrize(
    ("case", "cause", "parts"),
    [
        ("has a card", "its card is a tuple", {"card": lambda: ("en", "test")}),
        ("has a card", "'english'", {"card": lambda: Card("english", "test")}),
        ("has a card", "no split", {"card": lambda: Card("en", "")}),
        ("lists its inputs", "change from one call", {"inputs": lambda: Inputs({"n": next(CALLS)})}),
        ("lists its inputs", "plain data", {"inputs": lambda: Inputs({"n": {1}})}),
        ("lists its inputs", "missing file: no-file", {"inputs": lambda: Inputs({}, ("no-file",))}),
        (DOCUMENTS, "document 'd1' occurs twice", {"documents": lambda: [ONE, ONE]}),
        (DOCUMENTS, "passage 'p1' occurs twice", {"documents": lambda: [ONE, ONE._replace(id="d2")]}),
        (DOCUMENTS, "no passages", {"documents": lambda: []}),
        (DOCUMENTS, "has the id ''", {"documents": lambda: [ONE._replace(id="")]}),
        (DOCUMENTS, "the title of the document 'd1'", {"documents": lambda: [ONE._replace(title=None)]}),
        (DOCUMENTS, "read its documents: ZeroDivisionError", {"documents": lambda: 1 / 0}),
        (QUERIES, "query 'q1' occurs twice", {"queries": lambda: [Query("q1", "x"), Query("q1", "y")]}),
        (QUERIES, "`slices` of the query 'q1'", {"queries": lambda: [Query("q1", "x", slices="hard")]}),
        (QUERIES, "the query 'q9'", {"judgements": lambda: [Judgement("q9", "p1", 1)]}),
        (QUERIES, "'p1' is judged twice", {"judgements": lambda: [Judgement("q1", "p1", g) for g in (0, 1)]}),
        (QUERIES, "the grade '1'", {"judgements": lambda: [Judgement("q1", "p1", "1")]}),
        (QUERIES, "no judgements", {"judgements": lambda: []}),
        (
            "reads the same twice",
            "a second reading",
            {"queries": lambda: [Query("q1", str(next(CALLS))), Query("q2", "")]},
        ),
        (ROWS, "different passages", {"rows": lambda: columns(text=["a ferry", "x", "a lighthouse"])}),
        (ROWS, "different passages", {"rows": lambda: columns(order=[0, 0, 1])}),
        (ROWS, "the schema", {"rows": lambda: [columns()[0].drop_columns(["title"])]}),
        (ROWS, "cannot locate its first row", {"rows": columns, "locate": lambda: None}),
    ],
)
def test_each_fault_of_a_dataset_is_found(case, cause, parts):
    located = {"locate": lambda: "file:1", **parts} if "rows" in parts else parts
    sentence = verdict("dataset", dataset(source(**located)), case)
    assert sentence.startswith("the dataset 'toy': ")
    assert cause in sentence


# Analysers


def analyser(analyse, **more):
    return records.Analyser(name="toy", summary="a toy", build=lambda _: analyse, **more)


def test_a_good_analyser_keeps_every_promise():
    assert verdicts("analyser", analyser(str.split, languages=("en",))) == {}


@pytest.mark.parametrize(
    ("case", "cause", "analyse", "languages"),
    [
        ("gives terms", "an empty term", lambda text: text.split(" "), ()),
        ("gives terms", "is not a string", lambda text: [0], ()),
        ("gives terms", "UnicodeEncodeError", lambda text: [text.encode("ascii").decode()], ()),
        ("gives terms", "it finds terms in ''", lambda text: ["<s>", *text.split()], ()),
        ("gives terms", "no term in any text", lambda text: [], ()),
        ("gives the same twice", "the second time", lambda text: [str(next(CALLS))], ()),
        ("names languages by two letters", "'eng'", str.split, ("eng",)),
    ],
)
def test_each_fault_of_an_analyser_is_found(case, cause, analyse, languages):
    sentence = verdict("analyser", analyser(analyse, languages=languages), case)
    assert sentence.startswith("the analyser 'toy': ")
    assert cause in sentence


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


# Commands


def good_arguments(command):
    command.add_argument("--often", action="store_true", help="more than once")


def unexplained_arguments(command):
    command.add_argument("file")


def no_arguments(command):
    raise RuntimeError("no parser")


def greedy_arguments(command):
    command.parse_args = lambda words: words


def command_of(**change):
    fields = {"name": "toy", "summary": "do a thing", "arguments": "good_arguments", "work": "good_arguments"}
    fields |= change
    for field in ("arguments", "work"):
        fields[field] = f"{__name__}:{fields[field]}"
    return records.Command(**fields)


def test_a_good_command_keeps_every_promise():
    assert verdicts("command", command_of()) == {}


@pytest.mark.parametrize(
    ("case", "cause", "change"),
    [
        ("is described", "no summary", {"summary": ""}),
        ("is described", "longer than one line", {"summary": "one\ntwo"}),
        ("is described", "a full stop", {"summary": "does a thing."}),
        ("is described", "the extra", {"extra": " "}),
        ("has its functions", "it cannot import", {"work": "nothing"}),
        ("has its functions", "GOOD is no function", {"work": "GOOD"}),
        ("describes its arguments", "its argument file has no help", {"arguments": "unexplained_arguments"}),
        ("describes its arguments", "it cannot add its arguments", {"arguments": "no_arguments"}),
        ("refuses an unknown option", "--no-such-option", {"arguments": "greedy_arguments"}),
    ],
)
def test_each_fault_of_a_command_is_found(case, cause, change):
    assert cause in verdict("command", command_of(**change), case)
