"""Checkpoints in the form that RocketQA's releases have, tiny, with seeded weights.

Written without Paddle and without the harness: `tests/standins/paddle_facts.json` says what rocketqa 1.1.0 on
Paddle 3.3.1 computes from these very files. The names of tensors, files and settings are those of rocketqa
(model/ernie.py, encoder/*.py) and of the configurations in its repository; widths, layers and the vocabulary
are small.
"""

import json
import pickle
import string
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

HIDDEN, HEADS = 32, 4
SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]")
LETTERS = string.ascii_lowercase + string.digits
WORDS = ("castle", "island", "river", "the", "of", "on", "was", "built", "city")
CHINESE = "，。的一是在不了有和人这中大为上个国我以要他北京首都城市河岛建筑天气"
VOCABULARY = (
    *SPECIAL, *string.punctuation, *LETTERS, *(f"##{letter}" for letter in LETTERS), *WORDS, *CHINESE
)  # fmt: skip

Tensors = dict[str, np.ndarray]


class Kind(NamedTuple):
    """What an archive holds."""

    towers: tuple[str, ...]  # the prefixes of the networks' tensors
    head: str = ""  # the prefix of the classifier's tensors
    chinese: bool = False
    toolkit: bool = True  # an archive of the toolkit, with its config.json; otherwise parameters alone
    layers: int = 2
    settings: Mapping[str, int] = {}


TWO, SHARED, JOINT = ("query_", "titlepara_"), ("titlepara_",), ("titlepara_", "qtp_")
ARCHIVES = {
    **{name: Kind(TWO) for name in ("v1_marco_de", "v1_nq_de")},
    **{name: Kind(TWO, chinese=True) for name in ("zh_dureader_de", "zh_dureader_de_v2")},
    **{
        name: Kind(SHARED, settings={"share_parameter": 1})
        for name in ("v2_marco_de", "v2_nq_de", "pair_marco_de", "pair_nq_de")
    },
    **{name: Kind(("",), "_cls_out") for name in ("v1_marco_ce", "v1_nq_ce")},
    **{name: Kind(("",), "_cls_out", chinese=True) for name in ("zh_dureader_ce", "zh_dureader_ce_v2")},
    "v2_marco_ce": Kind(("qtp_",), "qtp__cls_out", settings={"joint_training": 1}),
    **{
        name: Kind(TWO, toolkit=False)
        for name in ("marco_dual_encoder_v0", "marco_dual_encoder_v2", "nq_dual_encoder_v2")
    },
    **{name: Kind(SHARED, toolkit=False) for name in ("marco_finetuned_encoder", "nq_finetuned_encoder")},
    **{
        name: Kind(("",), "_cls_out", toolkit=False, layers=3)
        for name in ("marco_cross_encoder_large", "nq_cross_encoder_large")
    },
    **{
        f"{data}_joint-encoder_{state}": Kind(JOINT, "qtp__cls_out", toolkit=False)
        for data in ("marco", "nq")
        for state in ("warmup", "trained")
    },
    **{name: Kind(TWO, toolkit=False) for name in ("ernie_base_twin_init", "ernie_base_1.0_twin_CN")},
    **{name: Kind(("",), toolkit=False) for name in ("ernie_large_en", "ernie_base_1.0_CN")},
    "dual_params": Kind(TWO, chinese=True, toolkit=False),
    "cross_params": Kind(("",), "_cls_out", chinese=True, toolkit=False),
}


def release(root: Path, name: str, form: str = "separate") -> list[str]:
    """Writes the archive `name` below `root` and gives the arguments of `harness import-model` that import
    it, all but `--out`. `form` is separate, combined or pdparams."""
    kind = ARCHIVES[name]
    folder = root / name
    settings = configuration(kind.chinese, kind.layers)
    seed = sum(name.encode())
    weights: Tensors = {}
    for number, prefix in enumerate(kind.towers):
        weights |= network(prefix, settings, seed + number)
    if kind.head:
        weights |= classifier(kind.head, pooled="qtp_" not in kind.towers, seed=seed)
    parameters = folder / "params" if kind.toolkit else folder
    write(parameters, weights, form)
    if not kind.toolkit:
        beside = root / ("config_zh" if kind.chinese else "config_en") / str(kind.layers)
        _json(beside / "ernie_config.json", settings)
        vocabulary(beside / "vocab.txt", kind.chinese)
        files = ["--config", str(beside / "ernie_config.json"), "--vocab", str(beside / "vocab.txt")]
        return ["--from", "paddle", str(folder), *files, *(["--drop-spaces"] if kind.chinese else [])]
    dual = not kind.head
    lengths = {"q_max_seq_len": 32, "p_max_seq_len": 384 if kind.chinese else 128} if dual else {}
    _json(
        folder / "config.json",
        {
            "model_type": "dual_encoder" if dual else "cross_encoder",
            **(lengths or {"max_seq_len": 384 if kind.chinese else 160}),
            "model_conf_path": "ernie_config.json",
            "model_vocab_path": "vocab.txt",
            "model_checkpoint_path": "params",
            "for_cn": kind.chinese,
            "share_parameter": 0,
            **kind.settings,
        },
    )
    _json(folder / "ernie_config.json", settings)
    vocabulary(folder / "vocab.txt", kind.chinese)
    return ["--from", "paddle", str(folder)]


def configuration(chinese: bool, layers: int = 2) -> dict[str, object]:
    """ernie_config.json of ERNIE 1.0 (Chinese) or of ERNIE 2.0 (English), small."""
    usual = {
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "relu" if chinese else "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": HIDDEN,
        "initializer_range": 0.02,
        "max_position_embeddings": 513 if chinese else 512,
        "num_attention_heads": HEADS,
        "num_hidden_layers": layers,
    }
    types = {"type_vocab_size": 2} if chinese else {"sent_type_vocab_size": 4, "task_type_vocab_size": 16}
    return {**usual, **types, "vocab_size": len(VOCABULARY) + 6}  # the real table is longer than the list


def network(prefix: str, settings: Mapping[str, object], seed: int) -> Tensors:
    """The tensors of one encoder, as rocketqa names them."""
    sizes = {name: int(value) for name, value in settings.items() if isinstance(value, int)}
    types = sizes.get("sent_type_vocab_size") or sizes["type_vocab_size"]
    d, inner = sizes["hidden_size"], 4 * sizes["hidden_size"]
    shapes: dict[str, tuple[int, ...]] = {
        "word_embedding": (sizes["vocab_size"], d),
        "pos_embedding": (sizes["max_position_embeddings"], d),
        "sent_embedding": (types, d),
        **({"task_embedding": (sizes["task_type_vocab_size"], d)} if settings.get("use_task_id") else {}),
        "pre_encoder_layer_norm_scale": (d,),
        "pre_encoder_layer_norm_bias": (d,),
    }
    for number in range(sizes["num_hidden_layers"]):
        layer = f"encoder_layer_{number}_"
        for part in ("query", "key", "value", "output"):
            shapes |= {f"{layer}multi_head_att_{part}_fc.w_0": (d, d)}
            shapes |= {f"{layer}multi_head_att_{part}_fc.b_0": (d,)}
        for part in ("post_att", "post_ffn"):
            shapes |= {f"{layer}{part}_layer_norm_{end}": (d,) for end in ("scale", "bias")}
        shapes |= {f"{layer}ffn_fc_0.w_0": (d, inner), f"{layer}ffn_fc_0.b_0": (inner,)}
        shapes |= {f"{layer}ffn_fc_1.w_0": (inner, d), f"{layer}ffn_fc_1.b_0": (d,)}
    return _random({prefix + name: shape for name, shape in shapes.items()}, seed)


def classifier(head: str, pooled: bool, seed: int) -> Tensors:
    """A cross-encoder's head: two classes behind a pooler, or RocketQAv2's one logit without one."""
    classes = 2 if pooled else 1
    shapes: dict[str, tuple[int, ...]] = {f"{head}_w": (HIDDEN, classes), f"{head}_b": (classes,)}
    if pooled:
        shapes |= {"pooled_fc.w_0": (HIDDEN, HIDDEN), "pooled_fc.b_0": (HIDDEN,)}
    return _random(shapes, seed + 7)


def write(folder: Path, weights: Mapping[str, np.ndarray], form: str) -> None:
    """Writes tensors as Paddle does: a file a tensor, one file beside the program that names the order, or a
    pickle of arrays."""
    folder.mkdir(parents=True, exist_ok=True)
    if form == "separate":
        for name, array in weights.items():
            (folder / name).write_bytes(tensor(array))
    elif form == "combined":
        ordered = sorted(weights)
        (folder / "__params__").write_bytes(b"".join(tensor(weights[name]) for name in ordered))
        (folder / "__model__").write_bytes(program({name: weights[name].shape for name in ordered}))
    else:
        (folder / "model.pdparams").write_bytes(pickle.dumps(dict(weights), protocol=4))


def tensor(array: np.ndarray) -> bytes:
    """A LoDTensor: its version, no levels of detail, the tensor's version, a TensorDesc, the numbers."""
    kinds = {"float16": 4, "float32": 5, "float64": 6}
    described = _described(kinds[array.dtype.name], array.shape)
    head = struct.pack("<IQIi", 0, 0, 0, len(described))
    return head + described + np.ascontiguousarray(array).tobytes()


def program(shapes: Mapping[str, Sequence[int]]) -> bytes:
    """A ProgramDesc of one block with these parameters, beside the inputs and outputs that one has."""
    variables = [_variable("feed", _field(1, 9), True), _variable("fetch", _field(1, 10), True)]
    for name, shape in shapes.items():
        kind = _field(1, 7) + _field(3, _field(1, _described(5, shape)))
        variables.append(_variable(name, kind, True))
    variables.append(
        _variable("tmp_0", _field(1, 7) + _field(3, _field(1, _described(5, (-1, HIDDEN)))), False)
    )
    block = _field(1, 0) + _field(2, -1) + b"".join(_field(3, variable) for variable in variables)
    return _field(1, block)


def vocabulary(path: Path, chinese: bool = False) -> None:
    """vocab.txt, a token a line; ERNIE's own has the token's number behind a tab."""
    rows = (f"{token}\t{number}" if chinese else token for number, token in enumerate(VOCABULARY))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def _variable(name: str, kind: bytes, persistable: bool) -> bytes:
    return _field(1, name.encode()) + _field(2, kind) + _field(3, int(persistable))


def _described(kind: int, shape: Sequence[int]) -> bytes:
    return _field(1, kind) + b"".join(_field(2, size) for size in shape)


def _field(number: int, value: int | bytes) -> bytes:
    """A field of a protobuf message: a number, or bytes with their length."""
    if isinstance(value, bytes):
        return _varint(number << 3 | 2) + _varint(len(value)) + value
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    value %= 1 << 64
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _random(shapes: Mapping[str, tuple[int, ...]], seed: int) -> Tensors:
    """Weights large enough that every part of the network changes the result."""
    rng = np.random.default_rng(seed)
    weights = {}
    for name, shape in shapes.items():
        scale = 1.0 if name.endswith("embedding") else 0.2
        weights[name] = (scale * rng.standard_normal(shape)).astype(np.float32)
        if name.endswith("norm_scale"):
            weights[name] += 1
    return weights


def _json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
