"""The backends of `dense` besides torch: exported models, and networks compiled by OpenVINO."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
import tiny_models

from harness import testing
from harness.errors import HarnessError
from harness.types import Facts
from harness_dense import DenseParams, resolve
from harness_dense.retriever import Dense

pytestmark = pytest.mark.extras

TEXTS = ["the castle of the island", "", "winter " * 30, "a painter", "garden stone market"]


def resolved(model, **given):
    return resolve(DenseParams(model=model, **given), Facts("en", "en", "passage"))


def search(params, below, texts=TEXTS):
    """float32[Q, N], from an index in a folder of its own."""
    corpus = testing.texts(texts)
    method, folder = Dense(params), Path(tempfile.mkdtemp(dir=below))
    method.index(corpus, folder)
    hits = method.open(corpus, folder).search(["castle island", ""], len(texts))
    found = np.zeros((2, len(texts)), np.float32)
    np.put_along_axis(found, hits.passages, hits.scores, axis=1)
    return found


class TestOnnx:
    @pytest.fixture(autouse=True)
    def libraries(self):
        pytest.importorskip("onnxruntime")
        pytest.importorskip("tokenizers")

    @pytest.mark.parametrize("file", ["model.onnx", "onnx/model.onnx", "model_quantized.onnx"])
    def test_states_of_an_exported_model_are_pooled_and_compared(self, file, tmp_path):
        from tokenizers import Tokenizer

        folder = tiny_models.onnx(tmp_path / "model", file=file)
        words = tiny_models.random_tensors({"words": (len(tiny_models.VOCABULARY), 32)}, 1)["words"]
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        params = resolved(folder, pooling="mean", normalise=True, similarity="cosine", passage_length=16)

        def vector(text):
            ids = tokenizer.encode(text).ids
            mean = words[ids if len(ids) <= 16 else [*ids[:15], ids[-1]]].mean(axis=0)
            return mean / np.linalg.norm(mean)

        found = search(params, tmp_path)
        expected = (
            np.array([vector(q) for q in ("castle island", "")]) @ np.array([vector(t) for t in TEXTS]).T
        )
        assert found == pytest.approx(expected, abs=1e-5)

    def test_weights_in_a_file_of_their_own_are_found_in_the_hubs_cache_of_links(self, tmp_path):
        plain = tiny_models.onnx(tmp_path / "plain")
        apart = tiny_models.onnx(tmp_path / "apart", file="onnx/model.onnx", apart="model.onnx_data")
        linked, blobs = tmp_path / "linked", tmp_path / "blobs"
        blobs.mkdir()
        for number, path in enumerate(sorted(path for path in apart.rglob("*") if path.is_file())):
            link = linked / path.relative_to(apart)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path.rename(blobs / str(number)))
        found = [search(resolved(at, pooling="mean"), tmp_path).tolist() for at in (plain, linked)]
        assert found[0] == found[1]

    def test_padding_and_truncation_in_the_tokenizers_file_count_for_nothing(self, tmp_path):
        folder = tiny_models.onnx(tmp_path / "model")
        plain = search(resolved(folder, pooling="mean"), tmp_path)
        path = folder / "tokenizer.json"
        settings = json.loads(path.read_text())
        settings["padding"] = {
            "strategy": {"Fixed": 40}, "direction": "Right", "pad_to_multiple_of": None,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
        }  # fmt: skip
        cut = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
        settings["truncation"] = cut
        tiny_models.as_json(path, settings)
        assert search(resolved(folder, pooling="mean"), tmp_path).tolist() == plain.tolist()

    def test_a_text_alone_has_the_same_vector_as_among_others_to_the_last_bit(self, tmp_path):
        folder = tiny_models.onnx(tmp_path / "model")
        params = resolved(folder, pooling="mean")
        together = search(params, tmp_path)
        for i, text in enumerate(TEXTS):
            assert search(params, tmp_path, [text])[:, 0].tolist() == together[:, i].tolist()

    @pytest.mark.parametrize(("make", "fault"), [
        (lambda folder: tiny_models.onnx(folder, pooled=True), "only sentence_embedding"),
        (lambda folder: (tiny_models.onnx(folder) / "model.onnx").write_bytes(b"nothing"), "model.onnx cannot"),
        (tiny_models.sentence_transformer, "none of model.onnx, .*backend: torch"),
    ])  # fmt: skip
    def test_an_export_that_cannot_be_used_is_named(self, tmp_path, make, fault):
        make(tmp_path / "model")
        with pytest.raises(HarnessError, match=fault):
            search(resolved(tmp_path / "model", backend="onnx", pooling="mean"), tmp_path)


class TestOpenVino:
    @pytest.fixture(autouse=True)
    def libraries(self):
        pytest.importorskip("openvino")
        pytest.importorskip("transformers")

    @pytest.mark.parametrize("kind", ["bert", "roberta"])
    def test_scores_equal_those_of_torch(self, kind, tmp_path):
        folder = getattr(tiny_models, kind)(tmp_path / "model")
        both = [
            search(resolved(folder, pooling="mean", backend=backend, dtype="fp32"), tmp_path)
            for backend in ("torch", "openvino")
        ]
        assert both[1] == pytest.approx(both[0], abs=1e-4)

    def test_the_head_of_an_original_checkpoint_is_kept(self, tmp_path):
        head = {
            "embeddingHead.weight": (24, 32), "embeddingHead.bias": (24,),
            "norm.weight": (24,), "norm.bias": (24,),
        }  # fmt: skip
        folder = tiny_models.roberta(tmp_path / "model", prefix="roberta.", pooler=False, more=head)
        both = [
            search(resolved(folder, backend=backend, dtype="fp32"), tmp_path)
            for backend in ("torch", "openvino")
        ]
        assert both[1] == pytest.approx(both[0], abs=1e-4)

    def test_fp16_is_refused(self, tmp_path):
        folder = tiny_models.sentence_transformer(tmp_path / "model")
        with pytest.raises(HarnessError, match="fp16 needs a GPU"):
            resolved(folder, backend="openvino", dtype="fp16")
