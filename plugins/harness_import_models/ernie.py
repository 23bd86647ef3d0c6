"""ERNIE and RocketQA under the names of transformers: which networks a checkpoint has, and where each tensor
goes.

The names are those of rocketqa (model/ernie.py) and, in `.pdparams`, those of PaddleNLP. Nothing is left out
unseen: a tensor that no network takes is counted by what it is, or refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from harness.plugin import HarnessError
from harness_import_models.folders import Network
from harness_import_models.paddle_files import Array, Tensors

# what transformers, rocketqa and PaddleNLP call a part; in a layer, the names follow the layer's
_EMBEDDINGS = (
    ("embeddings.word_embeddings.weight", "word_embedding", "embeddings.word_embeddings.weight"),
    ("embeddings.position_embeddings.weight", "pos_embedding", "embeddings.position_embeddings.weight"),
    ("embeddings.token_type_embeddings.weight", "sent_embedding", "embeddings.token_type_embeddings.weight"),
)
_TASKS = (
    "embeddings.task_type_embeddings.weight",
    "task_embedding",
    "embeddings.task_type_embeddings.weight",
)
_NORM = ("embeddings.LayerNorm", "pre_encoder_layer_norm", "embeddings.layer_norm")
_POOLER = ("pooler.dense", "pooled_fc", "pooler.dense")
_LAYER = (
    ("attention.self.query", "multi_head_att_query_fc", "self_attn.q_proj"),
    ("attention.self.key", "multi_head_att_key_fc", "self_attn.k_proj"),
    ("attention.self.value", "multi_head_att_value_fc", "self_attn.v_proj"),
    ("attention.output.dense", "multi_head_att_output_fc", "self_attn.out_proj"),
    ("attention.output.LayerNorm", "post_att_layer_norm", "norm1"),
    ("intermediate.dense", "ffn_fc_0", "linear1"),
    ("output.dense", "ffn_fc_1", "linear2"),
    ("output.LayerNorm", "post_ffn_layer_norm", "norm2"),
)
_EPSILON = 1e-5  # of Paddle's layer_norm; BERT's is 1e-12
# What may be left out: what training or pre-training needed, and no network reads.
_LEFT = {
    "of the optimiser": r".*_(moment[12]|beta[12]_pow_acc)_\d+|(scheduled_)?learning_rate.*"
    r"|@LR_DECAY_COUNTER@|(loss_scaling|num_(good|bad)_steps).*",
    "of heads of pre-training": r"mask_lm_.*|(next_sent|task_\w+)_fc\.[wb]_0|cls\..*",
    "of a pooler that no one reads": r"(pooled_fc|pooler)\..*",
}


class Part(NamedTuple):
    """A network as it lies in a checkpoint."""

    folder: str  # where it goes below the folder that is written
    reads: str  # queries, passages, both or pairs; "" for a network that is still to be trained
    prefix: str
    head: str = ""  # the name of the classifier's tensors, up to their ends


def networks(
    tensors: Tensors, architecture: Mapping[str, Any], toolkit: Mapping[str, Any]
) -> tuple[list[Network], Counter[str]]:
    """The networks of a checkpoint, and what is left out, counted by what it is. `toolkit` is the config.json
    of rocketqa's archives; empty for parameters alone."""
    static = any(name.endswith("word_embedding") for name in tensors)
    parts = _static(tensors, toolkit) if static else _dynamic(tensors)
    taken: set[str] = set()
    made = []
    for part in parts:
        names = _names(part, tensors, architecture, static)
        ends = ("_w", "_b") if static else (".weight", ".bias")
        head = [part.head + end for end in ends if part.head]
        missing = sorted({*names, *head} - set(tensors))
        if missing:
            raise HarnessError(f"model: the checkpoint lacks {_some(missing)}; unpack the archive again")
        inner = {new: _turned(new, tensors[old]) for old, new in names.items()}
        made.append(_network(part, inner, [tensors[name] for name in head], architecture))
        taken |= {*names, *head}
    return made, _left(set(tensors) - taken)


def _static(tensors: Tensors, toolkit: Mapping[str, Any]) -> list[Part]:
    """The networks of rocketqa's checkpoints, which differ in the prefixes of their tensors."""
    kind = toolkit.get("model_type", "")
    have = {name.removesuffix("word_embedding") for name in tensors if name.endswith("word_embedding")}
    heads = [name.removesuffix("_w") for name in sorted(tensors) if name.endswith("_cls_out_w")]
    joint = Part("", "pairs", "qtp_", "qtp__cls_out")
    shared = Part("", "both", "titlepara_")
    towers = [Part("query", "queries", "query_"), Part("passage", "passages", "titlepara_")]
    if kind == "dual_encoder":
        return [shared] if toolkit.get("share_parameter") else towers
    if kind == "cross_encoder" and "qtp_" in have:
        return [joint]
    if "" in have or kind == "cross_encoder":
        return [Part("", "pairs" if heads else "", "", heads[0] if heads else "")]
    if "qtp_" in have:
        # the authors' own inference reads queries by the encoder of passages
        both = [shared._replace(folder="retriever"), joint._replace(folder="reranker")]
        return both if "titlepara_" in have else [joint]
    return towers if "query_" in have else [shared]


def _dynamic(tensors: Tensors) -> list[Part]:
    """The one network of PaddleNLP's files."""
    prefix = "" if _EMBEDDINGS[0][2] in tensors else "ernie."
    head = "classifier" if "classifier.weight" in tensors else ""
    return [Part("", "pairs" if head else "", prefix, head)]


def _names(part: Part, tensors: Tensors, architecture: Mapping[str, Any], static: bool) -> dict[str, str]:
    """What each tensor of a network is called, in the checkpoint and in transformers."""
    column = 1 if static else 2
    pairs = [(row[column], row[0]) for row in _EMBEDDINGS]
    if architecture.get("use_task_id"):
        pairs.append((_TASKS[column], _TASKS[0]))
    pairs += _ends(_NORM[column], _NORM[0], static)
    for number in range(int(architecture["num_hidden_layers"])):
        layer = f"encoder_layer_{number}_" if static else f"encoder.layers.{number}."
        for row in _LAYER:
            pairs += _ends(layer + row[column], f"encoder.layer.{number}.{row[0]}", static)
    names = {part.prefix + old: new for old, new in pairs}
    # rocketqa's poolers have no prefix, and the re-ranker of a joint encoder has none
    pooler = [
        (old if static else part.prefix + old, new) for old, new in _ends(_POOLER[column], _POOLER[0], static)
    ]
    pooled = part.reads == "pairs" and part.prefix != "qtp_"
    pooled |= part.reads == "" and all(old in tensors for old, _ in pooler)
    return names | (dict(pooler) if pooled else {})


def _ends(old: str, new: str, static: bool) -> Iterator[tuple[str, str]]:
    """The weight and the bias of a layer."""
    ends = (".weight", ".bias")
    if static:
        ends = ("_scale", "_bias") if new.endswith("LayerNorm") else (".w_0", ".b_0")
    yield old + ends[0], f"{new}.weight"
    yield old + ends[1], f"{new}.bias"


def _turned(name: str, tensor: Array) -> Array:
    """A weight as transformers keeps it: Paddle multiplies from the right."""
    return tensor.T if tensor.ndim == 2 and "embeddings" not in name else tensor


def _network(part: Part, inner: Tensors, head: list[Array], architecture: Mapping[str, Any]) -> Network:
    config = _configuration(inner, architecture)
    if not head:
        kind = "ErnieModel" if config["model_type"] == "ernie" else "BertModel"
        return Network(part.folder, part.reads, {"architectures": [kind], **config}, inner)
    weight, bias = head
    labels = [f"LABEL_{i}" for i in range(len(bias))]
    classes = {
        "num_labels": len(labels),
        "id2label": {str(i): label for i, label in enumerate(labels)},
        "label2id": {label: i for i, label in enumerate(labels)},
    }
    if "pooler.dense.weight" in inner:
        model = str(config["model_type"])
        tensors = {f"{model}.{name}": tensor for name, tensor in inner.items()}
        tensors |= {"classifier.weight": weight.T, "classifier.bias": bias}
        kind = f"{model.capitalize()}ForSequenceClassification"
        return Network(part.folder, part.reads, {"architectures": [kind], **config, **classes}, tensors)
    if config["model_type"] != "bert" or len(bias) != 1:
        raise HarnessError(
            "model: a joint encoder with task ids or several classes; RocketQAv2 has neither, so this "
            "checkpoint is of another model"
        )
    return _without_pooler(part, inner, weight[:, 0], bias, {**config, **classes})


def _without_pooler(
    part: Part, inner: Tensors, weight: Array, bias: Array, config: dict[str, Any]
) -> Network:
    """A re-ranker that reads the first token's state h by w h + b and nothing between. ELECTRA's head has a
    layer with GELU there, which is passed unchanged: gelu(x) - gelu(-x) = x, with x = w h."""
    dense, out = np.zeros((len(weight), len(weight)), weight.dtype), np.zeros((1, len(weight)), weight.dtype)
    dense[:2], out[0, :2] = (weight, -weight), (1, -1)
    tensors = {f"electra.{name}": tensor for name, tensor in inner.items()}
    tensors |= {"classifier.dense.weight": dense, "classifier.dense.bias": np.zeros_like(weight)}
    tensors |= {"classifier.out_proj.weight": out, "classifier.out_proj.bias": bias}
    electra = {"model_type": "electra", "embedding_size": len(weight)}
    kind = {"architectures": ["ElectraForSequenceClassification"]}
    return Network(part.folder, part.reads, {**kind, **config, **electra}, tensors)


def bert_names(reads: str, architecture: Mapping[str, Any]) -> set[str]:
    """The names in transformers of all tensors of a BERT that reads queries, passages or pairs."""
    return set(_names(Part("", reads, ""), {}, architecture, static=True).values())


def checked_sizes(inner: Tensors, architecture: Mapping[str, Any]) -> dict[str, int]:
    """The sizes of a network's tables, which must be those of its configuration."""
    tables = {
        name: inner[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
    }
    sizes = {
        "vocab_size": len(tables["word"]),
        "hidden_size": tables["word"].shape[1],
        "max_position_embeddings": len(tables["position"]),
    }
    for name, size in sizes.items():
        if architecture.get(name) != size:
            raise HarnessError(
                f"model: {name} is {architecture.get(name)} in the configuration and {size} in the tensors; "
                "take both from the same model"
            )
    return sizes


def _configuration(inner: Tensors, architecture: Mapping[str, Any]) -> dict[str, Any]:
    """config.json of transformers. ERNIE without task ids is BERT with other numbers."""
    sizes = checked_sizes(inner, architecture)
    config = {
        "model_type": "bert",
        **sizes,
        "type_vocab_size": len(inner["embeddings.token_type_embeddings.weight"]),
        "num_hidden_layers": int(architecture["num_hidden_layers"]),
        "num_attention_heads": int(architecture["num_attention_heads"]),
        "intermediate_size": len(inner["encoder.layer.0.intermediate.dense.bias"]),
        "hidden_act": architecture["hidden_act"],
        "hidden_dropout_prob": architecture.get("hidden_dropout_prob", 0.1),
        "attention_probs_dropout_prob": architecture.get("attention_probs_dropout_prob", 0.1),
        "initializer_range": architecture.get("initializer_range", 0.02),
        "layer_norm_eps": _EPSILON,
        "pad_token_id": 0,
    }
    tasks = inner.get(_TASKS[0])
    if tasks is not None:
        config |= {"model_type": "ernie", "use_task_id": True, "task_type_vocab_size": len(tasks)}
    return config


def _left(names: set[str]) -> Counter[str]:
    """The tensors that no network takes, counted by what they are."""
    left: Counter[str] = Counter()
    strange = []
    for name in sorted(names):
        bare = re.sub(r"^(query_|titlepara_|qtp_|ernie\.)", "", name)
        what = next((what for what, pattern in _LEFT.items() if re.fullmatch(pattern, bare)), None)
        if what is None and bare != name and not name.startswith("ernie."):
            what = f"of the encoder {name.removesuffix(bare)}, which this model does not use"
        if what is None and bare == _TASKS[1]:
            what = "of task ids, which this model does not use"
        if what is None:
            strange.append(name)
        else:
            left[what] += 1
    if strange:
        raise HarnessError(f"model: the checkpoint has {_some(strange)}, which have no place in its networks")
    return left


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
