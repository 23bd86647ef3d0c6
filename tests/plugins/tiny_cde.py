"""A tiny random model in the format of cde-small-v2: two ModernBERTs, and the folder of their configuration."""

import json
from pathlib import Path

import pytest
import tiny_models

SETTINGS = {  # as the published config.json has them, but for the sizes
    "architecture": "transductive", "architectures": ["ContextualDocumentEmbeddingTransformer"],
    "auto_map": {"AutoModel": "model.ContextualDocumentEmbeddingTransformer"}, "autoregressive_backbone": False,
    "dataset_backbone": None, "disable_dropout": True, "disable_transductive_rotary_embedding": True,
    "embedding_output_dim": None, "limit_layers": None, "limit_layers_first_stage": None, "logit_scale": 50.0,
    "max_seq_length": 512, "pool_ignore_contextual_tokens": True, "pool_ignore_instruction_tokens": True,
    "pooling_strategy": "mean", "transductive_corpus_size": 6, "transductive_sequence_dropout_prob": 0.0,
    "transductive_tie_token_embeddings": False, "transductive_tokens_per_document": 1,
}  # fmt: skip
SIZE, SOFT = 12, 8


def written(folder: Path, **settings: object) -> dict[str, str]:
    """The parameters `model` and `backbone`."""
    for name in ("torch", "transformers", "safetensors", "huggingface_hub"):
        pytest.importorskip(name)
    import safetensors.torch
    import torch
    import transformers

    from harness_cde.network import Model

    backbone, model = folder / "backbone", folder / "model"
    for path in (backbone, model):
        path.mkdir(parents=True)
    tiny_models.wordpiece(backbone)
    words = len(json.loads((backbone / "tokenizer.json").read_text())["model"]["vocab"])
    config = transformers.ModernBertConfig(
        vocab_size=words, hidden_size=SIZE, intermediate_size=20, num_hidden_layers=3, num_attention_heads=2,
        global_attn_every_n_layers=2, local_attention=8, max_position_embeddings=256, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2,
    )  # fmt: skip
    config.save_pretrained(backbone)
    torch.manual_seed(3)
    tensors = {  # large enough that no part may be left out unnoticed
        name: torch.randn_like(tensor) * 0.4 + (1.0 if "norm" in name else 0.0)
        for name, tensor in Model(config, SETTINGS).state_dict().items()
    }
    safetensors.torch.save_file(tensors, model / "model.safetensors")
    (model / "config.json").write_text(json.dumps({**SETTINGS, "embedder": str(backbone), **settings}))
    return {"model": str(model), "backbone": str(backbone)}
