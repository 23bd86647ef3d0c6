"""Networks beyond 512 tokens: the states of a text do not depend on the texts that are read with it."""

from importlib.util import find_spec

import numpy as np
import pytest
import tiny_models
from standins import models as standins

from harness.errors import HarnessError
from harness.toolkit.neural import encoder_folder, tokens
from harness.types import Facts
from harness_dense import DenseParams, resolve

pytestmark = pytest.mark.extras

LENGTHS = (65, 700, 129, 3, 1300)  # ModernBERT's window of 64 tokens each way ends within all but one
HUB_CODE = {"AutoModel": "org/code--modeling.Model"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "nomic-ai/modernbert-embed-base",
        "nomic-ai/nomic-embed-text-v1.5",
        "Snowflake/snowflake-arctic-embed-m-v2.0",
        "google/embeddinggemma-300m",
    ],
)
def test_padding_changes_no_state(name, tmp_path):
    pytest.importorskip("transformers")
    from harness.toolkit.neural import checkpoints, torch_encoder

    folder = standins.make(name, tmp_path)
    tokeniser = tokens.load(folder)
    states = torch_encoder.encoders(checkpoints.load(folder), tokeniser.padding)[0]
    texts = ["castle island, river? " * 400] * len(LENGTHS)
    read = tokens.joined(
        [tokens.tokenise(tokeniser, [text], length)[0] for text, length in zip(texts, LENGTHS, strict=True)]
    )
    assert np.diff(read.bounds).tolist() == list(LENGTHS)
    together = states(read).numpy()
    for i, (start, end) in enumerate(zip(read.bounds[:-1], read.bounds[1:], strict=True)):
        alone = states(tokens.select(read, np.array([i]))).numpy()
        np.testing.assert_allclose(together[start:end], alone, atol=1e-5 * np.abs(alone).max())


@pytest.mark.skipif(find_spec("transformers") is None, reason="only transformers knows other networks")
@pytest.mark.parametrize(
    ("config", "refused"),
    [
        (
            {"model_type": "xlm-roberta", "position_embedding_type": "rotary", "auto_map": HUB_CODE},
            True,
        ),  # Jina v3
        ({"model_type": "nomic_bert", "n_embd": 32, "n_positions": 8192, "auto_map": HUB_CODE}, False),
        ({"model_type": "nomic_bert", "n_embd": 32, "rotary_scaling_factor": 2, "auto_map": HUB_CODE}, True),
        ({"model_type": "gte", "hidden_size": 32, "auto_map": HUB_CODE}, False),
        ({"model_type": "new", "auto_map": HUB_CODE}, True),
    ],
)
def test_code_of_the_hub_is_refused_where_transformers_has_not_the_same_network(tmp_path, config, refused):
    tiny_models.as_json(tmp_path / "config.json", config)
    tiny_models.wordpiece(tmp_path)
    params = DenseParams(model=tmp_path, pooling="mean", passage_length=99, query_length=99)
    if refused:
        with pytest.raises(HarnessError, match="runs code of its own"):
            resolve(params, Facts("en", "en", "passage"))
    else:
        resolve(params, Facts("en", "en", "passage"))
        assert encoder_folder.read(tmp_path).dimension == 32
