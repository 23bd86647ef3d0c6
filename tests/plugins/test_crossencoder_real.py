"""A real cross-encoder, exported and quantised, reads a question and passages."""

import os
from pathlib import Path

import numpy as np
import pytest

from harness import testing
from harness.types import Facts
from harness_crossencoder import CrossEncoderParams, resolve
from harness_crossencoder.scorer import CrossEncoder

pytestmark = [pytest.mark.real]
QUERY = "How many people live in Berlin?"
TEXTS = [
    "Berlin has a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
    "New York City is famous for the Metropolitan Museum of Art.",
    "Berlin is well known for its museums.",
]


@pytest.fixture
def folder():
    if "HARNESS_REAL_MODELS" not in os.environ:
        pytest.skip("HARNESS_REAL_MODELS names no folder")
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    return Path(os.environ["HARNESS_REAL_MODELS"]) / "ms-marco-minilm-l12-v2-int8"


def test_the_passage_that_answers_is_far_above_the_others(folder):
    params = resolve(CrossEncoderParams(folder), Facts("en", "en", "passage"))
    assert (params.kind, params.length, params.backend) == ("classifier", 512, "onnx")
    scorer = CrossEncoder(params).open(testing.texts(TEXTS), None)
    [computed] = scorer.score([QUERY], np.array([[0, 1, 2]]))
    # the model card of its smaller sister gives 8.6 and -4.3 for the first two
    assert computed[0] > 6
    assert computed[1] < -4
    assert computed[2] < computed[0] - 3
