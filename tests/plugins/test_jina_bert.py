"""Jina's embeddings 2 need no code from the hub, and have the vectors that the authors' code gives."""

import numpy as np
import pytest
import tiny_models

from harness import testing
from harness.errors import HarnessError
from harness.toolkit.neural.tokens import Tokens, select

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from harness.toolkit.neural import checkpoints, jina_bert, torch_encoder  # noqa: E402
from harness_dense import DenseParams  # noqa: E402
from harness_dense.resolving import missing_files, resolved  # noqa: E402
from harness_dense.retriever import Dense  # noqa: E402

pytestmark = pytest.mark.extras

VOCABULARY = len(tiny_models.VOCABULARY) - len(tiny_models.CHINESE) + 10  # as the weights of the facts had it
LENGTHS = (3, 600, 1, 40, 40)  # tokens of each text
# the first four numbers of each text's mean vector, by the authors' code with transformers 4.40.2 on the same
# weights and tokens, all in one padded batch (docs/models.md says which code)
PUBLISHED = {
    (6, "geglu"): [
        [-0.496910, 2.068957, -0.111491, -0.304187],
        [0.778849, 0.103565, -1.227608, 0.686789],
        [0.438999, -1.148570, -0.230789, 0.073618],
        [0.694706, 0.478289, -1.095009, 0.787975],
        [0.311029, -0.016769, -1.317020, 0.655524],
    ],
    (4, "reglu"): [
        [-0.107996, 1.362613, -0.943662, -0.768463],
        [-0.992530, 1.440081, -0.601786, -0.918769],
        [-1.281096, 0.984992, -0.267371, -0.523966],
        [-1.302712, 1.518496, -0.985803, -0.985752],
        [-0.794422, 1.461645, -1.153556, -1.203089],
    ],
}


def tokens():
    ids = [(7 * i + 3 * text) % VOCABULARY for text, n in enumerate(LENGTHS) for i in range(n)]
    return Tokens(np.array(ids, np.int32), np.cumsum([0, *LENGTHS]))


def vectors(folder, given, dtype="fp32"):
    (states,) = torch_encoder.encoders(checkpoints.load(folder, dtype=dtype), padding=0)
    parts = states(given).float().numpy()
    return np.array([parts[a:b].mean(0) for a, b in zip(given.bounds[:-1], given.bounds[1:], strict=True)])


@pytest.mark.parametrize(("heads", "gate"), PUBLISHED)
def test_its_vectors_are_those_of_the_published_code(heads, gate, tmp_path):
    folder = tiny_models.jina(tmp_path, heads=heads, feed_forward_type=gate, vocab_size=VOCABULARY)
    together = vectors(folder, tokens())
    np.testing.assert_allclose(together[:, :4], PUBLISHED[heads, gate], atol=1e-5)
    alone = [vectors(folder, select(tokens(), np.array([text])))[0] for text in range(len(LENGTHS))]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(vectors(folder, tokens(), "bf16"), together, atol=0.1)


def test_a_gpu_that_holds_a_part_of_the_biases_computes_the_same(monkeypatch):
    torch.manual_seed(1)
    q, k, v = torch.randn(3, 2, 4, 50, 8)
    biases = jina_bert.biases(4, 50, q.device)
    whole = jina_bert.attention(q, k, v, biases)
    monkeypatch.setattr(jina_bert, "BIASES", 4 * 50 * 7)  # seven queries at a time
    torch.testing.assert_close(jina_bert.in_parts(q.flip(2), k, v, biases).flip(2), whole)
    distance = (torch.arange(50)[:, None] - torch.arange(50)).abs()
    scores = q @ k.transpose(2, 3) / 8**0.5 - torch.tensor(jina_bert.slopes(4))[:, None, None] * distance
    torch.testing.assert_close(whole, scores.softmax(-1) @ v)


def test_the_short_name_needs_no_trust_and_reads_long_texts(tmp_path):
    folder = tiny_models.jina(tmp_path / "model")
    params = resolved(DenseParams(model=folder, settings="jina-v2-base-en", dtype="fp32", device="cpu"))
    assert (params.pooling, params.passage_length, params.code_revision) == ("mean", 8192, None)
    assert missing_files(params) == []
    assert resolved(DenseParams(model=folder, settings="jina-v2-base-en", trust_remote_code=True)).pooling
    texts = testing.texts(["castle " * 700, "river"])
    method = Dense(params)
    assert method.index(texts, tmp_path)["texts_cut"] == 0
    assert method.open(texts, tmp_path).search(["castle " * 700], 2).scores[0, 0] == pytest.approx(1)


def test_the_form_with_norms_of_queries_and_keys_is_code_of_its_own(tmp_path):
    code = {"AutoModel": "jinaai/jina-bert-v2-qk-post-norm--modeling_bert.JinaBertModel"}
    with pytest.raises(HarnessError, match="trust_remote_code"):
        resolved(DenseParams(model=tiny_models.jina(tmp_path, auto_map=code), settings="jina-v2-base-en"))
