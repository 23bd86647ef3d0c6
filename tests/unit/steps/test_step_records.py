"""The records of steps: what is in a key, which steps they read, and their form on the wire and in a manifest."""

import json
from typing import Any, get_args

import msgspec
import pytest
from msgspec import structs
from step_samples import INDEX, METHOD, SAMPLES, SEARCH, SEARCHER, changed, ref

from harness import steps
from harness.execution import requests
from harness.steps import record as base
from harness.steps.analyse import Analysed, Reporting, Trained
from harness.steps.make import Origin
from harness.steps.record import AnyRecord, Backbone, Bound, Model
from harness.steps.sizes import CorpusSize, Counts, Sizes
from harness.steps.validate import Shortened

EVERY = [pytest.param(record, id=record.kind) for record in SAMPLES.values()]
ORIGIN = Origin("d", "CC0", "", "")
# each field that is in no key, with another value
UNKEYED: dict[type[msgspec.Struct], dict[str, Any]] = {
    base.Method: {
        "kind": "retrievers", "given": {"k1": 0.9}, "plugin": "passage-harness 1", "cores": "all", "resources": {"gpus": 1},
        "cannot_be_keyed": "it asks a service", "language": "en", "query_language": "de", "unit": "document",
    },
    base.Backbone: {"folder": "/models/m"},
    steps.ReadCorpus: {"file_bytes": 9},
    steps.Make: {"origin": ORIGIN},
    steps.Rewrite: {"gives": "vectors"},
    steps.Tune: {"on": "d/dev"},
    steps.Trials: {"on": "d/dev"},
    steps.Train: {"backbone": Backbone(Model("train-7", "model")), "recipe": "de"},
    steps.Validate: {"on": "d/dev", "shortened": Shortened("a", 9), "recipe": "de", "seed": 2},
    steps.PartOfStep: {"whole": INDEX},
    Analysed: {
        "unit": "document", "context": ("titles",), "retriever": "bm25", "combine": changed(steps.Combine),
        "reporting": (Reporting("index", "m", "index-7"),), "reranks": True,
        "trained": Trained("lora", {}, {}, 3), "search": {"stored": "int8"},
    },
}  # fmt: skip


def key_of(value: Any) -> Any:
    return json.dumps(base.keyed(value), sort_keys=True)


def structs_below(record: Any) -> list[msgspec.Struct]:
    """A value's records and those in their fields."""
    if isinstance(record, msgspec.Struct):
        below = [getattr(record, name) for name in record.__struct_fields__]
        return [record, *(item for value in below for item in structs_below(value))]
    items = (
        record.values() if isinstance(record, dict) else record if isinstance(record, list | tuple) else ()
    )
    return [item for value in items for item in structs_below(value)]


def test_every_record_is_a_kind_that_the_wire_knows() -> None:
    def leaves(record: type[Any]) -> set[type[Any]]:
        return {leaf for below in record.__subclasses__() for leaf in leaves(below)} or {record}

    assert leaves(base.Record) == {*get_args(steps.AnyKind)}


def test_every_kind_has_a_sample() -> None:
    assert {*SAMPLES} == {*get_args(steps.AnyKind)}


def test_the_fields_that_are_in_no_key_are_these_alone() -> None:
    found = {type(value): value for sample in SAMPLES.values() for value in structs_below(sample)}
    unkeyed = {kind: {*kind.__struct_fields__} - {*base._keyed_names(kind)} for kind in found}
    assert {kind: names for kind, names in unkeyed.items() if names} == {
        kind: {*names} for kind, names in UNKEYED.items()
    }
    for kind, names in UNKEYED.items():
        for name, value in names.items():
            assert getattr(found[kind], name) != value
            assert key_of(structs.replace(found[kind], **{name: value})) == key_of(found[kind])


def test_every_other_field_is_in_the_key_with_those_of_the_records_in_it() -> None:
    keys = {SEARCH.key, changed(steps.Search, depth=8).key, changed(steps.Search, index=ref("index-9")).key}
    keys.add(changed(steps.Search, texts=structs.replace(SEARCH.texts, unit="passage")).key)
    keys.add(changed(steps.Search, method=structs.replace(SEARCH.method, bound=SEARCH.method.bound[:1])).key)
    assert len(keys) == 5


def test_records_of_two_kinds_with_equal_fields_have_two_keys() -> None:
    same = changed(steps.ReadQueries)
    assert structs.asdict(same) == structs.asdict(changed(steps.ReadJudgements))
    assert same.key != changed(steps.ReadJudgements).key
    bound = [Bound("k", base.Found("a-0", "k")), Bound("k", Model("a-0", "k"))]
    assert key_of(bound[0]) != key_of(bound[1])


def test_a_step_reads_what_its_record_refers_to_each_once_in_order() -> None:
    assert SEARCH.inputs == (
        "trials-0",
        "train-0",
        "train-1",
        "corpus-0",
        "augment-0",
        "index-0",
        "queries-0",
    )
    assert changed(steps.Make).inputs == (
        "corpus-0", "queries-0", "judgements-0", "search-0", "trials-0", "train-0", "train-1",
    )  # fmt: skip
    within = changed(steps.Combine, hits=(ref("search-0"),), tuned=None).inputs
    assert within == ("search-0", "corpus-0", "queries-0", "augment-0", "index-0", "rewrite-0")


def test_a_reference_that_is_in_no_key_is_no_input() -> None:
    for kind in (steps.Train, steps.Analyse):
        sample: Any = changed(kind)
        system = (
            {}
            if kind is steps.Train
            else {"systems": tuple(structs.replace(one, **UNKEYED[Analysed]) for one in sample.systems)}
        )
        fields = UNKEYED.get(kind, system)
        assert changed(kind, **fields) != sample
        assert changed(kind, **fields).inputs == sample.inputs


def test_a_part_waits_for_what_its_step_reads() -> None:
    assert changed(steps.PartOfStep).inputs == ()
    assert changed(steps.PartOfStep, whole=INDEX).inputs == INDEX.inputs


@pytest.mark.parametrize("record", EVERY)
def test_a_record_comes_back_from_the_wire(record: steps.AnyKind) -> None:
    full = structs.replace(record, **UNKEYED.get(type(record), {}))
    for each in (record, full):
        request = requests.Execute("id", each)
        assert requests.decode(requests.encode(request)) == request


@pytest.mark.parametrize("record", EVERY)
def test_a_record_of_a_manifest_has_defaults_where_nothing_is_keyed(record: steps.AnyKind) -> None:
    full = structs.replace(record, **UNKEYED.get(type(record), {}))
    assert steps.of_keyed(json.loads(json.dumps(full.keyed))) == record


@pytest.mark.parametrize("record", EVERY)
@pytest.mark.parametrize("strange", [{"kind": "weave"}, {"colour": "red"}])
def test_unknown_kinds_and_fields_are_refused(record: steps.AnyKind, strange: dict[str, str]) -> None:
    wire = json.loads(requests.encode(requests.Execute("id", record)))
    with pytest.raises(msgspec.ValidationError, match="weave" if "kind" in strange else "colour"):
        requests.decode(json.dumps({**wire, "record": {**wire["record"], **strange}}).encode())
    with pytest.raises(msgspec.ValidationError):
        steps.of_keyed({**record.keyed, **strange})


def test_unknown_fields_are_refused_in_every_record_within_a_record() -> None:
    below = {type(value) for sample in SAMPLES.values() for value in structs_below(sample)}
    assert [kind for kind in below if not kind.__struct_config__.forbid_unknown_fields] == []


def test_a_record_of_another_format_has_another_key_and_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    before, key = INDEX.keyed, INDEX.key
    monkeypatch.setattr(steps.Index, "format", 2)
    assert INDEX.key != key
    assert steps.of_keyed(INDEX.keyed) == INDEX
    for keyed in (before, {name: value for name, value in before.items() if name != "format"}):
        with pytest.raises(msgspec.ValidationError, match="expected 2"):
            steps.of_keyed(keyed)


def test_kinds_have_the_names_that_ids_have() -> None:
    assert steps.kinds(steps.Search, steps.PartOfStep) == {"search", "part"}
    assert len(steps.kinds(*SAMPLES)) == len(SAMPLES)
    assert steps.ids_of_part("queries", "0") == ("queries-0", "made-0")


SIZES = Sizes(
    {"corpus-0": CorpusSize(100, 80, 10)}, {"queries-0": 7, "examples-0": 300}, texts={"index-0": 90}
)
NONE = Sizes({}, {})
PASSAGES = structs.replace(SEARCH.texts, unit="passage")
AMOUNTS: dict[type[AnyRecord], tuple[float, ...] | None] = {
    steps.ReadCorpus: None, steps.ReadQueries: None, steps.ReadJudgements: None, steps.PartOfStep: None,
    steps.Subset: (1,), steps.MadePart: (1,), steps.Make: (100, 7), steps.Augment: (100,), steps.Index: (10,),
    steps.Search: (7, 70), steps.Rewrite: (7,), steps.Combine: (7,), steps.Pick: (7,), steps.Rerank: (35,),
    steps.Tune: (14,), steps.Trials: (14,), steps.Label: (7,), steps.Examples: (140,), steps.Train: (300 * 5 / 2,),
    steps.Validate: (14,), steps.Analyse: (7,),
}  # fmt: skip


@pytest.mark.parametrize("record", EVERY)
def test_the_amount_of_work_follows_from_the_sizes(record: steps.AnyKind) -> None:
    assert record.amount(SIZES) == AMOUNTS[type(record)]
    constant = isinstance(record, steps.Subset | steps.MadePart)
    assert record.amount(NONE) == ((1,) if constant else None)


def test_amounts_grow_with_candidates_and_with_what_is_really_read() -> None:
    assert changed(steps.Index, texts=PASSAGES).amount(SIZES) == (80,)
    assert changed(steps.Rerank, depth=50).amount(SIZES) == (7 * 10,)  # there are only ten documents
    assert changed(steps.Examples, negatives=None).amount(SIZES) == (7,)
    assert changed(steps.Tune, hits=(ref("search-0"), ref("search-0"))).amount(SIZES) == (7,)


@pytest.mark.parametrize(
    ("kind", "facts", "cost", "amount"),
    [
        (steps.Augment, {"reported": {"passages": 60}}, {}, (60,)),
        (steps.Index, {"texts": 55}, {}, (55,)),
        (steps.Search, {}, {"queries": 5}, (5, 450)),
        (steps.Rewrite, {}, {"queries": 5}, (5,)),
        (steps.Combine, {}, {"queries": 5}, (5,)),
        (steps.Pick, {}, {"queries": 5}, (5,)),
        (steps.Rerank, {}, {"pairs": 31}, (31,)),
        (steps.Label, {}, {}, (7,)),
    ],
)
def test_a_finished_step_says_how_much_it_was(
    kind: type[AnyRecord], facts: dict[str, Any], cost: dict[str, Any], amount: tuple[float, ...]
) -> None:
    assert changed(kind).counted(Counts(facts, cost), SIZES) == amount


def test_a_search_whose_index_is_gone_has_no_known_amount() -> None:
    assert SEARCH.counted(Counts({}, {"queries": 5}), NONE) is None


def test_a_search_gives_the_retriever_that_others_search_with() -> None:
    search = changed(steps.Search, method=METHOD, rewritten=ref("rewrite-0"))
    assert search.searcher == SEARCHER


def test_a_method_is_of_the_steps_that_have_one() -> None:
    assert base.method_of(INDEX) is METHOD
    assert base.method_of(changed(steps.Label)) is None
