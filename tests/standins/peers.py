"""What the product, and sentence-transformers, give for a few texts with the stand-in of a registered model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import testing
from harness.types import Facts
from standins import models

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = NDArray[np.float32]  # [queries, passages]

TEXTS = [
    *("The castle, of the island.", "river bridge " * 12, "!?", "a market stone garden near the old church"),
    *("北京是中国的首都。", "when was the railway built? " * 150, ""),
]
QUERIES = ["castle island", "when was the railway bridge built?", "北京", "painter of the river " * 40]
FACTS = Facts("en", "en", "passage")


def params(plugin: str, known: Any, root: Path) -> dict[str, Any]:
    """The parameters of a registered model whose folder is its stand-in."""
    if plugin == "crossencoder":
        return {
            "model": models.make(known.model, root),
            "dtype": "fp32",
            "kind": known.kind,
            "length": known.length,
        }
    given = {
        "model": models.make(known.passages, root),
        "dtype": "fp32",
        "passage_length": known.length,
        "query_length": known.query_length or known.length,
    }
    if plugin == "dense":
        given |= {"settings": known.name, "titles": "none"}
    if plugin == "colbert":
        given |= {"stored": "fp32"}
    if plugin == "splade":
        given |= {"query": known.query, "activation": known.activation}
    if getattr(known, "queries", None):
        given["query_model"] = models.make(known.queries, root)
    return given


def ours(plugin: str, known: Any, root: Path, folder: Path, **more: Any) -> Scores:
    """The product's scores. `folder` is new and keeps the index."""
    given = {**params(plugin, known, root), **more}
    texts = testing.texts(TEXTS)
    if plugin == "crossencoder":
        from harness_crossencoder import CrossEncoderParams, resolve
        from harness_crossencoder.scorer import CrossEncoder

        scorer = CrossEncoder(resolve(CrossEncoderParams(**given), FACTS)).open(texts, None)
        return scorer.score(QUERIES, np.tile(np.arange(len(TEXTS)), (len(QUERIES), 1)))
    kind, resolve, made = _method(plugin)
    folder.mkdir(parents=True)
    method = kind(resolve(made(**given), FACTS))
    method.index(texts, folder)
    hits = method.open(texts, folder).search(QUERIES, len(TEXTS))
    scores = np.zeros((len(QUERIES), len(TEXTS)), np.float32)
    rows, places = np.nonzero(hits.passages >= 0)
    scores[rows, hits.passages[rows, places]] = hits.scores[rows, places]
    return scores


def _method(plugin: str) -> tuple[Any, Any, Any]:
    if plugin == "dense":
        from harness_dense import DenseParams, resolve
        from harness_dense.retriever import Dense

        return Dense, resolve, DenseParams
    if plugin == "splade":
        from harness_splade import SpladeParams, resolve
        from harness_splade.retriever import Sparse

        return Sparse, resolve, SpladeParams
    from harness_colbert import RetrieverParams, resolve
    from harness_colbert.retriever import LateRetriever

    return LateRetriever, resolve, RetrieverParams


def theirs(plugin: str, known: Any, root: Path) -> Scores:
    """Those of sentence-transformers, or of transformers for DPR."""
    return {"dense": _dense, "splade": _sparse, "colbert": _late, "crossencoder": _pairs}[plugin](known, root)


def _dense(known: Any, root: Path) -> Scores:
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    def encode(name: str, texts: list[str], prompt: str, length: int) -> Scores:
        folder = models.make(name, root)
        if "/dpr-" in name:  # which transformers reads by itself
            kind = "DPRContextEncoder" if "ctx" in name else "DPRQuestionEncoder"
            batch = transformers.AutoTokenizer.from_pretrained(folder)(
                texts, padding=True, truncation=True, max_length=length, return_tensors="pt"
            )
            with torch.inference_mode():
                return getattr(transformers, kind).from_pretrained(folder)(**batch).pooler_output.numpy()
        if "nomic-embed" in name:
            folder = _converted(folder)
        if (folder / "modules.json").is_file():
            model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": "float32"})
        if (folder / "0_StaticEmbedding").is_dir():
            pass  # it reads every token
        elif (folder / "modules.json").is_file():
            assert model.max_seq_length is None or model.max_seq_length >= length, model.max_seq_length
            model.max_seq_length = length
        else:
            network = Transformer(str(folder), model_kwargs={"dtype": "float32"}, max_seq_length=length)
            pooling = Pooling(network.get_embedding_dimension(), known.pooling)
            model = SentenceTransformer(modules=[network, pooling], device="cpu")
        return model.encode(texts, prompt=prompt, batch_size=2)

    queries = encode(
        known.queries or known.passages, QUERIES, known.query_prompt, known.query_length or known.length
    )
    passages = encode(known.passages, TEXTS, known.passage_prompt, known.length)
    if known.similarity == "cosine":
        queries, passages = (
            v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12) for v in (queries, passages)
        )
    return queries @ passages.T


def _converted(folder: Path) -> Path:
    """A copy of NomicBert's folder with the names of settings that transformers has, as its conversion does."""
    to = folder.parent / "converted"
    if not to.is_dir():
        shutil.copytree(folder, to)
        named = json.loads((to / "config.json").read_bytes())
        config = {
            "model_type": "nomic_bert", "hidden_size": named["n_embd"], "num_hidden_layers": named["n_layer"],
            "num_attention_heads": named["n_head"], "intermediate_size": named["n_inner"], "layer_norm_eps": 1e-12,
            "max_position_embeddings": 8192, "vocab_size": named["vocab_size"], "type_vocab_size": 2,
            "rope_parameters": {"rope_type": "default", "rope_theta": named["rotary_emb_base"]},
        }  # fmt: skip
        (to / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return to


def _sparse(known: Any, root: Path) -> Scores:
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding, SpladePooling

    folder = models.make(known.passages, root)

    def encoder(name: str) -> Any:
        network = Transformer(
            str(models.make(name, root)), transformer_task="fill-mask", max_seq_length=known.length
        )
        last = {"log": "relu", "log-log": "log1p_relu"}[known.activation]
        return SparseEncoder(modules=[network, SpladePooling("max", last)], device="cpu")

    if known.query in ("idf", "binary"):
        reader = encoder(known.passages).tokenizer
        weights = torch.ones(max(reader.get_vocab().values()) + 1)
        if known.query == "idf":
            for piece, weight in json.loads((folder / "idf.json").read_bytes()).items():
                weights[reader.get_vocab()[piece]] = weight
        queries = SparseEncoder(modules=[SparseStaticEmbedding(reader, weights)], device="cpu")
    else:
        queries = encoder(known.queries or known.passages)
    asked, read = (
        model.encode(texts, convert_to_sparse_tensor=False, batch_size=2).numpy()
        for model, texts in ((queries, QUERIES), (encoder(known.passages), TEXTS))
    )
    return asked @ read.T


def _late(known: Any, root: Path) -> Scores:
    from sentence_transformers import MultiVectorEncoder

    folder = models.make(known.passages, root)
    model = MultiVectorEncoder(str(folder), device="cpu", model_kwargs={"dtype": "float32"})
    queries = model.encode_query(QUERIES, batch_size=2)
    passages = model.encode_document(TEXTS, batch_size=2)
    return model.similarity(queries, passages).numpy()


def _pairs(known: Any, root: Path) -> Scores:
    from sentence_transformers import CrossEncoder
    from torch.nn import Identity

    model = CrossEncoder(str(models.make(known.model, root)), device="cpu", model_kwargs={"dtype": "float32"})
    model.max_seq_length = known.length
    pairs = [(query, text) for query in QUERIES for text in TEXTS]
    logits = np.asarray(model.predict(pairs, activation_fn=Identity(), batch_size=2))
    logits = logits[:, 1] - logits[:, 0] if logits.ndim == 2 else logits
    return logits.reshape(len(QUERIES), len(TEXTS))
