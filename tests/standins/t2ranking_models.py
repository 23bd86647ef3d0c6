"""T2Ranking's checkpoints in the form in which its authors publish them, tiny, with seeded weights: a pickle of
torch with the tensors of two encoders (`lm_q`, `lm_p`), or of a cross-encoder (`lm`).

`t2ranking_facts.json` says what the authors' code (src/modeling.py) computes from these files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

NAMES = {
    "DE1": "dual-encoder-trained-with-bm25-negatives.p",
    "DE2": "dual-encoder-trained-with-hard-negatives.p",
    "CE": "cross-encoder.p",
}


def release(data: Path, name: str, shapes: dict[str, tuple[int, ...]], module: str = "") -> Path:
    """Writes a checkpoint into the `data` folder of the dataset. `shapes` are those of the base model's tensors by
    their names; `module` is what a network trained on several GPUs has before every name."""
    import torch

    data.mkdir(parents=True, exist_ok=True)
    prefixes = ("lm.bert.",) if name == "CE" else ("lm_q.", "lm_p.")
    pooler = name == "CE"
    body = {key: shape for key, shape in shapes.items() if pooler or not key.startswith("pooler.")}
    every = {prefix + key: shape for prefix in prefixes for key, shape in body.items()}
    if name == "CE":
        every |= {"lm.classifier.weight": (1, shapes["pooler.dense.bias"][0]), "lm.classifier.bias": (1,)}
    rng = np.random.default_rng(sum(name.encode()))
    weights = {}
    for key, shape in every.items():
        values = (0.2 if "embeddings" not in key else 1.0) * rng.standard_normal(shape)
        values = values + 1 if key.endswith("LayerNorm.weight") else values
        weights[module + key] = torch.from_numpy(values.astype(np.float32))
    for prefix in prefixes:  # transformers kept these beside the weights then
        weights[f"{module}{prefix}embeddings.position_ids"] = torch.arange(64)[None]
    torch.save(weights, data / NAMES[name])
    return data / NAMES[name]
