"""Real runs of DL-HARD: equal to the authors' own trec_eval output, value by value."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from harness.collection.judgements import Judged
from harness.records import Column
from harness.scoring import ranking
from harness.scoring.run_files import read_run
from harness.scoring.score import score

pytestmark = pytest.mark.real
CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
COLUMNS = {  # trec_eval's name -> ours, at relevance level 2 as the collection is scored
    "num_ret": "NumRet",
    "num_rel": "NumRel(rel=2)",
    "num_rel_ret": "NumRet(rel=2)",
    "map": "AP(rel=2)",
    "Rprec": "Rprec(rel=2)",
    "bpref": "Bpref(rel=2)",
    "recip_rank": "RR(rel=2)",
    "infAP": "infAP(rel=2)",
    "ndcg": "nDCG",
    "set_P": "SetP(rel=2)",
    "set_relative_P": "SetP(rel=2,relative=True)",
    "set_recall": "SetR(rel=2)",
    "set_map": "SetAP(rel=2)",
    "set_F": "SetF(rel=2)",
    **{f"iprec_at_recall_{i / 10:.2f}": f"IPrec(rel=2)@{i / 10}" for i in range(11)},
    **{f"success_{k}": f"Success(rel=2)@{k}" for k in (1, 5, 10)},
    **{f"P_{k}": f"P(rel=2)@{k}" for k in CUTS},
    **{f"recall_{k}": f"R(rel=2)@{k}" for k in CUTS},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in CUTS},
    **{f"map_cut_{k}": f"AP(rel=2)@{k}" for k in CUTS},
}


@pytest.fixture(scope="module")
def folder():
    if "HARNESS_REAL_DATA" not in os.environ:
        pytest.skip("HARNESS_REAL_DATA does not name the folder of the real collections")
    return Path(os.environ["HARNESS_REAL_DATA"]) / "dl-hard"


@pytest.mark.parametrize("system", ["bm25", "bm25+bert-zs", "bm25+t5-zs"])
def test_every_value_is_the_authors_own(folder, system):
    run = read_run(folder / f"{system}.run.gz")
    size = len(run.passage_ids)
    hits = ranking.canonical(run.hits, size=size, rank_of_id=ranking.ranks_of(run.passage_ids), depth=1000)
    scores = score(hits, judged_of(folder, run), [Column(name) for name in COLUMNS.values()], size=size)
    ours = {scored.column.measure: scored for scored in scores.columns}
    theirs, means = published(folder / f"{system}.eval.gz")
    compared = 0
    for name, column in COLUMNS.items():
        values = ours[column].values
        for number, value in zip(scores.queries.tolist(), values.tolist(), strict=True):
            published_value = theirs[run.query_ids[number]].get(name)
            if published_value is not None:
                assert f"{value:.4f}" == f"{published_value:.4f}", (name, run.query_ids[number])
                compared += 1
        if name == "num_rel":  # the authors' total counts level 1, though its parts count level 2
            assert means[name] == np.count_nonzero(judged_of(folder, run).grade >= 1)
            continue
        mean = values.sum() if ours[column].average == "sum" else values.mean()
        assert f"{mean:.4f}" == f"{means[name]:.4f}", name
    assert compared == len(theirs) * len(COLUMNS)
    assert len(theirs) == scores.facts.queries == 50


def judged_of(folder, run):
    queries = {name: number for number, name in enumerate(run.query_ids)}
    passages = {name: number for number, name in enumerate(run.passage_ids)}
    rows = [line.split() for line in (folder / "passage.qrels").read_text().splitlines()]
    return Judged(
        np.array([queries[row[0]] for row in rows], np.int32),
        np.array([passages.setdefault(row[2], len(passages)) for row in rows], np.int64),
        np.array([int(row[3]) for row in rows], np.int32),
    )


def published(path):
    """Query -> name -> value, and name -> what trec_eval prints for all."""
    found = {}
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        name, query, value = line.split()
        if name not in ("runid", "relstring"):
            found.setdefault(query, {})[name] = float(value)
    means = found.pop("all")
    return found, means
