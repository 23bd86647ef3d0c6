"""The source of DAPR's datasets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from harness.plugin import Card, Document, HarnessError, Inputs, Judgement, Official, Part, Query
from harness.toolkit.files.hub import commits, snapshot
from harness.toolkit.files.paths import first_there
from harness.toolkit.files.rows import documents_of
from harness_dapr import DaprParams
from harness_dapr.dump import Dump
from harness_dapr.hub import Hub
from harness_dapr.judged import digest, highest, merged
from harness_dapr.places import configuration, hub_patterns

CITATION = "Wang et al., DAPR: A Benchmark on Document-Aware Passage Retrieval, ACL 2024"
TAG = "<.*?>"
REPOSITORY = "UKPLab/dapr"
URL = f"https://huggingface.co/datasets/{REPOSITORY}"
LICENCES = {  # the licences of the original datasets, from appendix A of the paper
    "MSMARCO": "MIT, for non-commercial research",
    "NaturalQuestions": "CC BY-SA 3.0",
    "nq-hard": "CC BY-SA 3.0",
    "MIRACL": "Apache-2.0",
    "Genomics": "",
    "ConditionalQA": "CC BY-SA 4.0",
}
SOURCE = "Wang et al. 2024, table 1"
DOCUMENTS: dict[str, dict[str, int | float]] = {  # documents, and mean passages per document
    "MSMARCO": {"documents": 1_359_163},
    "NaturalQuestions": {"documents": 108_626, "passages_per_document.mean": 24.7},
    "MIRACL": {"documents": 5_758_285, "passages_per_document.mean": 5.7},
    "Genomics": {"documents": 162_259, "passages_per_document.mean": 77.9},
    "ConditionalQA": {"documents": 652, "passages_per_document.mean": 106.1},
}
QUERIES = {  # by split: the number of queries, and the mean judgements per query
    "MSMARCO": {"train": (92_905, 1.0), "dev": (2_839, 1.0), "test": (2_722, 1.0)},
    "NaturalQuestions": {"train": (93_275, 1.0), "dev": (3_610, 1.0), "test": (3_610, 1.2)},
    "MIRACL": {"train": (2_064, 2.8), "dev": (799, 2.7), "test": (799, 2.9)},
    "Genomics": {"test": (62, 121.9)},
    "ConditionalQA": {"train": (1_975, 4.1), "dev": (271, 4.0), "test": (271, 4.3)},
}
# The released code counts RoBERTa's tokens in 1,000 sampled passages. The harness counts words in all texts.
TOKENS = "Wang et al. 2024, table 1, perhaps in tokens"
LENGTHS = {  # the mean lengths of passages, queries and titles
    "MSMARCO": (63.9, 7.2, 7.7),
    "NaturalQuestions": (105.5, 9.9, 4.7),
    "MIRACL": (105.3, 9.1, 5.0),
    "Genomics": (150.5, 14.0, 22.0),
    "ConditionalQA": (15.8, 58.7, 6.2),
}
LENGTH_NAMES = ("passage_words.mean", "query_words.mean", "title_words.mean")
HARD = (
    "its queries are those on which BM25, DRAGON+, SPLADEv2 and ColBERTv2 all had an nDCG@10 of zero, and "
    "whose passages need their document (section 3.1): a score of these systems on it, or of their like, "
    "says nothing about how good they are"
)


class Dapr:
    """One dataset of the benchmark with all queries of one split."""

    def __init__(self, params: DaprParams) -> None:
        self.params = params
        self._release = _release(params)

    def card(self) -> Card:
        dataset, split = self.params.dataset, self.params.split
        notes = (HARD,) if dataset == "nq-hard" else ()
        if self.params.titles == "keyphrases":
            notes = (*notes, "its titles are the authors' keyphrases of each document")
        if read := commits(self.params.path, self._files()):
            notes = (*notes, f"read from {REPOSITORY} at {', '.join(read)}")
        return Card("en", split, None, LICENCES[dataset], CITATION, URL, notes, official(dataset, split))

    def inputs(self, part: Part) -> Inputs:
        """The parameters and files that `part` is keyed by. If queries share a file with judgements, the
        queries are keyed by their content instead of the file."""
        release = self._release
        form = {"form": type(release).__name__.lower(), "hard": self.params.dataset == "nq-hard"}
        if part == "corpus":
            made = {"titles": self.params.titles, "untagged": self._tagged}
            return Inputs({"form": form["form"], **made}, release.corpus)
        if part == "judgements":
            # queries, because a judgement of another query is refused
            return Inputs(form, tuple(dict.fromkeys((*release.judged, *release.asked))))
        if release.queries_apart or self._asked_digest is None:
            return Inputs(form, release.asked)
        return Inputs({"asked": self._asked_digest})

    def fetch(self) -> Iterator[Path]:
        """Download the hub's configurations that hold this dataset and split, and yield their files."""
        if all(path.exists() for path in self._files()):
            return
        hard = self.params.dataset == "nq-hard"
        dataset = "NaturalQuestions" if hard else self.params.dataset
        names = [self.params.text, *(["nq-hard"] if hard else ["queries", "qrels"])]
        if self.params.titles == "keyphrases":
            names.append("keyphrases")
        snapshot(
            REPOSITORY, self.params.path, [*hub_patterns(dataset, names), *(["nq-hard/*"] if hard else [])]
        )
        self._release = _release(self.params)
        yield from dict.fromkeys(self._files())

    def _files(self) -> tuple[Path, ...]:
        return (*self._release.corpus, *self._release.asked, *self._release.judged)

    def rows(self) -> Iterator[pa.RecordBatch]:
        rows = self._release.rows()
        return map(untagged, rows) if self._tagged else rows

    def locate(self, row: int) -> str:
        return self._release.locate(row)

    def documents(self) -> Iterator[Document]:
        return documents_of(self.rows())

    def queries(self) -> Iterator[Query]:
        return iter(merged(self._release.queries()))

    def judgements(self) -> Iterator[Judgement]:
        return iter(highest(self._release.judgements(), self.queries()))

    def locate_judgement(self, query: str, passage: str) -> str:
        for judged in self._release.judgements():
            if (judged.query, judged.passage) == (query, passage):
                return f"{judged.path}:{judged.line}"
        raise LookupError("the release has no such judgement")

    @property
    def _tagged(self) -> bool:
        """Whether the release may have HTML tags, as ConditionalQA's dump has. The authors' loader drops them
        (appendix A)."""
        return self.params.dataset == "ConditionalQA"

    @cached_property
    def _asked_digest(self) -> str | None:
        """The digest of the queries' content, or None while a file of the queries is missing."""
        return digest(self.queries()) if all(path.exists() for path in self._release.asked) else None


def untagged(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The passages without HTML tags, and without the white space around them."""
    place = batch.schema.names.index("text")
    texts = pc.utf8_trim_whitespace(pc.replace_substring_regex(batch.column(place), TAG, ""))
    return batch.set_column(place, batch.schema.field(place), texts)


def official(dataset: str, split: str) -> tuple[Official, ...]:
    """The counts that the paper prints for a split of a dataset."""
    if dataset == "nq-hard":
        return (
            Official(SOURCE, DOCUMENTS["NaturalQuestions"]),
            Official("Wang et al. 2024, section 3.1", {"queries": 479, "judgements": 516}),
        )
    queries, judged = QUERIES[dataset].get(split, (0, 0.0))
    counted = {"queries": queries, "judgements_per_query.mean": judged} if queries else {}
    lengths = dict(zip(LENGTH_NAMES, LENGTHS[dataset], strict=True))
    return (
        Official(SOURCE, {**DOCUMENTS[dataset], **counted}),
        Official(TOKENS, lengths, comparable=False),
    )


def _release(params: DaprParams) -> Hub | Dump:
    """The reader of the dump if its corpus.jsonl exists, otherwise the reader of the hub's configurations,
    whose files may still be missing."""
    hard = params.dataset == "nq-hard"
    dataset = "NaturalQuestions" if hard else params.dataset
    for folder in (params.path, params.path / dataset):
        corpus = first_there([folder / "corpus.jsonl"])
        if corpus.exists():
            if hard or params.text != "corpus" or params.titles != "own":
                wanted = "nq-hard" if hard else "keyphrases" if params.text == "corpus" else params.text
                raise HarnessError(f"{folder}: the dump has no {wanted}; take the hub's files")
            return Dump(corpus, first_there([folder / f"{params.split}.jsonl"]))
    # the hub has the passages in a split "test", whatever the queries' split is
    passages = configuration(params.path, dataset, params.text, "test")
    phrases: tuple[Path, ...] = ()
    if params.titles == "keyphrases":
        phrases = configuration(params.path, dataset, "keyphrases", "test")
    if hard:
        questions = configuration(params.path, dataset, "nq-hard", "test")
        return Hub(passages, questions, questions, phrases, hard=True)
    queries = configuration(params.path, dataset, "queries", params.split)
    qrels = configuration(params.path, dataset, "qrels", params.split)
    return Hub(passages, queries, qrels, phrases, hard=False)
