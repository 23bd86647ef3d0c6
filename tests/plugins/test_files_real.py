"""The real collections are read as they are: counts, and the same documents as a plain reading gives."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from harness.collection.corpus import Corpus, write
from harness.collection.queries import read_judgements, write_judgements
from harness_files.params import FilesParams
from harness_files.source import Files

pytestmark = pytest.mark.real
COUNTS = {  # documents, passages, queries, judgements
    "scifact": (5183, 5183, 300, 339),
    "xquad-en": (48, 240, 1187, 1187),
    "xquad-zh": (48, 240, 1181, 1181),
    "xquad-en2zh": (48, 240, 1187, 1187),
    "condqa-lite-59": (59, 2209, 271, 1165),
    "condqa-lite-all": (495, 8862, 271, 1165),
    "dureader2-demo": (1376, 10430, 194, 194),
}


@pytest.fixture
def data() -> Path:
    if "HARNESS_REAL_DATA" not in os.environ:
        pytest.skip("HARNESS_REAL_DATA does not name the folder of the real collections")
    return Path(os.environ["HARNESS_REAL_DATA"])


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_a_real_collection_is_read_whole(data, tmp_path, name):
    source = Files(FilesParams(path=data / name))
    counts = write(source, tmp_path, lambda done, total: None)
    judged = write_judgements(source.judgements(), tmp_path)["judgements"]
    assert (counts["documents"], counts["passages"], len(list(source.queries())), judged) == COUNTS[name]
    corpus, judgements = Corpus(tmp_path), read_judgements(tmp_path)
    assert (corpus.positions(judgements.passage_ids) >= 0).all()
    plain = [json.loads(line) for line in (data / name / "corpus.jsonl").read_bytes().split(b"\n") if line]
    everything = np.arange(corpus.passages)
    assert corpus.ids(everything) == [row["_id"] for row in plain]
    assert corpus.texts(everything) == [row["text"] for row in plain]
    assert corpus.titles(corpus.document_of) == [row["title"] for row in plain]
    owners = [row.get("doc_id", row["_id"]) for row in plain]
    assert corpus.document_ids(corpus.document_of) == owners


def test_real_trec_qrels_are_read(data, tmp_path):
    values = FilesParams(corpus=tmp_path, queries=tmp_path, qrels=data / "dl-hard" / "passage.qrels")
    counts = write_judgements(Files(values).judgements(), tmp_path)
    assert (counts["judged_queries"], counts["judgements"]) == (50, 4256)
