"""Makers of passages, queries and judgements, after DuReader-retrieval and T2Ranking."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from harness.plugin import Analysis, Facts, Maker, Need, NoLanguage, hookimpl, param

UNSPACED = ("zh", "ja", "th", "lo", "km", "my", "bo")  # languages written without blanks between words


@dataclass(frozen=True)
class JoinParams:
    limit: int = param(256, "characters: shorter passages are joined with those that follow", minimum=1)
    separator: str = param("", "what is put between two joined passages")
    join_whole: Literal["below", "never"] = param(
        "below", "a document below the limit becomes one passage; never: only its passages are joined"
    )


@dataclass(frozen=True)
class AnswersParams:
    tau: float = param(0.5, "the least F1 at which a span counts as an answer", minimum=0.01, maximum=1)
    above: Literal["at-least", "more"] = param(
        "at-least",
        "at-least: an F1 of exactly tau counts, as in algorithm 1; more: it does not, as in the text",
    )
    unit: Literal["auto", "characters", "words"] = param(
        "auto", "what F1 counts; auto: characters in languages without blanks between words, else words"
    )
    pairs: Literal["judged", "all"] = param(
        "judged", "the passages that are tried for a query: those with a judgement for it, or all passages"
    )
    negatives: Literal["drop", "keep"] = param(
        "drop", "pairs without an answer are left out, or have grade 0"
    )
    unlabelled: Literal["drop", "keep"] = param("drop", "queries without a positive are left out, or kept")


def _resolve_unit(params: Any, facts: Facts) -> Any:
    if params.unit != "auto":
        return params
    if facts.language is None:
        raise NoLanguage("what is counted depends on the passages' language; name it, or a 'unit'")
    return replace(params, unit="characters" if facts.language in UNSPACED else "words")


@dataclass(frozen=True)
class CleanParams:
    duplicates: bool = param(
        True, "of queries that differ only in blanks, case and question marks, only the first stays"
    )
    questions: bool = param(True, "queries that ask nothing are left out")
    resources: bool = param(True, "queries for a download, a film, a song or a site are left out")
    rules: tuple[str, ...] = param(
        (), "further regular expressions; a query that matches one of them is left out"
    )

    def __post_init__(self) -> None:
        for rule in self.rules:
            try:
                re.compile(rule)
            except re.error as error:
                raise ValueError(f"the rule '{rule}' is no regular expression: {error}") from None


@dataclass(frozen=True)
class SimilarParams:
    to: tuple[str, ...] = param(
        help="datasets, or DATASET/SPLIT, with whose queries the queries are compared"
    )
    encoder: Mapping[str, Any] | None = param(
        None, "a retriever that gives vectors, as {dense: {model: ...}}; null: pairs of characters"
    )
    pairs: Mapping[str, Any] | None = param(
        None, "a re-ranker whose probability is the similarity, as {crossencoder: {models: [...]}}"
    )
    candidates: int = param(
        10, "with pairs: how many queries it compares each query with, the most similar without it", minimum=1
    )
    threshold: float = param(0.5, "queries that are more similar than this are dropped", minimum=0, maximum=1)
    action: Literal["drop", "mark"] = param(
        "drop", "drop: removes similar queries; mark: keeps all queries, in the slices similar and other"
    )


@dataclass(frozen=True)
class SimilarityParams:
    to: tuple[str, ...] = param(help="datasets, or DATASET/SPLIT, such as the queries that were trained on")
    encoder: Mapping[str, Any] | None = param(
        None, "a retriever that gives vectors, as {dense: {model: ...}}; null: pairs of characters"
    )
    bins: tuple[float, ...] = param(
        (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), "the lowest similarity of each group, from 0"
    )

    def __post_init__(self) -> None:
        if not self.bins or self.bins[0] != 0 or list(self.bins) != sorted(set(self.bins)):
            raise ValueError("'bins' are similarities in ascending order, starting with 0: [0, 0.5, 0.7]")


@dataclass(frozen=True)
class DeduplicateParams:
    by: Literal["exact", "minhash"] = param(
        "exact", "exact: removes equal texts; minhash: also nearly equal texts"
    )
    similarity: float = param(
        0.8, "minhash: passages with at least this Jaccard similarity are duplicates", minimum=0.5, maximum=1
    )
    shingle: int = param(5, "minhash: the number of words or characters in a shingle", minimum=1)
    unit: Literal["auto", "characters", "words"] = param(
        "auto", "minhash: the unit of shingles; auto: characters in languages without blanks between words"
    )


@dataclass(frozen=True)
class ClusterParams:
    cut: float = param(0.8, "clusters are cut at this distance of Ward's tree", minimum=0)
    representative: Literal["central", "longest", "first"] = param(
        "central", "which passage stays: nearest to its cluster's mean, the longest, or the first"
    )
    encoder: Mapping[str, Any] | None = param(
        None, "a retriever that gives vectors, as {dense: {model: ...}}; null: TF-IDF of words or characters"
    )
    unit: Literal["auto", "characters", "words"] = param(
        "auto", "what TF-IDF counts: pairs of characters, or words"
    )


@dataclass(frozen=True)
class SegmentParams:
    by: Literal["tokens", "sentences", "boundary", "model"] = param(
        "sentences",
        "windows of tokens, groups of sentences, where a small model that is trained here sees a boundary, "
        "or where a pretrained model of tokens sees one",
    )
    size: int = param(256, "tokens: how many a passage has", minimum=1)
    overlap: int = param(0, "tokens: how many a passage shares with the one before", minimum=0)
    sentences: int = param(5, "sentences: how many a passage has", minimum=1)
    learn: str | None = param(None, "boundary: a dataset, or DATASET/SPLIT, whose documents have paragraphs")
    model: Path | str | None = param(None, "model: a token classifier; a folder or a hub id")
    revision: str = param("main", "model: the branch, tag or commit of a model of the hub")
    label: str = param("auto", "model: the label of a passage's last token; auto: the second of two")
    length: int | Literal["auto"] = param(
        "auto", "model: how many tokens it reads at once; longer documents are read in overlapping windows"
    )
    dtype: Literal["auto", "fp32", "bf16", "fp16"] = param("auto", "model: the type of the computation")
    device: Literal["auto", "cpu", "cuda"] = param("auto", "model: where it runs")
    sigma: float = param(
        0.5,
        "boundary, model: the least probability of a boundary at which a passage ends",
        minimum=0,
        maximum=1,
    )
    held_out: float = param(
        0.2, "boundary: the share of those documents that the model is measured on", minimum=0, maximum=0.9
    )
    epochs: int = param(5, "boundary: passes over the documents", minimum=1)
    seed: int = param(0, "boundary: the order of training and the resampling of intervals", minimum=0)
    unit: Literal["auto", "characters", "words"] = param(
        "auto", "what a token is; auto: a character in languages without blanks between words, else a word"
    )

    def __post_init__(self) -> None:
        if self.overlap >= self.size:
            raise ValueError("'overlap' must be less than 'size'")
        if (self.by == "boundary") != (self.learn is not None):
            raise ValueError("'by: boundary' and 'learn' go together: name the documents to learn from")
        if (self.by == "model") != (self.model is not None):
            raise ValueError("'by: model' and 'model' go together: name a model that labels tokens")


def _resolve_segment(params: SegmentParams, facts: Facts) -> SegmentParams:
    params = _resolve_unit(params, facts)
    if params.model is None:
        return params
    from harness.toolkit.neural import hardware, models

    model, revision = models.located(params.model, params.revision)
    device: Any = hardware.device(params.device)
    dtype: Any = hardware.dtype(params.dtype, device)
    return replace(params, model=model, revision=revision, device=device, dtype=dtype)


def _missing_segment(params: SegmentParams) -> Sequence[str | Need]:
    if params.model is None:
        return []
    from harness.toolkit.neural import backends, models

    needs: list[str | Need] = [*backends.absent("segment", "", "torch")]
    if isinstance(params.model, str) and models.reachable(params.model, params.revision):
        return needs
    return [*needs, *models.missing_files(params.model, params.revision)]


def _libraries_of_segment(params: SegmentParams) -> Mapping[str, Sequence[str]]:
    return {"model": ("torch", "transformers", "tokenizers") if params.model is not None else ()}


@hookimpl
def harness_analyses() -> Iterable[Analysis]:
    yield Analysis(
        name="similar-queries",
        summary="how similar queries are to those of other splits, and the scores by similarity "
        "(DuReader, 2.3)",
        build="harness_making.query_similarity:QuerySimilarity",
        params=SimilarityParams,
        libraries=("scipy",),
        splits=("to",),
        encoder="encoder",
    )


@hookimpl
def harness_makers() -> Iterable[Maker]:
    yield Maker(
        name="join-paragraphs",
        summary="DuReader-retrieval's control of length: short paragraphs are joined with the next ones",
        build="harness_making.joining:Join",
        params=JoinParams,
        changes=("corpus", "judgements"),
        reads=("corpus", "judgements"),
    )
    yield Maker(
        name="label-by-answers",
        summary="positives by written answers: distant supervision by span-level F1 (DuReader, algorithm 1)",
        build="harness_making.answers:LabelByAnswers",
        params=AnswersParams,
        changes=("queries", "judgements"),
        libraries=("numba",),
        resolve=_resolve_unit,
    )
    yield Maker(
        name="clean-queries",
        summary="drops duplicate queries, those that ask nothing and requests for resources (T2Ranking, 4.1)",
        build="harness_making.cleaning:CleanQueries",
        params=CleanParams,
        changes=("queries", "judgements"),
        reads=("queries", "judgements"),
    )
    yield Maker(
        name="drop-similar",
        summary="drops queries that resemble those of other splits (DuReader-retrieval, 2.3)",
        build="harness_making.similar:DropSimilar",
        params=SimilarParams,
        changes=("queries", "judgements"),
        reads=("queries", "judgements"),
        splits=("to",),
        encoder="encoder",
        scorer="pairs",
    )
    yield Maker(
        name="deduplicate",
        summary="keeps one passage of each group with equal or nearly equal texts; it gets their grades",
        build="harness_making.duplicates:Deduplicate",
        params=DeduplicateParams,
        changes=("corpus", "judgements"),
        reads=("corpus", "judgements"),
        libraries=("numba",),
        resolve=_resolve_unit,
    )
    yield Maker(
        name="deduplicate-pairs",
        summary="keeps one judgement for each group of a query's similar passages (T2Ranking, 4.3)",
        build="harness_making.clusters:DeduplicatePairs",
        params=ClusterParams,
        changes=("judgements",),
        libraries=("scipy",),
        resolve=_resolve_unit,
        encoder="encoder",
    )
    yield Maker(
        name="segment",
        summary="passages from running text: by tokens, sentences or a boundary model (T2Ranking, 4.2)",
        build="harness_making.segmenting:Segment",
        params=SegmentParams,
        changes=("corpus", "judgements"),
        reads=("corpus", "judgements"),
        libraries=("numba",),
        resolve=_resolve_segment,
        missing_files=_missing_segment,
        libraries_by_param=_libraries_of_segment,
        splits=("learn",),
    )
    yield Maker(
        name="strip-titles",
        summary="removes the documents' titles",
        build="harness_making.titles:StripTitles",
        changes=("corpus",),
        reads=("corpus",),
    )
