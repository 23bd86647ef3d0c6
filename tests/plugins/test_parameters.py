"""What the parameters of the methods refuse while a suite is read, with the key at fault."""

from pathlib import Path

import pytest

from harness.catalogue import params
from harness.problems import dotted
from harness_colbert import ColbertParams, RetrieverParams
from harness_crossencoder import CrossEncoderParams
from harness_dense import DenseParams
from harness_fusion import ConvexParams
from harness_lucene import LuceneBM25
from harness_mteb import MtebParams
from harness_sdm import SdmParams

MODEL = {"model": "some/model"}


@pytest.mark.parametrize(("record", "given", "path", "fault"), [
    (ColbertParams, MODEL | {"search": "exact"}, "search", "unknown"),
    (CrossEncoderParams, {}, "", "`models`"),
    (CrossEncoderParams, {"model": "./a", "models": ["./b"]}, "", "`models`"),
    (CrossEncoderParams, {"models": ["./b"], "revisions": ["a", "b"]}, "", "2 for 1"),
    (RetrieverParams, MODEL | {"search": {}}, "search", "'ivf' is missing"),
    (RetrieverParams, MODEL | {"search": "ivf"}, "search", "got 'ivf'"),
    (RetrieverParams, MODEL | {"search": {"ivf": {"probe": 3}}}, "search.ivf.probe", "'probes'?"),
    (RetrieverParams, MODEL | {"search": {"ivf": {"probes": 0}}}, "search.ivf.probes", "at least 1"),
    (RetrieverParams, MODEL | {"search": {"ivf": {"candidates": "all"}}}, "search.ivf.candidates", "got 'all'"),
    (RetrieverParams, MODEL | {"search": {"ivf": {"centroids": -1}}}, "search.ivf.centroids", "at least 0"),
    (DenseParams, MODEL | {"pooling": "average"}, "pooling", "got 'average'"),
    (DenseParams, MODEL | {"similarity": "l2"}, "similarity", "got 'l2'"),
    (DenseParams, MODEL | {"passage_length": 2}, "passage_length", "at least 3"),
    (DenseParams, MODEL | {"normalise": "yes"}, "normalise", "got 'yes'"),
    (DenseParams, MODEL | {"search": "fast"}, "search", "got 'fast'"),
    (DenseParams, MODEL | {"search": {"faiss": "HSNW"}}, "search", "'HSNW'"),
    (DenseParams, MODEL | {"search": {"faiss": "HNSW32", "probe": 3}}, "search.probe", "'probes'?"),
    (ConvexParams, {"weight": 1.5}, "weight", "at most 1"),
    (ConvexParams, {"weights": [0.5, 0.6]}, "", "sum to 1.1"),
    (ConvexParams, {"weights": [1.5, -0.5]}, "", "weights: each"),
    (ConvexParams, {"candidates": "all"}, "candidates", "got 'all'"),
    (LuceneBM25, {"index": "a", "prebuilt": "b"}, "", "'index' and 'prebuilt'"),
    (LuceneBM25, {"index": "a", "title_weight": 1}, "", "'title_weight'"),
    (LuceneBM25, {"rm3": True, "title_weight": 1}, "", "'rm3'"),
    (LuceneBM25, {"k1": -1}, "k1", "at least 0"),
    (MtebParams, {"path": "scifact"}, "", "scifact"),
    (MtebParams, {"path": "./x", "split": "../x"}, "", "'../x'"),
    (MtebParams, {"path": "./x", "language": "eng"}, "", "'eng'"),
    (SdmParams, {"mu": 0.5}, "mu", "at least 1"),
    (SdmParams, {"window": 1}, "window", "at least 2"),
    (SdmParams, {"ordered": -0.1}, "ordered", "at least 0"),
    (SdmParams, {"terms": 0, "ordered": 0, "unordered": 0}, "", "terms, ordered and unordered"),
])  # fmt: skip
def test_a_parameter_that_makes_no_sense_is_refused(record, given, path, fault):
    _, problems = params.convert(record, given, Path("/base"))
    assert [(dotted(problem.path), fault in problem.text) for problem in problems] == [(path, True)], problems
