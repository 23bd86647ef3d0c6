"""T2Ranking's checkpoints in the form in which its authors publish them, tiny, with seeded weights: a pickle of
torch with the tensors of two encoders (`lm_q`, `lm_p`), or of a cross-encoder (`lm`).

`t2ranking_facts.json` says what the authors' code (src/modeling.py) computes from these files.
"""

import json
from pathlib import Path

import numpy as np

from standins import paddle

NAMES = {
    "DE1": "dual-encoder-trained-with-bm25-negatives.p",
    "DE2": "dual-encoder-trained-with-hard-negatives.p",
    "CE": "cross-encoder.p",
}


def base(folder: Path) -> dict[str, tuple[int, ...]]:
    """Writes configuration and tokenizer of the BERT that the checkpoints of the facts began as. Returns the
    shapes of its tensors."""
    d, inner, layers, size = 32, 64, 2, len(paddle.VOCABULARY)
    config = {
        "architectures": ["BertForMaskedLM"], "model_type": "bert", "vocab_size": size, "hidden_size": d,
        "num_hidden_layers": layers, "num_attention_heads": 4, "intermediate_size": inner,
        "hidden_act": "gelu", "max_position_embeddings": 64, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
    }  # fmt: skip
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    tokenizer = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 64}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    paddle.vocabulary(folder / "vocab.txt")
    linear = {f"attention.self.{part}": (d, d) for part in ("query", "key", "value")}
    linear |= {"attention.output.dense": (d, d), "intermediate.dense": (inner, d), "output.dense": (d, inner)}
    every = {
        f"encoder.layer.{number}.{name}": shape for number in range(layers) for name, shape in linear.items()
    }
    norms = [
        f"encoder.layer.{number}.{part}output" for number in range(layers) for part in ("attention.", "")
    ]
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (size, d),
        "embeddings.position_embeddings.weight": (64, d),
        "embeddings.token_type_embeddings.weight": (2, d),
    }
    for name in ("embeddings", *norms):
        shapes |= {f"{name}.LayerNorm.weight": (d,), f"{name}.LayerNorm.bias": (d,)}
    for name, shape in (every | {"pooler.dense": (d, d)}).items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    return shapes


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
