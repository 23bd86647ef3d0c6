"""The engines of the benchmark: each is loaded from a model's folder and turns texts into unit vectors."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from harness.toolkit.neural import checkpoints, tokens, torch_encoder
from harness.toolkit.neural.encoding import loop, vectors
from harness.types import Batch

Engine = Callable[[list[str]], np.ndarray]
PEERS_BATCH = 32  # the default of sentence-transformers


class Listed:
    """A list of texts with the interface of a corpus."""

    def __init__(self, texts):
        self.texts = texts

    def __len__(self):
        return len(self.texts)

    def batches(self, size=8192, start=0, stop=None):
        stop = len(self) if stop is None else min(stop, len(self))
        for first in range(start, stop, size):
            some = self.texts[first : min(first + size, stop)]
            yield Batch(np.arange(first, first + len(some)), some, [""] * len(some))

    def progress(self, done):
        pass


def mean_pooled(states, batch):
    """float32[n, d]: the mean of each text's states, scaled to length 1."""
    vectors = states(batch)
    vectors = vectors.float().numpy() if isinstance(vectors, torch.Tensor) else vectors
    return _unit(np.add.reduceat(vectors, batch.bounds[:-1]) / np.diff(batch.bounds)[:, None])


def ours(dtype, backend="torch"):
    """Our engine: the whole loop from texts to tokens to vectors on disk."""

    def load(folder, beside, length):
        tokeniser, dimension = tokens.load(folder), 0
        if backend == "openvino":
            from harness_dense import openvino_encoder

            encoders = openvino_encoder.encoders(checkpoints.load(folder), tokeniser.padding, dtype)
        else:
            encoders = torch_encoder.encoders(checkpoints.load(folder, dtype=dtype), tokeniser.padding)
        forwards = [lambda batch, states=states: mean_pooled(states, batch) for states in encoders]
        dimension = forwards[0](tokens.tokenise(tokeniser, ["a"], length)[0]).shape[1]

        def encode(texts):
            with tempfile.TemporaryDirectory(dir=beside) as out:
                loop.encode(
                    Listed(texts),
                    Path(out),
                    lambda batch: tokens.tokenise(tokeniser, batch.texts, length),
                    forwards,
                    vectors.writer(Path(out), len(texts), dimension),
                )
                return np.array(vectors.read(Path(out)).rows)

        return encode

    return load


def sentence_transformers(dtype=None):
    def load(folder, beside, length):
        from sentence_transformers import SentenceTransformer

        given = {} if dtype is None else {"model_kwargs": {"dtype": dtype}}
        with checkpoints.quiet():
            model = SentenceTransformer(str(folder), device="cpu", **given)
        model.max_seq_length = length
        return lambda texts: (
            model.encode(texts, convert_to_tensor=True, normalize_embeddings=True, show_progress_bar=False)
            .float()
            .numpy()
        )

    return load


def openvino(precision, hint):
    """OpenVINO with the model and its pooling converted. It takes one request at a time or several, and texts
    sorted by length."""

    def load(folder, beside, length):
        import openvino as ov

        example = torch.ones(2, 8, dtype=torch.long)
        with checkpoints.quiet(), torch.no_grad():
            network = ov.convert_model(Pooled(folder), example_input=(example, example))
        settings = {"INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": hint}
        compiled = ov.Core().compile_model(network, "CPU", settings)
        tokeniser = tokens.load(folder)

        def encode(texts):
            jobs, rows = ov.AsyncInferQueue(compiled), [None] * len(texts)

            def keep(request, places):
                for place, row in zip(places, request.get_output_tensor(0).data.copy(), strict=True):
                    rows[place] = row

            jobs.set_callback(keep)
            for places, ids, mask in sorted_batches(tokeniser, texts, length):
                jobs.start_async({0: ids, 1: mask}, places)
            jobs.wait_all()
            return _unit(np.stack(rows))

        return encode

    return load


def onnx_runtime(int8):
    """ONNX Runtime with the model and its pooling exported. It uses all cores for a batch, and texts sorted
    by length."""

    def load(folder, beside, length):
        import onnxruntime

        path, n, width = beside / "model.onnx", torch.export.Dim("n"), torch.export.Dim("width")
        if not path.exists():
            given = (torch.ones(2, 8, dtype=torch.long), torch.ones(2, 8, dtype=torch.long))
            shapes = {"ids": {0: n, 1: width}, "mask": {0: n, 1: width}}
            torch.onnx.export(Pooled(folder), given, path, dynamic_shapes=shapes, verbose=False)
        if int8:
            from onnxruntime.quantization import QuantType, quantize_dynamic

            quantize_dynamic(path, path := beside / "int8.onnx", weight_type=QuantType.QInt8)
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        names = [given.name for given in session.get_inputs()]
        tokeniser = tokens.load(folder)

        def encode(texts):
            vectors_of_texts = [None] * len(texts)
            for places, *given in sorted_batches(tokeniser, texts, length):
                rows = session.run(None, dict(zip(names, given, strict=True)))[0]
                for place, row in zip(places, rows, strict=True):
                    vectors_of_texts[place] = row
            return _unit(np.stack(vectors_of_texts))

        return encode

    return load


class Pooled(torch.nn.Module):
    """An encoder that returns the mean of its states, as peers export it."""

    def __init__(self, folder):
        super().__init__()
        self.model = checkpoints.load(folder, attn_implementation="eager")

    def forward(self, ids, mask):
        states = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).float()
        return (states * weights).sum(1) / weights.sum(1)


def sorted_batches(tokeniser, texts, length):
    """Batches (places, ids, mask) of 32 texts of nearly the same length."""
    every, _ = tokens.tokenise(tokeniser, texts, length)
    order = np.argsort(-np.diff(every.bounds), kind="stable")
    for first in range(0, len(texts), PEERS_BATCH):
        places = order[first : first + PEERS_BATCH]
        ids, mask, _ = tokens.padded(tokens.select(every, places), tokeniser.padding)
        yield places, ids, mask


def chunked(encode, texts, size=32):
    """The vectors of the texts, encoded `size` at a time, for an engine that holds all of its input in
    memory."""
    return np.concatenate([encode(texts[first : first + size]) for first in range(0, len(texts), size)])


def _unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


ENGINES = {
    "ours": ours("bf16"),
    "ours, OpenVINO": ours("bf16", "openvino"),
    "ours, fp32": ours("fp32"),
    "sentence-transformers": sentence_transformers(),
    "sentence-transformers, bf16": sentence_transformers(torch.bfloat16),
    "OpenVINO, bf16, one stream": openvino("bf16", "LATENCY"),
    "OpenVINO, bf16, streams": openvino("bf16", "THROUGHPUT"),
    "OpenVINO, fp32": openvino("f32", "THROUGHPUT"),
    "ONNX Runtime, fp32": onnx_runtime(False),
    "ONNX Runtime, int8": onnx_runtime(True),
}
