"""The known bi-encoders by short name: their hub ids and their authors' settings, each with a citation."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

WEB_SEARCH = "Instruct: Given a web search query, retrieve relevant passages that answer the query"
BGE_EN = "Represent this sentence for searching relevant passages: "
BGE_ZH = "为这个句子生成表示以用于检索相关文章："


class Known(NamedTuple):
    """The known settings of a model. A setting that is None is read from the model's folder, if the folder
    has it."""

    name: str
    passages: str  # the hub's id of the passages' tower
    pooling: str | None
    similarity: str
    normalise: bool
    length: int | None  # tokens of a passage, special ones counted
    cite: str
    queries: str | None = None  # the hub's id of the queries' own tower
    query_length: int | None = None  # where it differs from the passages' length
    query_prompt: str = ""
    passage_prompt: str = ""
    titles: str = "none"  # how the model reads a passage's title


def find(name: str | Path) -> Known | None:
    """The known model whose short name is `name`, or whose encoder of passages has the hub id `name`; None if
    there is no such model."""
    if isinstance(name, Path):
        return None
    return next((known for known in MODELS if name in (known.name, known.passages)), None)


def names() -> list[str]:
    return [known.name for known in MODELS]


def _dpr(name: str, trained: str) -> Known:
    at = "facebook/dpr-{}-" + trained + "-base"
    passages, queries = at.format("ctx_encoder"), at.format("question_encoder")
    cite = "Karpukhin et al. 2020; its code"
    return Known(name, passages, "cls", "dot", False, 256, cite, queries, titles="untyped-pair")


def _e5(name: str) -> Known:
    settings = ("mean", "cosine", True, 512, "Wang et al. 2022; its model card")
    return Known(name, f"intfloat/{name}", *settings, query_prompt="query: ", passage_prompt="passage: ")


def _bge(size: str, language: str, prompt: str) -> Known:
    name = f"bge-{size}-{language}-v1.5"
    settings = ("cls", "cosine", True, 512, "Xiao et al. 2023; its model card")
    return Known(name, f"BAAI/{name}", *settings, query_prompt=prompt)


def _gte(name: str, pooling: str) -> Known:
    return Known(name, f"thenlper/{name}", pooling, "cosine", True, 512, "Li et al. 2023; its model card")


def _jina(name: str, size: str) -> Known:
    cite = "Günther et al. 2023; its model card"
    return Known(name, f"jinaai/jina-embeddings-v2-{size}", "mean", "cosine", False, 8192, cite)


def _sentences(name: str, length: int, pooling: str = "mean", cosine: bool = True) -> Known:
    """One of sentence-transformers' own models."""
    similarity = "cosine" if cosine else "dot"
    at, cite = f"sentence-transformers/{name}", "Reimers and Gurevych 2019; its model card"
    return Known(name.lower(), at, pooling, similarity, cosine, length, cite)


MODELS = (
    Known(
        "dragon-plus", "facebook/dragon-plus-context-encoder", "cls", "dot", False, 512,
        "Lin et al. 2023, with BEIR's lengths in its code; DAPR's table",
        "facebook/dragon-plus-query-encoder",
    ),
    Known(
        "dragon-roberta", "facebook/dragon-roberta-context-encoder", "cls", "dot", False, 512,
        "Lin et al. 2023, with BEIR's lengths in its code", "facebook/dragon-roberta-query-encoder",
    ),
    _dpr("dpr-nq", "single-nq"),
    _dpr("dpr-multi", "multiset"),
    Known(
        "ance-msmarco", "castorini/ance-msmarco-passage", "cls", "dot", False, 512,
        "Xiong et al. 2021; its code", query_length=64,
    ),
    Known(
        "tas-b", "sentence-transformers/msmarco-distilbert-base-tas-b", "cls", "dot", False, 512,
        "Hofstätter et al. 2021; its model card",
    ),
    Known("contriever", "facebook/contriever", "mean", "dot", False, 512, "Izacard et al. 2022; its code"),
    Known(
        "contriever-msmarco", "facebook/contriever-msmarco", "mean", "dot", False, 512,
        "Izacard et al. 2022; its code",
    ),
    _sentences("msmarco-distilbert-dot-v5", 512, cosine=False),
    _sentences("msmarco-bert-base-dot-v5", 512, cosine=False),
    _sentences("multi-qa-mpnet-base-dot-v1", 512, "cls", cosine=False),
    _sentences("multi-qa-MiniLM-L6-cos-v1", 512),
    _sentences("all-MiniLM-L6-v2", 256),
    _sentences("all-MiniLM-L12-v2", 128),
    _sentences("all-mpnet-base-v2", 384),
    *map(_e5, ("e5-small-v2", "e5-base-v2", "e5-large-v2")),
    *map(_e5, ("multilingual-e5-small", "multilingual-e5-base", "multilingual-e5-large")),
    *(_bge(size, "en", BGE_EN) for size in ("small", "base", "large")),
    *(_bge(size, "zh", BGE_ZH) for size in ("small", "base", "large")),
    Known(
        "e5-mistral-7b-instruct", "intfloat/e5-mistral-7b-instruct", "last", "cosine", True, 4096,
        "Wang et al. 2024; its model card", query_prompt=f"{WEB_SEARCH}\nQuery: ",
    ),
    *(
        Known(
            f"qwen3-embedding-{size}", f"Qwen/Qwen3-Embedding-{size.upper()}", "last", "cosine", True, 8192,
            "Zhang et al. 2025; its model card", query_prompt=f"{WEB_SEARCH}\nQuery:",
        )
        for size in ("0.6b", "4b", "8b")
    ),
    Known("bge-m3", "BAAI/bge-m3", "cls", "cosine", True, 8192, "Chen et al. 2024; its model card"),
    *(_gte(f"gte-{size}", "mean") for size in ("small", "base", "large")),
    *(_gte(f"gte-{size}-zh", "cls") for size in ("small", "base", "large")),
    _jina("jina-v2-small-en", "small-en"),
    _jina("jina-v2-base-en", "base-en"),
    _jina("jina-v2-base-zh", "base-zh"),
)  # fmt: skip
