"""Static embeddings, as model2vec and sentence-transformers compute them, without torch."""

import subprocess
import sys

import numpy as np
import pytest
import tiny_models

from harness import testing
from harness.errors import HarnessError
from harness.types import Facts
from harness_dense import DenseParams, Late, resolve

save = pytest.importorskip("safetensors.numpy").save_file
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.extras

TEXTS = ["The castle, of the island.", "river " * 600, "☃ 北京 ☃", "☃", "", "railways ☃ " * 90]
SIZE = len(tiny_models.VOCABULARY)
CHANCE = np.random.default_rng(3)
TABLE = CHANCE.standard_normal((SIZE, 8)).astype(np.float32)
CLUSTERS = {  # a smaller table, as model2vec writes it
    "embeddings": TABLE[:9],
    "mapping": CHANCE.integers(0, 9, SIZE),
    "weights": CHANCE.random(SIZE),
}


def model2vec(folder, tensors, **config):
    tiny_models.wordpiece(folder)
    tiny_models.as_json(folder / "config.json", {"model_type": "model2vec", "hidden_dim": 8, **config})
    save(tensors, folder / "model.safetensors")
    return folder


def modules(folder, at):
    kinds = {"0_StaticEmbedding": "StaticEmbedding", "1_Normalize": "Normalize"}
    named = [{"path": path, "type": f"{at}.{kind}"} for path, kind in kinds.items()]
    tiny_models.as_json(folder / "modules.json", named)
    tiny_models.wordpiece(folder / "0_StaticEmbedding")
    save({"embedding.weight": TABLE}, folder / "0_StaticEmbedding" / "model.safetensors")
    return folder


def vectors(folder, texts, **given):
    from harness_dense.retriever import Dense

    params = resolve(DenseParams(model=folder, **given), Facts("en", "en", "passage"))
    assert (params.backend, params.dtype, params.stored) == ("numpy", "fp32", "fp32")
    return Dense(params).encode(texts, queries=False)


def expected(folder, tensors, texts, most, unknown):
    """The mean of the rows of each text's tokens, written as the formula is."""
    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    letters = int(np.median([len(token) for token in backend.get_vocab()]))
    rows = tensors.get("embeddings", TABLE)[tensors.get("mapping", np.arange(SIZE))]
    rows = rows * tensors.get("weights", np.ones(SIZE))[:, None]
    result = np.zeros((len(texts), rows.shape[1]))
    for i, text in enumerate(texts):
        ids = backend.encode(text[: most and most * letters], add_special_tokens=False).ids[:most]
        ids = [token for token in ids if token != unknown]
        result[i] = rows[ids].mean(axis=0) if ids else 0
    return result / np.maximum(np.linalg.norm(result, axis=1, keepdims=True), 1e-12)


@pytest.mark.parametrize("tensors", [{"embeddings": TABLE}, CLUSTERS], ids=["plain", "mapped"])
@pytest.mark.parametrize("most", [None, 40])
def test_a_model2vec_folder_gives_the_mean_of_its_known_tokens(tmp_path, tensors, most):
    folder = model2vec(tmp_path, tensors, **({} if most is None else {"max_length": most}))
    unknown = tiny_models.VOCABULARY.index("[UNK]")
    found = vectors(folder, TEXTS)
    np.testing.assert_allclose(found, expected(folder, tensors, TEXTS, most or 512, unknown), atol=2e-6)


@pytest.mark.parametrize(
    "at", ["sentence_transformers.models", "sentence_transformers.sentence_transformer.modules"]
)
def test_static_modules_give_the_mean_of_all_tokens(tmp_path, at):
    """test_peers.py has sentence-transformers beside it."""
    folder = modules(tmp_path, at)
    wanted = expected(folder / "0_StaticEmbedding", {}, TEXTS, None, None)
    np.testing.assert_allclose(vectors(folder, TEXTS), wanted, atol=2e-6)


def test_the_index_counts_what_is_cut(tmp_path):
    from harness_dense.retriever import Dense

    folder = model2vec(tmp_path / "model", {"embeddings": TABLE}, max_length=40)
    dense = Dense(resolve(DenseParams(model=folder), Facts("en", "en", "passage")))
    (tmp_path / "index").mkdir()
    facts = dense.index(testing.texts(TEXTS), tmp_path / "index")
    assert (facts["dimension"], facts["backend"], facts["texts_cut"]) == (8, "numpy", 2)


def test_nothing_heavy_is_imported(tmp_path):
    model2vec(tmp_path, {"embeddings": TABLE})
    code = (
        "import sys; from pathlib import Path; from harness.types import Facts; import harness_dense as d; "
        "from harness_dense.retriever import Dense; "
        f"p = d.resolve(d.DenseParams(model=Path({str(tmp_path)!r})), Facts('en', 'en', 'passage')); "
        "assert Dense(p).encode(['the castle'], True).any(); assert not d.missing_files(p); "
        "assert not {'torch', 'transformers'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize(
    ("static", "given", "fault"),
    [
        (
            True,
            {"backend": "torch"},
            "backend: numpy runs static embeddings, and nothing else does; not torch",
        ),
        (True, {"late": Late()}, "late: static embeddings read every token alone; leave it out"),
        (True, {"dtype": "bf16"}, "dtype: numpy computes in fp32, not in bf16"),
        (False, {"backend": "numpy"}, "backend: numpy runs static embeddings, and nothing else does"),
    ],
)
def test_a_setting_that_does_not_fit_the_model_is_refused(tmp_path, static, given, fault):
    folder = model2vec(tmp_path, CLUSTERS) if static else tiny_models.sentence_transformer(tmp_path)
    with pytest.raises(HarnessError, match=fault):
        resolve(DenseParams(model=folder, **given), Facts("en", "en", "passage"))
