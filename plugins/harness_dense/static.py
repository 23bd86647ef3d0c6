"""Static embeddings: a vector for each token from a table, whose mean is the vector of a text; without torch.

model2vec leaves unknown tokens out and cuts long texts by letters first; a StaticEmbedding does neither.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from harness.plugin import Floats, HarnessError
from harness.toolkit.neural import model_folder
from harness.toolkit.neural.tokens import Template, Tokeniser, Tokens
from harness_dense.pooling import Network

PLAIN = Template((), (), ())  # no special tokens


def tokeniser(folder: Path) -> Tokeniser:
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise HarnessError(f"model: {folder} has no tokenizer.json; fetch the model again")
    backend = Tokenizer.from_file(str(path))
    backend.no_padding()
    if (model_folder.read(folder / "config.json") or {}).get("model_type") != "model2vec":
        return Tokeniser(
            backend, PLAIN, PLAIN, 0
        )  # truncates if its file says so, as sentence-transformers does
    backend.no_truncation()
    model = json.loads(path.read_bytes())["model"]
    unknown = backend.token_to_id(model["unk_token"]) if model.get("unk_token") else model.get("unk_id")
    letters = int(np.median([len(token) for token in backend.get_vocab()]))
    return Tokeniser(backend, PLAIN, PLAIN, 0, unknown, letters)


def network(folder: Path) -> Network:
    """The vectors of tokens: table[mapping[token]] * weight[token]. Most models have neither mapping nor
    weights."""
    path = folder / "model.safetensors"
    try:
        tensors = load_file(path)
        table = next(tensors[name] for name in ("embedding.weight", "embeddings") if name in tensors)
    except (SafetensorError, OSError, StopIteration) as error:
        raise HarnessError(
            f"model: {path} is no table of static embeddings ({error}); fetch it again"
        ) from error
    mapping, weights = tensors.get("mapping"), tensors.get("weights")

    def states(tokens: Tokens) -> Floats:
        rows = table[tokens.ids if mapping is None else mapping[tokens.ids]].astype(np.float32, copy=False)
        result: Floats = rows if weights is None else rows * weights[tokens.ids, None].astype(np.float32)
        return result

    return states
