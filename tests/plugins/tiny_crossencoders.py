"""Tiny cross-encoders in the formats of the real ones: BERT's family with a classifier on it, ERNIE, T5."""

from pathlib import Path
from typing import Any

import tiny_models
from tiny_models import HEADS, HIDDEN, INNER, LAYERS

from harness.testing.texts import WORDS

T5_SPECIAL = ("<pad>", "</s>", "<unk>")
T5_WORDS = ("true", "false", "Query", "Document", "Relevant")
T5_VOCABULARY = (
    *T5_SPECIAL, "▁", ":", *(f"▁{word}" for word in (*T5_WORDS, *WORDS)), *"abcdefghijklmnopqrstuvwxyz!?.,",
)  # fmt: skip
D_KV = HIDDEN // HEADS


def bert(folder: Path, classes: int = 1, seed: int = 1, **more: Any) -> Path:
    """As cross-encoder/ms-marco-MiniLM-L-12-v2 is (one logit), or castorini/monobert-large-msmarco (two)."""
    head = {"classifier.weight": (classes, HIDDEN), "classifier.bias": (classes,)}
    usual = {"prefix": "bert.", "more": head, "architecture": "BertForSequenceClassification"}
    return tiny_models.bert(folder, seed=seed, **usual | {"id2label": _labels(classes)} | more)


def roberta(folder: Path, classes: int = 1, seed: int = 1, kind: str = "roberta") -> Path:
    """As BAAI/bge-reranker-base is, an XLM-R (kind: xlm-roberta)."""
    names = {"roberta": "Roberta", "xlm-roberta": "XLMRoberta"}
    head = {
        "classifier.dense.weight": (HIDDEN, HIDDEN), "classifier.dense.bias": (HIDDEN,),
        "classifier.out_proj.weight": (classes, HIDDEN), "classifier.out_proj.bias": (classes,),
    }  # fmt: skip
    return tiny_models.roberta(
        folder, prefix="roberta.", pooler=False, more=head, seed=seed, model_type=kind,
        architecture=f"{names[kind]}ForSequenceClassification", id2label=_labels(classes),
    )  # fmt: skip


def ernie(folder: Path, seed: int = 1) -> Path:
    """As ERNIE 3.0 converted to transformers is: a BERT with an embedding for the task as well."""
    more = {
        "ernie.embeddings.task_type_embeddings.weight": (3, HIDDEN),
        "classifier.weight": (2, HIDDEN), "classifier.bias": (2,),
    }  # fmt: skip
    return tiny_models.bert(
        folder, prefix="ernie.", more=more, seed=seed, model_type="ernie", id2label=_labels(2),
        architecture="ErnieForSequenceClassification", use_task_id=True, task_type_vocab_size=3,
    )  # fmt: skip


def _labels(classes: int) -> dict[str, str]:
    return {str(number): f"LABEL_{number}" for number in range(classes)}


def t5(folder: Path, seed: int = 1) -> Path:
    """As castorini/monot5-base-msmarco is, its weights as safetensors."""
    config = {
        "architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "is_encoder_decoder": True,
        "d_model": HIDDEN, "d_kv": D_KV, "d_ff": INNER, "num_heads": HEADS, "num_layers": LAYERS,
        "num_decoder_layers": LAYERS, "relative_attention_num_buckets": 32, "dropout_rate": 0.1,
        "layer_norm_epsilon": 1e-6, "feed_forward_proj": "relu", "vocab_size": len(T5_VOCABULARY),
        "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0, "n_positions": 512,
        "tie_word_embeddings": True, "initializer_factor": 1.0,
    }  # fmt: skip
    shapes: dict[str, tuple[int, ...]] = {"shared.weight": (len(T5_VOCABULARY), HIDDEN)}
    for side, parts in (("encoder", ("SelfAttention",)), ("decoder", ("SelfAttention", "EncDecAttention"))):
        for layer in range(LAYERS):
            at = f"{side}.block.{layer}.layer"
            for place, part in enumerate(parts):
                shapes |= {f"{at}.{place}.{part}.{name}.weight": (HIDDEN, HIDDEN) for name in "qkvo"}
                shapes[f"{at}.{place}.layer_norm.weight"] = (HIDDEN,)
            last = f"{at}.{len(parts)}"
            shapes[f"{last}.DenseReluDense.wi.weight"] = (INNER, HIDDEN)
            shapes[f"{last}.DenseReluDense.wo.weight"] = (HIDDEN, INNER)
            shapes[f"{last}.layer_norm.weight"] = (HIDDEN,)
        shapes[f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"] = (32, HEADS)
        shapes[f"{side}.final_layer_norm.weight"] = (HIDDEN,)
    tiny_models.write(folder, config, tiny_models.random_tensors(shapes, seed))
    _unigram(folder)
    return folder


def _unigram(folder: Path) -> None:
    """T5's SentencePiece vocabulary: words are split at white space, and each begins with ▁."""
    special = [
        {"id": i, "content": name, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for i, name in enumerate(T5_SPECIAL)
    ]  # fmt: skip
    end = {"SpecialToken": {"id": "</s>", "type_id": 0}}
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    tiny_models.as_json(
        folder / "tokenizer.json",
        {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
            "normalizer": None, "decoder": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                {"type": "WhitespaceSplit"},
                {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
            ]},
            "post_processor": {
                "type": "TemplateProcessing", "single": [first, end], "pair": [first, end, second, end],
                "special_tokens": {"</s>": {"id": "</s>", "ids": [1], "tokens": ["</s>"]}},
            },
            "model": {"type": "Unigram", "unk_id": 2, "byte_fallback": False, "vocab": [
                [piece, -1.0 if len(piece) > 1 else -10.0] for piece in T5_VOCABULARY
            ]},
        },
    )  # fmt: skip
    tiny_models.as_json(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "T5Tokenizer", "model_max_length": 512, "pad_token": "<pad>",
         "eos_token": "</s>", "unk_token": "<unk>"},
    )  # fmt: skip
