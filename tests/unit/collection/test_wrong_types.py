"""Whatever a plugin gives in the place of documents, queries, judgements or additions is a broken contract, or fits."""

import itertools

import numpy as np
import pytest

from harness.collection.context_additions import _checked
from harness.collection.corpus_rows import rows_of
from harness.collection.queries import write_judgements, write_queries
from harness.errors import ContractError, HarnessError
from harness.execution.task import reported
from harness.findings import Finding, entry
from harness.types import Addition, Document, Edit, Judgement, Passage, Query


class Unprintable:
    def __repr__(self):
        raise ValueError("it cannot be shown")


WRONG = {
    "none": None, "int": 5, "text": "x", "empty": "", "list": [], "dict": {}, "array": np.zeros(3), "bytes": b"x",
    "float": 1.5, "nan": float("nan"), "type": int, "nested": [[[]]], "surrogate": "\ud800", "big": 10**30,
    "bool": True, "negative": -1, "numpy": np.int64(3), "tuple": (1, 2, 3), "unprintable": Unprintable(),
}  # fmt: skip
PASSAGE = Passage("p", "a text", True)
DOCUMENT = Document("d", "title", (PASSAGE,))
QUERY = Query("q", "a text")
JUDGEMENT = Judgement("q", "p", 1)
ADDITION = Addition("prefix", edits=((Edit(0, 1, "x"),),))
FINDING = {"name": "n", "title": "t", "kind": "table", "columns": ("a",), "rows": ((1,),)}


def varied(good):
    """The value with each field in turn replaced by each wrong value, and each wrong value alone."""
    yield from ((f"{name}", wrong) for name, wrong in WRONG.items())
    for field, (name, wrong) in itertools.product(good._fields, WRONG.items()):
        yield f"{field} {name}", good._replace(**{field: wrong})


def documents(folder, value):
    return list(rows_of(value))


def additions(folder, value):
    return _checked([DOCUMENT], value)


WRITERS = {
    "documents": (documents, [DOCUMENT]),
    "passages": (documents, [PASSAGE]),
    "queries": (lambda folder, value: write_queries(value, folder), [QUERY]),
    "judgements": (lambda folder, value: write_judgements(value, folder), [JUDGEMENT]),
    "additions": (additions, [ADDITION]),
    "edits": (additions, [Edit(0, 1, "x")]),
}


def given(kind, value):
    """The value where such a value is given."""
    if kind == "passages":
        return [DOCUMENT._replace(passages=(PASSAGE, value))]
    return [ADDITION._replace(edits=((value,),))] if kind == "edits" else [value]


@pytest.mark.parametrize("kind", WRITERS)
def test_a_wrong_value_is_a_broken_contract_or_fits(kind, tmp_path):
    write, [good] = WRITERS[kind]
    write(tmp_path, given(kind, good))
    refused = 0
    for name, value in varied(good):
        try:
            write(tmp_path, given(kind, value))
        except (ContractError, HarnessError):
            refused += 1
        except Exception as error:
            raise AssertionError(f"{kind}: {name}: {type(error).__name__}: {error}") from error
    assert refused >= len(WRONG) * len(good._fields) / 2


@pytest.mark.parametrize("kind", ["documents", "queries", "judgements", "additions"])
@pytest.mark.parametrize("name", ["none", "int", "text", "bytes", "float", "type"])
def test_what_holds_no_values_is_a_broken_contract(kind, name, tmp_path):
    write, _ = WRITERS[kind]
    with pytest.raises(ContractError, match="must be iterable, not"):
        write(tmp_path, WRONG[name])


def test_facts_are_a_mapping_of_what_json_holds():
    assert reported(None) == reported({}) == {}
    assert reported({"cut": 3}) == {"reported": {"cut": 3}}
    for name, value in WRONG.items():
        if name not in ("none", "dict"):
            with pytest.raises(ContractError):
                reported(value)
        if name in ("type", "bytes", "surrogate", "big", "unprintable"):
            with pytest.raises(ContractError):
                reported({"a": value})


def test_a_finding_has_fields_of_its_types():
    assert entry(Finding(**FINDING))["rows"] == ((1,),)
    for field, (name, value) in itertools.product(FINDING, WRONG.items()):
        try:
            entry(Finding(**{**FINDING, field: value}))
        except ContractError:
            continue
        assert isinstance(value, str) or (field == "rows" and value == []), f"{field} {name}"
    for name in ("type", "bytes", "big", "nan", "list", "unprintable"):
        with pytest.raises(ContractError):
            entry(Finding(**{**FINDING, "rows": ((WRONG[name],),)}))
