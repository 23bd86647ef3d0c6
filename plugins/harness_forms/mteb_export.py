"""Writes the task results of MTEB: results/MODEL/REVISION/TASK.json, in the form that MTEB's loader reads."""

from __future__ import annotations

from pathlib import Path

import orjson

from harness.toolkit.boards import Dataset, Leaderboard, Row
from harness.toolkit.boards.exchange import digest_of
from harness.toolkit.boards.stored import Store
from harness_forms.measure_names import mteb
from harness_forms.written_files import Written, put, scored, target

MAIN = "ndcg_at_10"  # the main score of MTEB's retrieval tasks
UNKNOWN = "und-Zyyy"  # MTEB's loader ignores scores without a language
# ISO 639-1 -> ISO 639-3 and script, as MTEB writes them
LANGUAGES = {
    "ar": "ara-Arab", "de": "deu-Latn", "en": "eng-Latn", "es": "spa-Latn", "fr": "fra-Latn",
    "hi": "hin-Deva", "it": "ita-Latn", "ja": "jpn-Jpan", "ko": "kor-Hang", "nl": "nld-Latn",
    "pl": "pol-Latn", "pt": "por-Latn", "ru": "rus-Cyrl", "zh": "cmn-Hans",
}  # fmt: skip


def write(board: Leaderboard, out: Path, store: Store) -> Written:
    """Writes one file for each row: the system is the model, its fingerprint the revision, the dataset the
    task. A row without a column that MTEB reports is left out."""
    notes: list[str] = []
    paths = []
    for row in scored(board, notes):
        scores = _scores(board, row)
        if not scores:
            notes.append(f"{row.name}: has no column that MTEB reports, and is left out")
            continue
        dataset = board.dataset(row.dataset)
        result = {
            "dataset_revision": digest_of(dataset.contents or dataset.digests),
            "task_name": row.dataset,
            "mteb_version": None,  # MTEB did not compute it
            "scores": {row.split: [{"hf_subset": "default", "languages": _languages(dataset), **scores}]},
            "evaluation_time": row.cost.seconds,
            "kg_co2_emissions": None,
        }
        revision = (row.provenance.fingerprint or "no_revision_available")[:40]
        model = {"name": row.system, "revision": revision}
        for name, content in ((f"{row.dataset}.json", result), ("model_meta.json", model)):
            path = target(out, "results", row.system, revision, name)
            paths.append(put(path, orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n"))
    return Written(tuple(paths), tuple(notes))


def _scores(board: Leaderboard, row: Row) -> dict[str, float]:
    """The means of the row's passage columns under the names of MTEB. The main score is nDCG@10, or else the
    first column."""
    scores: dict[str, float] = {}
    for column in board.data.columns:
        named = mteb(column.measure) if column.unit == "passage" else None
        if named is not None and column.label in row.measures:
            scores[named] = row.measures[column.label].mean
    return {"main_score": scores.get(MAIN, next(iter(scores.values()))), **scores} if scores else {}


def _languages(dataset: Dataset) -> list[str]:
    codes = dict.fromkeys((dataset.query_language, dataset.language))
    return [LANGUAGES[code] for code in codes if code in LANGUAGES] or [UNKNOWN]
