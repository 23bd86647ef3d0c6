"""The hooks of passage-harness. A plugin implements any of them and yields records, cheaply."""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from harness import records

PROJECT = "passage_harness"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def harness_datasets() -> Iterable[records.Dataset]:  # type: ignore[empty-body]
    """Collections: documents with passages in order, queries, judgements."""


@hookspec
def harness_contexts() -> Iterable[records.Context]:  # type: ignore[empty-body]
    """Context-augmenters: what a document adds to each of its passages."""


@hookspec
def harness_retrievers() -> Iterable[records.Retriever]:  # type: ignore[empty-body]
    """Methods that index texts and find the best for a query."""


@hookspec
def harness_rewriters() -> Iterable[records.Rewriter]:  # type: ignore[empty-body]
    """Methods that rewrite a query before it is searched for."""


@hookspec
def harness_rerankers() -> Iterable[records.Reranker]:  # type: ignore[empty-body]
    """Methods that score the candidates that others found."""


@hookspec
def harness_combiners() -> Iterable[records.Combiner]:  # type: ignore[empty-body]
    """Methods that make one ranking of several."""


@hookspec
def harness_trainers() -> Iterable[records.Trainer]:  # type: ignore[empty-body]
    """Ways to make a model that a suite then evaluates."""


@hookspec
def harness_makers() -> Iterable[records.Maker]:  # type: ignore[empty-body]
    """Stages of making a collection: of passages, queries or judgements."""


@hookspec
def harness_analysers() -> Iterable[records.Analyser]:  # type: ignore[empty-body]
    """Ways to turn a text into index terms, by language."""


@hookspec
def harness_analyses() -> Iterable[records.Analysis]:  # type: ignore[empty-body]
    """Tables and pictures of finished runs."""


@hookspec
def harness_protocols() -> Iterable[records.Protocol]:  # type: ignore[empty-body]
    """Ways of scoring: named columns, as a paper defines them."""


@hookspec
def harness_measures() -> Iterable[records.Measure]:  # type: ignore[empty-body]
    """Measures that ir-measures does not have."""


@hookspec
def harness_commands() -> Iterable[records.Command]:  # type: ignore[empty-body]
    """Commands of `harness`, beside those of the core."""
