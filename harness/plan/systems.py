"""Plans the systems of a suite: the steps that make a system's hits on one collection, each step once."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial

from harness.plan import augment, combine, datasets, index, plugin_calls, rerank, rewrite, search, tune
from harness.plan.context import Context, measured, of_index, resolved
from harness.plan.graph import Collection, Output
from harness.plan.methods import Resolved
from harness.plan.plugin_calls import Broken
from harness.problems import Need
from harness.steps import results
from harness.steps.combine import Learned, Tuned
from harness.steps.record import Found, Ref
from harness.steps.results import Additions, Rewritten
from harness.steps.texts import IndexedRetriever, Texts
from harness.suite import Chosen, System
from harness.types import Unit

ON_ANOTHER = "tune on another, or across 'folds: 5'"


def output(context: Context, collection: Collection, name: str) -> Output:
    """The output of a suite's system, planned once per collection. Raises Broken."""
    key, outputs = (collection.spec.name, name), context.memo.outputs
    if key not in outputs:
        try:
            outputs[key] = unshared(context, collection, context.suite.system(name))
        except Broken as error:
            outputs[key] = error
            system = context.suite.system(name)
            for chosen in system.methods:  # the methods behind the broken one may have problems too
                with contextlib.suppress(Broken):
                    resolved(context, collection, chosen, system.unit)
    planned = outputs[key]
    if isinstance(planned, Broken):
        raise planned
    return planned


def unshared(context: Context, collection: Collection, system: System) -> Output:
    """The output of a system, which need not be one of the suite's. It is planned again in each call."""
    searched = next((item for item in system.methods if item.searched is not None), None)
    if searched is not None:
        return _searched(context, collection, system, searched)
    if system.retriever is not None:
        planned = _retrieved(context, collection, system, system.retriever)
    else:
        inputs = [output(context, collection, name) for name in system.of]
        planned = inputs[0]
        if system.combine is not None:
            planned = _combined(context, collection, system, system.combine, inputs)
    for i in range(len(system.rerank)):
        planned = _reranked(context, collection, system, i, planned)
    return planned


def _texts(context: Context, collection: Collection, chosen: Sequence[Chosen], unit: Unit) -> Texts:
    """The texts with these stages of context."""
    stages: list[Ref[Additions]] = [
        augment.step(context.graph, collection, resolved(context, collection, stage, "passage"))
        for stage in chosen
    ]
    return Texts(
        corpus=collection.planned.corpus, stages=tuple(stages), unit=unit, language=collection.card.language
    )


def _index(context: Context, collection: Collection, method: Resolved, texts: Texts) -> Ref[results.Index]:
    indexing, source, values = of_index(context, collection, method, texts.unit), None, method.values
    with context.guarded(method.chosen):
        fuller = plugin_calls.derived_from(method.chosen.entry.record, values)
    if fuller is not None:
        written = method.chosen.as_written.items()
        same = {name: item for name, item in written if getattr(fuller, name) == getattr(values, name)}
        chosen = method.chosen._replace(as_written=same)
        source = _index(context, collection, method._replace(chosen=chosen, values=fuller), texts)
    return index.step(context.graph, collection, indexing, texts, source)


def _retrieved(context: Context, collection: Collection, system: System, chosen: Chosen) -> Output:
    """The output of a retriever for the queries as the system's rewriters leave them."""
    texts = _texts(context, collection, system.context or (), system.unit)
    retriever = resolved(context, collection, chosen, system.unit)
    at = _index(context, collection, retriever, texts)
    searcher = IndexedRetriever(method=retriever.method, texts=texts, index=at)
    needs = retriever.needs
    for i in range(len(system.queries)):
        rewritten = _rewritten(context, collection, system, i, searcher, needs)
        searcher = IndexedRetriever(method=retriever.method, texts=texts, index=at, rewritten=rewritten)
    hits = search.step(context.graph, collection, system.name, searcher, context.suite.depth, needs)
    return Output(hits, texts, searcher, needs)


def _rewritten(
    context: Context, collection: Collection, system: System, i: int, searcher: IndexedRetriever,
    needs: Sequence[Need],
) -> Ref[Rewritten]:  # fmt: skip
    """The queries after the system's i-th rewriter."""
    item, unit = system.queries[i], system.unit
    chosen, record = item.chosen, item.chosen.entry.record
    rewriter = resolved(context, collection, chosen, unit)
    with context.guarded(chosen):
        feedback = plugin_calls.feedback(record, rewriter.values)
    own_index = _index(context, collection, rewriter, searcher.texts) if record.indexed else None
    if record.gives != "text":  # the rewriter asks the retriever for its terms or vectors
        rewriter = rewriter._replace(needs=(*rewriter.needs, *needs))
    hits = None
    if feedback and item.of is None:
        subject = f"{system.name} (first)"
        hits = search.step(context.graph, collection, subject, searcher, context.suite.depth, needs)
    elif feedback and item.of is not None:
        below = output(context, collection, item.of)
        if below.unit != unit:
            what = f"'{item.of}' finds {below.unit}s and '{system.name}' searches {unit}s"
            context.refuse(chosen.place, ("systems", system.base, "queries", i), f"{what}; name another")
        hits = below.hits
    return rewrite.step(context.graph, collection, system.name, rewriter, searcher, own_index, feedback, hits)


def _combined(
    context: Context, collection: Collection, system: System, chosen: Chosen, inputs: Sequence[Output]
) -> Output:
    _check_within(context, system, chosen, inputs)
    tuning, unit = chosen.tuned, combine.unit_of(inputs)
    leave_out = (tuning.parameter,) if tuning else ()
    combiner = _with_needs_within(resolved(context, collection, chosen, unit, leave_out), inputs)
    mixed = combine.mixture(
        collection, combiner, inputs, context.suite.depth, _learned(context, chosen, inputs)
    )
    tuned = None
    if tuning is not None:
        on, on_inputs, on_mixed, on_combiner = collection, inputs, mixed, combiner
        if tuning.on is not None:
            path = ("systems", system.base, "combine", chosen.name, tuning.parameter, tuning.word)
            on = datasets.split_of(context, tuning.on, tuning.place, path, ON_ANOTHER)
            on_inputs = [output(context, on, name) for name in system.of]
            _check_within(context, system, chosen, on_inputs)
            on_combiner = _with_needs_within(resolved(context, on, chosen, unit, leave_out), on_inputs)
            learned = _learned(context, chosen, on_inputs)
            on_mixed = combine.mixture(on, on_combiner, on_inputs, context.suite.depth, learned)
        compared = measured(context, tuning.measure, on)
        choice = tune.step(context.graph, on, system.name, on_combiner, on_mixed, tuning, compared)
        tuned = Tuned(tuning.parameter, choice)
    hits = combine.step(context.graph, collection, system.name, combiner, mixed, tuned)
    first = next((item for item in inputs if item.unit == "passage"), inputs[0])
    return Output(hits, _of_unit(first.texts, unit))


def _check_within(context: Context, system: System, chosen: Chosen, inputs: Sequence[Output]) -> None:
    """Raises Broken if an input that must score further passages for a combiner is no retriever of
    passages."""
    for i in chosen.entry.record.within:
        if inputs[i].searcher is None or inputs[i].unit != "passage":
            what = f"'{chosen.name}' scores further passages with '{system.of[i]}'"
            text = f"{what}, which must be a retriever of passages; name one"
            context.refuse(chosen.place, ("systems", system.base, "of"), text)


def _learned(context: Context, chosen: Chosen, inputs: Sequence[Output]) -> Learned | None:
    """What values of queries are learned from, beside hits and texts; None if none is learned."""
    if chosen.tuned is None or not chosen.tuned.learned:
        return None
    for searcher in filter(None, (output.searcher for output in inputs)):
        if "terms" in context.catalogue.find("retrievers", searcher.method.name).record.queries:
            return Learned(searcher)
    return Learned(None)


def _with_needs_within(combiner: Resolved, inputs: Sequence[Output]) -> Resolved:
    learned = combiner.chosen.tuned is not None and combiner.chosen.tuned.learned
    again = range(len(inputs)) if learned else combiner.chosen.entry.record.within
    more = [need for i in again for need in inputs[i].needs]
    return combiner._replace(needs=(*combiner.needs, *more))


def _of_unit(texts: Texts, unit: Unit) -> Texts:
    return Texts(corpus=texts.corpus, stages=texts.stages, unit=unit, language=texts.language)


def _reranked(context: Context, collection: Collection, system: System, i: int, below: Output) -> Output:
    item = system.rerank[i]
    texts = below.texts
    if system.retriever is None and system.context is not None:
        texts = _texts(context, collection, system.context, below.unit)
    reranker = resolved(context, collection, item.chosen, below.unit)
    own_index = None
    if item.chosen.entry.record.indexed:
        own_index = _index(context, collection, reranker, texts)
    subject = system.name if len(system.rerank) == 1 else f"{system.name} ({i + 1}: {item.chosen.name})"
    hits = rerank.step(
        context.graph, collection, subject, reranker, below.hits, texts, own_index,
        item.depth or context.suite.depth, item.tail,
    )  # fmt: skip
    return Output(hits, texts)


def _searched(context: Context, collection: Collection, system: System, chosen: Chosen) -> Output:
    """The output of a system that has a method with searched parameters: the system runs with each point.
    With `on`, the best point is found on another split, and the system then runs with that point. With
    `folds`, all points run on the scored queries, and each query takes the hits of the point that is best on
    the other folds."""
    points = chosen.searched
    assert points is not None
    on = collection
    if points.on is not None:
        path = ("systems", system.base, chosen.name, "tune")
        on = datasets.split_of(context, points.on, points.place, path, ON_ANOTHER)
    trials = []
    for point in points.points:
        values = dict(zip(points.parameters, point, strict=True))
        trials.append(unshared(context, on, tune.replaced(system, partial(tune.tried, values=values))))
    unit, hits = trials[0].unit, [trial.hits for trial in trials]
    method = resolved(context, collection, chosen, unit, points.parameters)
    compared = measured(context, points.measure, on)
    choice = tune.trials(context.graph, on, system.name, method, hits, points, compared, unit)
    if points.on is not None:
        found = tuple((name, Found(choice.step, name)) for name in points.parameters)
        best = tune.replaced(system, lambda item: item._replace(searched=None, found=found))
        return unshared(context, collection, best)
    picked = combine.pick(context.graph, collection, system.name, hits, choice, unit)
    return Output(picked, trials[0].texts)
