"""The analysis `compression`: which systems are forms of one retriever, and what it says of their losses."""

from types import SimpleNamespace

import numpy as np
import pytest

from harness.compare.stats import paired
from harness.plugin import Column, Hits
from harness.scoring.score import Scored
from harness.toolkit.scoring import differences, interval
from harness_analyses import CompressionParams
from harness_analyses.compression import Compression

Q, MAIN = 60, Column("nDCG@10")
VALUES = np.random.default_rng(1).uniform(0.2, 0.8, Q)


def scored(values):
    return Scored(MAIN, np.asarray(values, float), np.ones(len(values)), "mean")


def system(name, values, size, hits=range(5), **params):
    """A dense system whose scores are `values`, with the bytes that its index takes for a text."""
    facts = {} if size is None else {"bytes_a_text": size}
    reported = [{"step": "index", "method": "dense", "facts": facts}]
    passages = np.tile(np.array(hits), (Q, 1))
    return SimpleNamespace(
        name=name, unit="passage", stages=(), reported=reported, search={"model": "m", "stored": "fp32", **params},
        hits=Hits(passages, np.zeros(passages.shape, np.float32), "passage"), values=values,
    )  # fmt: skip


def findings(*systems):
    def scores(hits, columns):
        [values] = [each.values for each in systems if each.hits is hits]
        return SimpleNamespace(columns=[scored(values)])

    data = SimpleNamespace(systems=systems, columns=(MAIN,), scores=scores)
    return {finding.name: finding for finding in Compression(CompressionParams()).analyse(data)}


def test_forms_of_one_retriever_are_compared_with_the_largest_and_each_loss_is_named():
    noise = np.random.default_rng(2).normal(0, 0.1, Q)
    found = findings(
        system("small", VALUES, 100, stored="int8"),
        system("full", VALUES, 400),
        system("worse", VALUES - 0.1 - noise / 4, 20, [9, 1, 7, 3, 8], stored="binary"),
        system("unsure", VALUES + noise, 50, stored="binary", dimensions=4),
        system("another model", VALUES, 10, model="n"),
        system("no bytes", VALUES, None),
    )
    assert list(found) == ["compression/full", "compression-1/full", "compression-2/full"]
    rows = {row[0]: row for row in found["compression/full"].rows}
    assert list(rows) == ["small", "unsure", "worse"]
    assert rows["small"][2:] == (100, 4, 0, 0, 0, 1, 0, "loses less than 0.01, if anything")
    assert (rows["unsure"][-1], rows["worse"][-1]) == ("not shown to differ", "loses")
    assert rows["worse"][4] == pytest.approx(-0.1, abs=0.02)
    assert rows["worse"][8] > -rows["worse"][5] > 0.1  # the interval for all at once is the wider one
    nearest = found["compression-2/full"]
    assert [row[:4] for row in nearest.rows if row[0] == "worse"] == [("worse", "stored=binary", 20, 0.4)]
    assert {"low", "high"} <= {*nearest.columns}


def test_a_difference_is_that_of_the_means_and_its_interval_holds_as_a_t_test_does():
    other = VALUES + np.random.default_rng(3).normal(0.02, 0.05, Q)
    [[alone]] = differences([[scored(VALUES), scored(other)]])
    assert alone.difference == pytest.approx((other - VALUES).mean())
    assert alone.p == pytest.approx(paired.t_test(other - VALUES).p, abs=0.01)
    assert alone.low == pytest.approx(alone.least, abs=0.002)
    assert interval(scored(VALUES)).mean == pytest.approx(VALUES.mean(), abs=1e-6)
    two = differences([[scored(VALUES), scored(other)]] * 2)
    assert two[0][0].p == pytest.approx(alone.p)  # the same test twice needs no correction


def test_a_lone_form_and_a_system_that_is_no_retriever_give_nothing():
    fused = system("fused", VALUES, 4)
    fused.search = None
    assert findings(system("full", VALUES, 400), fused) == {}
