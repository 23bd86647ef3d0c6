"""Tiny checkpoints of SPLADE and of ColBERT in the formats of the real ones: a BERT with what stands on it."""

from pathlib import Path
from typing import Any

import tiny_models

WORDS = len(tiny_models.VOCABULARY)
MASKED = {
    "cls.predictions.bias": (WORDS,),
    "cls.predictions.transform.dense.weight": (tiny_models.HIDDEN, tiny_models.HIDDEN),
    "cls.predictions.transform.dense.bias": (tiny_models.HIDDEN,),
    "cls.predictions.transform.LayerNorm.weight": (tiny_models.HIDDEN,),
    "cls.predictions.transform.LayerNorm.bias": (tiny_models.HIDDEN,),
}
DIMENSION = 8
METADATA = {
    "query_maxlen": 12, "doc_maxlen": 40, "dim": DIMENSION, "mask_punctuation": True,
    "attend_to_mask_tokens": False, "similarity": "cosine", "interaction": "colbert",
    "query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_token": "[Q]", "doc_token": "[D]",
    "nbits": 1, "checkpoint": None, "meta": {"version": "colbert-v0.4"},
}  # fmt: skip


def splade(folder: Path, seed: int = 1, **more: Any) -> Path:
    """As naver/splade-cocondenser-ensembledistil is: the decoder is the embeddings, and not in the file."""
    usual = {"prefix": "bert.", "pooler": False, "more": MASKED, "architecture": "BertForMaskedLM"}
    return tiny_models.bert(folder, seed=seed, **usual | more)


def unicoil(folder: Path, prefix: str = "coil_encoder.", seed: int = 1) -> Path:
    """As castorini/unicoil-msmarco-passage is: a BERT with one output for each token."""
    more = {f"{prefix}tok_proj.weight": (1, tiny_models.HIDDEN), f"{prefix}tok_proj.bias": (1,)}
    usual = {"prefix": f"{prefix}bert.", "more": more, "architecture": "UniCoilEncoder"}
    return tiny_models.bert(folder, seed=seed, **usual)


def colbert(folder: Path, seed: int = 1, **metadata: Any) -> Path:
    """As colbert-ir/colbertv2.0 is; `metadata` overrides what artifact.metadata says."""
    linear = {"linear.weight": (DIMENSION, tiny_models.HIDDEN)}
    tiny_models.bert(folder, prefix="bert.", more=linear, architecture="HF_ColBERT", seed=seed)
    tiny_models.as_json(folder / "artifact.metadata", METADATA | metadata)
    return folder


def killed_in_the_third_pass(monkeypatch: Any, encoder: type) -> list[int]:
    """Lets an encoder's third pass end as Ctrl-C does; gives the list of the sizes of its passes."""
    sizes: list[int] = []
    whole = encoder.__call__

    def dying(self: Any, batch: Any) -> Any:
        sizes.append(len(batch.bounds) - 1)
        if len(sizes) == 3:
            raise KeyboardInterrupt
        return whole(self, batch)

    monkeypatch.setattr(encoder, "__call__", dying)
    return sizes
