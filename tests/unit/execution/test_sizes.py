"""The sizes of collections, of those too that a plan will make, and the amounts of work that follow from them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs
from step_samples import METHOD, SAMPLES, changed, ref, step

from harness import steps
from harness.execution.sizes import kept_by_makers, sizes_of, with_made
from harness.plan.graph import Step
from harness.steps.make import Parts
from harness.steps.record import AnyRecord
from harness.steps.sizes import CorpusSize, Counts, Sizes
from harness.store.manifest import Artifact

RAW, ASKED = step(SAMPLES[steps.ReadCorpus]), step(SAMPLES[steps.ReadQueries])
JOIN = structs.replace(METHOD, name="join", params={"limit": 9})


def making(corpus: str, queries: str | None = None) -> steps.Make:
    reads = Parts(
        corpus=ref(corpus), queries=None if queries is None else ref(queries), language="en", query_language=None,
        split="test",
    )  # fmt: skip
    return steps.Make(method=JOIN, reads=reads)


def planned(*listed: Step) -> Any:
    return SimpleNamespace(steps={item.id: item for item in listed})


def finished(record: AnyRecord, facts: dict[str, Any]) -> Artifact:
    return Artifact("an id", Path(), record.keyed, facts, {}, {})


def test_parts_that_are_not_made_yet_are_as_large_as_those_they_are_made_of() -> None:
    make = step(making(RAW.id, ASKED.id))
    corpus, queries = (step(steps.MadePart(stage=ref(make.id), part=part)) for part in ("corpus", "queries"))
    refs = {"corpus": ref(corpus.id), "queries": ref(queries.id)}
    top = step(changed(steps.Subset, **refs, depth=4))
    examples = step(changed(steps.Examples, **refs))
    known = Sizes({RAW.id: CorpusSize(100, 90, 10)}, {ASKED.id: 7})
    sizes = with_made(known, planned(RAW, ASKED, make, corpus, queries, top, examples), {})
    assert sizes.corpora[corpus.id] == (100, 90, 10)
    assert sizes.corpora[top.id] == (100, 28, 10)
    assert sizes.queries == {ASKED.id: 7, queries.id: 7, examples.id: 7}
    assert make.record.amount(sizes) == (100, 7)
    assert examples.record.amount(sizes) == (140,)
    assert known == with_made(known, planned(), {})


def test_a_maker_is_expected_to_leave_what_it_left_before() -> None:
    counts = {"before": {"passages": 90, "documents": 10}, "after": {"passages": 30, "documents": 10}}
    more = {"before": {"passages": 10, "documents": 0}, "after": {"passages": 10, "documents": 0}}
    artifacts = {
        f"make-{i}": finished(making("corpus-0"), {"made": made}) for i, made in enumerate((counts, more))
    }
    kept = kept_by_makers(artifacts)
    assert list(kept.values()) == [{"passages": 0.4, "documents": 1.0}]
    make = step(making(RAW.id))
    corpus = step(steps.MadePart(stage=ref(make.id), part="corpus"))
    sizes = with_made(Sizes({RAW.id: CorpusSize(1000, 500, 20)}, {}), planned(RAW, make, corpus), kept)
    assert sizes.corpora[corpus.id] == (400, 200, 20)


def test_every_part_that_the_store_has_has_a_size() -> None:
    corpus = {"passages": 30, "candidates": 20, "documents": 4}
    made = [steps.MadePart(stage=ref("make-0"), part=part) for part in ("corpus", "queries", "judgements")]
    listed: list[tuple[AnyRecord, dict[str, Any]]] = [
        (SAMPLES[steps.ReadCorpus], corpus), (SAMPLES[steps.Subset], corpus), (made[0], corpus),
        (SAMPLES[steps.ReadQueries], {"queries": 5}), (made[1], {"queries": 6}), (made[2], {"judgements": 9}),
        (SAMPLES[steps.Examples], {"queries_with_positives": 3}), (SAMPLES[steps.Index], {"texts": 20}),
        (SAMPLES[steps.PartOfStep], {"texts": 20}),
    ]  # fmt: skip
    sizes = sizes_of({str(number): finished(*one) for number, one in enumerate(listed)})
    assert sizes == Sizes(dict.fromkeys("012", CorpusSize(30, 20, 4)), {"3": 5, "4": 6, "6": 3}, {"7": 20})


@pytest.mark.parametrize("there", [True, False])
def test_the_work_of_a_finished_making_is_what_it_read(there: bool) -> None:
    others = {"b/dev": making("corpus-0", "queries-2").reads}
    make = finished(structs.replace(making("corpus-0", "queries-1"), others=others), {})
    artifacts = {"make-2": make}
    if there:
        facts = {"passages": 30, "candidates": 20, "documents": 4}
        artifacts["corpus-0"] = finished(SAMPLES[steps.ReadCorpus], facts)
        artifacts |= {f"queries-{i}": finished(SAMPLES[steps.ReadQueries], {"queries": 5}) for i in (1, 2)}
    sizes = sizes_of({name: item for name, item in artifacts.items() if name != "make-2"})
    assert make.record.counted(Counts({}, {}), sizes) == ((30, 10) if there else None)
