"""Cross-encoders by short name: their hub ids, and how many tokens of a pair their authors use."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Known(NamedTuple):
    name: str
    model: str  # the model's id on the hub
    cite: str
    kind: str = "classifier"
    length: int = 512  # tokens of a pair, special ones counted


def find(name: str | Path) -> Known | None:
    """The model with this short name or hub id; None if there is none."""
    if isinstance(name, Path):
        return None
    return next((known for known in MODELS if name in (known.name, known.model)), None)


def names() -> list[str]:
    return [known.name for known in MODELS]


CARD = "its model card"
MARCO = f"Reimers and Gurevych 2019; {CARD}"
BGE = f"Xiao et al. 2023; {CARD}"
QWEN = f"Zhang et al. 2025; {CARD}"

MODELS = (
    *(
        Known(f"ms-marco-minilm-l{layers}-v2", f"cross-encoder/ms-marco-MiniLM-L-{layers}-v2", MARCO)
        for layers in (2, 4, 6, 12)
    ),
    Known("ms-marco-tinybert-l2-v2", "cross-encoder/ms-marco-TinyBERT-L-2-v2", MARCO),
    Known("ms-marco-electra-base", "cross-encoder/ms-marco-electra-base", MARCO),
    Known("mmarco-minilm-l12", "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1", MARCO),
    Known("bge-reranker-base", "BAAI/bge-reranker-base", BGE),
    Known("bge-reranker-large", "BAAI/bge-reranker-large", BGE),
    Known("bge-reranker-v2-m3", "BAAI/bge-reranker-v2-m3", f"Chen et al. 2024; {CARD}"),
    *(
        Known(f"mxbai-rerank-{size}-v1", f"mixedbread-ai/mxbai-rerank-{size}-v1", CARD)
        for size in ("xsmall", "base", "large")
    ),
    *(
        Known(f"qwen3-reranker-{size}", f"Qwen/Qwen3-Reranker-{size.upper()}", QWEN, "yes-no", 8192)
        for size in ("0.6b", "4b", "8b")
    ),
    *(
        Known(
            f"mxbai-rerank-{size}-v2",
            f"mixedbread-ai/mxbai-rerank-{size}-v2",
            "its authors' code",
            "mxbai-v2",
            8192,
        )
        for size in ("base", "large")
    ),
    Known("monobert-large-msmarco", "castorini/monobert-large-msmarco", "Nogueira and Cho 2019"),
    *(
        Known(f"monot5-{size}", f"castorini/monot5-{size}", "Nogueira et al. 2020", kind="monot5")
        for size in ("base-msmarco", "base-msmarco-10k", "large-msmarco", "large-msmarco-10k", "3b-msmarco")
    ),
)
