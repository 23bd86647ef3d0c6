"""Tiny random checkpoints in the formats of real ones: file names, tensor names, configuration.

Written with numpy alone, so that neither torch nor a tokeniser's library decides what a format is.
"""

import json
import string
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness import api
from harness.testing.texts import WORDS

HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 32, 2, 4, 64, 64
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]")
LETTERS = string.ascii_lowercase + string.digits
PIECES = ("##s", "##ed", "##ing", *(f"##{letter}" for letter in LETTERS))
CHINESE = "北京是中国的首都城市上海河山水火木金土日月星风云雨雪花草树鸟鱼马牛羊人口手足目耳心春夏秋冬东西南古今大小多少高低长短新旧"
VOCABULARY = (*SPECIAL, *string.punctuation, *LETTERS, *PIECES, *WORDS, *CHINESE, "。", "，")

Tensors = dict[str, np.ndarray]


def bert(
    folder: Path,
    *,
    prefix: str = "",
    pooler: bool = True,
    more: Mapping[str, tuple[int, ...]] | None = None,
    architecture: str = "BertModel",
    seed: int = 1,
    **config: Any,
) -> Path:
    """A BERT with WordPiece in `folder`: `prefix` stands before the tensors' names, `more` names tensors
    of a head with their shapes, `config` adds to or overrides what config.json says."""
    usual = {"model_type": "bert", "type_vocab_size": 2, "vocab_size": len(VOCABULARY)}
    settings = _config(architecture, **usual | config)
    write(folder, settings, random_tensors(_names(settings, prefix, pooler) | dict(more or {}), seed))
    wordpiece(folder, settings["max_position_embeddings"])
    return folder


def roberta(
    folder: Path,
    *,
    prefix: str = "",
    pooler: bool = True,
    more: Mapping[str, tuple[int, ...]] | None = None,
    architecture: str = "RobertaModel",
    seed: int = 1,
    **config: Any,
) -> Path:
    """A RoBERTa with a vocabulary of bytes; its positions begin after the padding's."""
    special = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "max_position_embeddings": 66}
    usual = {"model_type": "roberta", "type_vocab_size": 1, "vocab_size": 261}
    settings = _config(architecture, **usual | special | config)
    write(folder, settings, random_tensors(_names(settings, prefix, pooler) | dict(more or {}), seed))
    byte_pairs(folder)
    return folder


def jina(folder: Path, *, heads: int = 6, **config: Any) -> Path:
    """A JinaBERT in the form of jina-embeddings-v2: ALiBi in place of positions, gated layers."""
    code = "jinaai/jina-bert-implementation--modeling_bert.JinaBertModel"
    usual = {
        "model_type": "bert", "type_vocab_size": 2, "vocab_size": len(VOCABULARY), "hidden_size": 8 * heads,
        "num_attention_heads": heads, "position_embedding_type": "alibi", "feed_forward_type": "geglu",
        "emb_pooler": "mean", "attn_implementation": "torch", "max_position_embeddings": 8192, "auto_map": {"AutoModel": code},
    }  # fmt: skip
    settings = _config("JinaBertForMaskedLM", **usual | config)
    absent = ("position_embeddings", "intermediate", "layer.0.output", "layer.1.output")
    names = _names(settings, "", pooler=True).items()
    shapes = {name: shape for name, shape in names if not any(part in name for part in absent)}
    width, inner = settings["hidden_size"], settings["intermediate_size"]
    for at in ("encoder.layer.0.mlp", "encoder.layer.1.mlp"):
        shapes |= {f"{at}.gated_layers.weight": (2 * inner, width), **_linear(f"{at}.wo", inner, width)}
        shapes |= _norm(f"{at}.layernorm", width)
    write(folder, settings, random_tensors(shapes, 1))
    wordpiece(folder)
    return folder


def sentence_transformer(
    folder: Path,
    *,
    pooling: str = "mean_tokens",
    normalise: bool = True,
    length: int = 48,
    settings: Mapping[str, Any] | None = None,
    seed: int = 1,
    **config: Any,
) -> Path:
    """A folder as sentence-transformers saves it; `settings` is the content of config_sentence_transformers.json."""
    bert(folder, seed=seed, **config)
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    modules += [("2_Normalize", "Normalize")] if normalise else []
    as_json(
        folder / "modules.json",
        [
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for i, (path, kind) in enumerate(modules)
        ],
    )
    modes = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "lasttoken")
    as_json(
        folder / "1_Pooling" / "config.json",
        {"word_embedding_dimension": HIDDEN} | {f"pooling_mode_{mode}": mode == pooling for mode in modes},
    )
    as_json(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    as_json(folder / "config_sentence_transformers.json", dict(settings or {}))
    return folder


def write(folder: Path, config: Mapping[str, Any], tensors: Tensors) -> None:
    as_json(folder / "config.json", config)
    safetensors(folder / "model.safetensors", tensors)


def random_tensors(shapes: Mapping[str, tuple[int, ...]], seed: int) -> Tensors:
    """Values large enough that no part of a network may be left out unnoticed."""
    chance = np.random.default_rng(seed)
    return {
        name: (
            (1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0)
            + chance.normal(0, 0.1 if len(shape) == 1 else 0.3, shape)
        ).astype(np.float32)
        for name, shape in shapes.items()
    }


def safetensors(path: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """The format in full: the header's length, the header, the values. All float32."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    raw = json.dumps(header).encode()
    raw += b" " * (-len(raw) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + b"".join(map(np.ndarray.tobytes, tensors.values())))


def read_safetensors(path: Path) -> Tensors:
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header, values = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    return {
        name: np.frombuffer(values[slice(*tensor["data_offsets"])], np.float32).reshape(tensor["shape"])
        for name, tensor in header.items()
        if name != "__metadata__"
    }


def pickled(folder: Path) -> Path:
    """The folder with every file of safetensors as the archive that torch.save writes in its place."""
    import torch
    from safetensors.torch import load_file

    for path in list(folder.rglob("model.safetensors")):
        torch.save(load_file(path), path.with_name("pytorch_model.bin"))
        path.unlink()
    return folder


def wordpiece(folder: Path, length: int = POSITIONS) -> None:
    """BERT's uncased WordPiece: tokenizer.json, and vocab.txt as older folders have it."""
    numbers = {piece: i for i, piece in enumerate(VOCABULARY)}
    cls, sep = ({"id": name, "ids": [numbers[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]"))
    _tokenizer(
        folder,
        special={name: numbers[name] for name in SPECIAL[:5]},
        normalizer={
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
            "strip_accents": None, "lowercase": True,
        },
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor={
            "type": "TemplateProcessing",
            "single": [_token("[CLS]", 0), _text("A", 0), _token("[SEP]", 0)],
            "pair": [
                _token("[CLS]", 0), _text("A", 0), _token("[SEP]", 0), _text("B", 1), _token("[SEP]", 1)
            ],
            "special_tokens": {"[CLS]": cls, "[SEP]": sep},
        },
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
        model={
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": numbers,
        },
    )  # fmt: skip
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    names = {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}
    _tokenizer_config(folder, "BertTokenizer", names, length, do_lower_case=True)


def byte_pairs(folder: Path) -> None:
    """RoBERTa's byte-level pairs, with no merge: every byte is a token."""
    special = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    numbers = {name: i for i, name in enumerate((*special[:4], *bytes_as_letters(), special[4]))}
    _tokenizer(
        folder,
        special={name: numbers[name] for name in special},
        normalizer=None,
        pre_tokenizer={"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
        post_processor={
            "type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0],
            "trim_offsets": True, "add_prefix_space": False,
        },
        decoder={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
        model={"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
               "end_of_word_suffix": "", "fuse_unk": False, "vocab": numbers, "merges": []},
    )  # fmt: skip
    as_json(folder / "vocab.json", numbers)
    (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    names = {
        "unk": "<unk>", "sep": "</s>", "pad": "<pad>", "cls": "<s>", "mask": "<mask>", "bos": "<s>",
        "eos": "</s>",
    }  # fmt: skip
    _tokenizer_config(folder, "RobertaTokenizer", names, POSITIONS)


def bytes_as_letters() -> list[str]:
    """How byte-level pairs write each byte as a printable letter."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in kept]
    return [chr(byte) for byte in kept] + [chr(256 + i) for i in range(len(others))]


def as_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def _config(architecture: str, **more: Any) -> dict[str, Any]:
    return {
        "architectures": [architecture], "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "intermediate_size": INNER, "max_position_embeddings": POSITIONS,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0,
        "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "initializer_range": 0.02,
    } | more  # fmt: skip


def _names(config: Mapping[str, Any], prefix: str, pooler: bool) -> dict[str, tuple[int, ...]]:
    """The tensors of a BERT or RoBERTa with their shapes."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], hidden),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], hidden),
        **_norm("embeddings.LayerNorm", hidden),
    }
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            shapes |= _linear(f"{at}.attention.self.{part}", hidden, hidden)
        shapes |= _linear(f"{at}.attention.output.dense", hidden, hidden)
        shapes |= _norm(f"{at}.attention.output.LayerNorm", hidden)
        shapes |= _linear(f"{at}.intermediate.dense", hidden, inner)
        shapes |= _linear(f"{at}.output.dense", inner, hidden)
        shapes |= _norm(f"{at}.output.LayerNorm", hidden)
    if pooler:
        shapes |= _linear("pooler.dense", hidden, hidden)
    return {prefix + name: shape for name, shape in shapes.items()}


def _linear(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name: str, width: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def _tokenizer(folder: Path, special: Mapping[str, int], **parts: Any) -> None:
    added = [
        {"id": number, "content": name, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for name, number in special.items()
    ]  # fmt: skip
    tokenizer = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, **parts}
    as_json(folder / "tokenizer.json", tokenizer)


def _tokenizer_config(folder: Path, kind: str, names: Mapping[str, str], length: int, **more: Any) -> None:
    special_tokens = {f"{role}_token": name for role, name in names.items()}
    as_json(folder / "special_tokens_map.json", special_tokens)
    as_json(
        folder / "tokenizer_config.json",
        {**special_tokens, "tokenizer_class": kind, "model_max_length": length, **more},
    )


def _token(name: str, kind: int) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": kind}}


def _text(name: str, kind: int) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": kind}}


def onnx(
    folder: Path, *, file: str = "model.onnx", pooled: bool = False, width: int = HIDDEN, seed: int = 1,
    apart: str | None = None, mixed: bool = False,
) -> Path:  # fmt: skip
    """An exported encoder with WordPiece whose token states are word vectors alone; with `mixed` each is the sum
    of the text's. `pooled` gives one vector of `width` a text and no token states, as some exports do. `apart` is the name of a file of its own
    for the weights, beside the network's, as large ones have it."""
    words = random_tensors({"words": (len(VOCABULARY), width)}, seed)["words"]
    words[0] = 0 if mixed else words[0]  # a sum does not depend on the padding
    tensor = _field(1, words.shape[0]) + _field(1, words.shape[1]) + _field(2, 1)  # dims, float
    tensor += _field(8, b"words")
    if apart is None:
        tensor += _field(9, words.tobytes())
    else:
        tensor += _field(13, _field(1, b"location") + _field(2, apart.encode())) + _field(14, 1)
    states = "states" if mixed else "last_hidden_state"
    nodes = [_node("Gather", states, "words", "input_ids")]
    tensors = [tensor]
    if mixed:
        tensors.append(_field(1, 1) + _field(2, 7) + _field(7, 1) + _field(8, b"axis"))  # int64: 1
        nodes += [_node("ReduceSum", "sum", states, "axis"), _node("Sub", "zeros", states, states)]
        nodes.append(_node("Add", "last_hidden_state", "zeros", "sum"))
    output = _value("last_hidden_state", 1, ("n", "tokens", width))
    if pooled:
        nodes.append(
            _node("ReduceMean", "sentence_embedding", "last_hidden_state")
            + _field(5, _field(1, b"axes") + _field(8, 1) + _field(20, 7))
            + _field(5, _field(1, b"keepdims") + _field(3, 0) + _field(20, 2))
        )  # fmt: skip
        output = _value("sentence_embedding", 1, ("n", width))
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"tiny")
    graph += b"".join(_field(5, each) for each in tensors)
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        graph += _field(11, _value(name, 7, ("n", "tokens")))
    graph += _field(12, output)
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    if apart is not None:
        (path.parent / apart).write_bytes(words.tobytes())
    path.write_bytes(_field(1, 8) + _field(7, graph) + _field(8, _field(1, b"") + _field(2, 13)))
    wordpiece(folder)
    return folder


def _node(operator: str, output: str, *inputs: str) -> bytes:
    named = b"".join(_field(1, name.encode()) for name in inputs)
    return named + _field(2, output.encode()) + _field(4, operator.encode())


def _value(name: str, kind: int, shape: tuple[int | str, ...]) -> bytes:
    """A named input or output with its element type and shape, as ONNX writes it."""
    sizes = [_field(1, size) if isinstance(size, int) else _field(2, size.encode()) for size in shape]
    dims = b"".join(_field(1, size) for size in sizes)
    return _field(1, name.encode()) + _field(2, _field(1, _field(1, kind) + _field(2, dims)))


def _field(number: int, value: int | bytes) -> bytes:
    """One field of a protocol buffer: a whole number, or bytes with their length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    groups = bytearray()
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])


def ran(folder: Path, **systems: str) -> Any:
    """The leaderboard of a suite of these systems on the small collection; every row is ok."""
    data = Path(__file__).parent / "data" / "beir"
    listed = "".join(f"  {name}: {{{system}}}\n" for name, system in systems.items())
    (folder / "suite.yaml").write_text(
        f"suite: shared\ndatasets:\n  it: {{files: {{path: {data}, language: en}}}}\nsystems:\n{listed}"
        "measures: [nDCG@10]\ndepth: 10\n"
    )
    board = api.run(folder / "suite.yaml", out=folder / "out", store=folder / "store", quiet=True)
    assert [row.error for row in board.rows if row.status != "ok"] == []
    assert len(list((folder / "store" / "artifacts").glob("index-*"))) == 1
    return board
