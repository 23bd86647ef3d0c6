"""The forms of the published models: what weights and configuration they have, and in which files."""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import tiny_heads
import tiny_models
from tiny_models import as_json

from standins.models import PUBLISHED, Published, tokenisers

if TYPE_CHECKING:
    from torch import Tensor

HIDDEN, INNER, LAYERS, HEADS = 32, 64, 2, 4
BERT = {
    "attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
    "hidden_size": HIDDEN, "initializer_range": 0.02, "intermediate_size": INNER,
    "max_position_embeddings": 512, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
    "type_vocab_size": 2,
}  # fmt: skip
PADDED = {
    "model_type": "bert",
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
}
ROBERTA = {
    **BERT, "model_type": "roberta", "layer_norm_eps": 1e-5, "max_position_embeddings": 514,
    "type_vocab_size": 1, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
XLMR = {**ROBERTA, "model_type": "xlm-roberta", "output_past": True}
DISTILBERT = {
    "model_type": "distilbert", "activation": "gelu", "attention_dropout": 0.1, "dim": HIDDEN, "dropout": 0.1,
    "hidden_dim": INNER, "initializer_range": 0.02, "max_position_embeddings": 512, "n_heads": HEADS,
    "n_layers": LAYERS, "pad_token_id": 0, "qa_dropout": 0.1, "seq_classif_dropout": 0.2,
    "sinusoidal_pos_embds": False,
}  # fmt: skip
DECODER = {
    "attention_dropout": 0.0, "hidden_act": "silu", "hidden_size": HIDDEN, "initializer_range": 0.02,
    "intermediate_size": INNER, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
    "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "use_cache": True,
}  # fmt: skip
QWEN3 = {
    **DECODER, "model_type": "qwen3", "head_dim": 16, "max_position_embeddings": 32768, "rope_theta": 1000000,
    "attention_bias": False, "tie_word_embeddings": True, "use_sliding_window": False,
}  # fmt: skip
# as the repositories of long readers have them, with fewer and narrower layers
READERS = json.loads(Path(__file__).with_name("long_readers.json").read_bytes())
ONE_LABEL = {"id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}
SCORER = {**ONE_LABEL, "sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}
ERNIE = {**BERT, **PADDED, "model_type": "ernie", "task_type_vocab_size": 3, "use_task_id": False}
LINEAR = {"weight": (HIDDEN, HIDDEN), "bias": (HIDDEN,)}


class Form(NamedTuple):
    architecture: str  # as config.json names it
    shapes: str  # the class of transformers that has these tensors, by names after `prefix`
    config: Mapping[str, Any]
    tokeniser: str
    prefix: str = ""
    more: Mapping[str, tuple[int, ...]] = {}  # other tensors
    less: str = "$^"  # a pattern of tensors that the file lacks
    dtype: str = "float32"


def _under(name: str, shapes: Mapping[str, tuple[int, ...]] = LINEAR) -> dict[str, tuple[int, ...]]:
    return {f"{name}.{part}": shape for part, shape in shapes.items()}


def _bert(
    architecture: str,
    shapes: str = "BertModel",
    *,
    tokeniser: str = "wordpiece",
    config: Mapping[str, Any] = {},
    **more: Any,
) -> Form:
    return Form(architecture, shapes, {**BERT, **PADDED, **config}, tokeniser, **more)


def _jina(tokeniser: str) -> Form:
    """JinaBERT as jina-bert-implementation has it: ALiBi, and gated layers in the place of BERT's two."""
    code = "jinaai/jina-bert-implementation--"
    config = {
        "position_embedding_type": "alibi", "max_position_embeddings": 8192, "model_max_length": 8192,
        "feed_forward_type": "geglu", "emb_pooler": "mean", "attn_implementation": "torch",
        "auto_map": {
            "AutoConfig": f"{code}configuration_bert.JinaBertConfig",
            "AutoModel": f"{code}modeling_bert.JinaBertModel",
            "AutoModelForMaskedLM": f"{code}modeling_bert.JinaBertForMaskedLM",
        },
    }  # fmt: skip
    gated = {
        "gated_layers.weight": (2 * INNER, HIDDEN),
        "wo.weight": (HIDDEN, INNER),
        "wo.bias": (HIDDEN,),
        "layernorm.weight": (HIDDEN,),
        "layernorm.bias": (HIDDEN,),
    }
    more = {
        name: shape
        for layer in range(LAYERS)
        for name, shape in _under(f"encoder.layer.{layer}.mlp", gated).items()
    }
    less = r"embeddings\.position_embeddings\..*|encoder\.layer\.\d+\.(intermediate|output)\..*"
    return _bert("JinaBertForMaskedLM", tokeniser=tokeniser, config=config, more=more, less=less)


def _decoder(
    architecture: str,
    shapes: str,
    config: Mapping[str, Any],
    tokeniser: str = "qwen",
    dtype: str = "bfloat16",
) -> Form:
    return Form(architecture, shapes, config, tokeniser, dtype=dtype)


def _reader(name: str, architecture: str, tokeniser: str) -> Form:
    """NomicBert and GTE as their authors' code names the tensors, which is not how transformers names them."""
    one = {part: tuple(shape) for part, shape in READERS["tensors of one layer"][name].items()}
    every = {part.replace(".0.", f".{i}."): shape for part, shape in one.items() for i in range(LAYERS)}
    every["embeddings.word_embeddings.weight"] = (tokenisers.SIZES[tokeniser], HIDDEN)
    return Form(architecture, "", READERS["configs"][name], tokeniser, more=every)


def _modernbert(dtype: str) -> Form:
    return Form(
        "ModernBertModel", "ModernBertModel", READERS["configs"]["modernbert"], "modernbert", dtype=dtype
    )


_HEADS_OF_ANCE = {
    **_under("embeddingHead"), **_under("norm", {"weight": (HIDDEN,), "bias": (HIDDEN,)}),
    **_under("classifier.dense"), **_under("classifier.out_proj", {"weight": (2, HIDDEN), "bias": (2,)}),
}  # fmt: skip
FORMS = {
    "bert": _bert("BertModel"),
    "bert-half": _bert("BertModel", dtype="float16"),
    "bert-mlm": _bert("BertForMaskedLM", "BertForMaskedLM"),
    "bert-hfl": _bert("BertForMaskedLM", "BertForPreTraining", less=r".*decoder\.bias"),
    "bert-google": _bert("BertForMaskedLM", "BertForPreTraining", less=r".*decoder\.bias"),
    "bert-scorer": _bert("BertForSequenceClassification", "BertForSequenceClassification", config=SCORER),
    "bert-xlmr": _bert("BertModel", tokeniser="xlmr", config={"tokenizer_class": "XLMRobertaTokenizer"}),
    "contriever": _bert("Contriever"),
    # 314 bytes, those of the configuration of Google's BERT: without model_type
    "monobert": Form("", "BertForSequenceClassification", BERT, "wordpiece"),
    "unicoil": _bert("UniCoilEncoder", prefix="bert.", more=_under("tok_proj", {"weight": (1, HIDDEN), "bias": (1,)})),
    "colbert": _bert("HF_ColBERT", prefix="bert.", more={"linear.weight": (16, HIDDEN)}),
    "dpr-ctx": _bert("DPRContextEncoder", prefix="ctx_encoder.bert_model.", config={"model_type": "dpr", "projection_dim": 0}),
    "dpr-question": _bert("DPRQuestionEncoder", prefix="question_encoder.bert_model.", config={"model_type": "dpr", "projection_dim": 0}),
    "jina": _jina("wordpiece"),
    "jina-zh": _jina("bytes"),
    "roberta": Form("RobertaModel", "RobertaModel", ROBERTA, "bytes"),
    "ance": Form("RobertaForSequenceClassification", "RobertaModel", ROBERTA, "bytes", "roberta.", _HEADS_OF_ANCE),
    "xlmr": Form("XLMRobertaModel", "XLMRobertaModel", XLMR, "xlmr"),
    "bge-m3": Form("XLMRobertaModel", "XLMRobertaModel", {**XLMR, "max_position_embeddings": 8194}, "xlmr"),
    "xlmr-scorer": Form("XLMRobertaForSequenceClassification", "XLMRobertaForSequenceClassification", {**XLMR, **ONE_LABEL}, "xlmr"),
    "distilbert": Form("DistilBertModel", "DistilBertModel", DISTILBERT, "wordpiece"),
    "distilbert-mlm": Form("DistilBertForMaskedLM", "DistilBertForMaskedLM", DISTILBERT, "wordpiece"),
    "mpnet": Form("MPNetModel", "MPNetModel", {**ROBERTA, "model_type": "mpnet", "relative_attention_num_buckets": 32}, "wordpiece", less=r"embeddings\.token_type.*"),
    "electra": Form(
        "ElectraForSequenceClassification", "ElectraForSequenceClassification",
        {**BERT, **PADDED, **SCORER, "model_type": "electra", "embedding_size": HIDDEN, "summary_activation": "gelu",
         "summary_last_dropout": 0.1, "summary_type": "first", "summary_use_proj": True}, "wordpiece",
    ),
    "ernie-1": Form("ErnieForMaskedLM", "ErnieForMaskedLM", {**ERNIE, "hidden_act": "relu", "max_position_embeddings": 513}, "wordpiece"),
    "ernie-2": Form("ErnieForMaskedLM", "ErnieForMaskedLM", {**ERNIE, "type_vocab_size": 4}, "wordpiece"),
    "deberta": Form(
        "DebertaV2ForSequenceClassification", "DebertaV2ForSequenceClassification",
        {**BERT, **ONE_LABEL, "model_type": "deberta-v2", "type_vocab_size": 0, "layer_norm_eps": 1e-7,
         "max_relative_positions": -1, "norm_rel_ebd": "layer_norm", "pad_token_id": 0, "pooler_dropout": 0,
         "pooler_hidden_act": "gelu", "pooler_hidden_size": HIDDEN, "pos_att_type": ["p2c", "c2p"],
         "position_biased_input": False, "position_buckets": 256, "relative_attention": True, "share_att_key": True},
        "deberta", dtype="float16",
    ),
    "t5": Form(
        "T5ForConditionalGeneration", "T5ForConditionalGeneration",
        {"model_type": "t5", "d_ff": INNER, "d_kv": HIDDEN // HEADS, "d_model": HIDDEN, "decoder_start_token_id": 0,
         "dropout_rate": 0.1, "eos_token_id": 1, "initializer_factor": 1.0, "is_encoder_decoder": True,
         "layer_norm_epsilon": 1e-6, "n_positions": 512, "num_heads": HEADS, "num_layers": LAYERS,
         "output_past": True, "pad_token_id": 0, "relative_attention_num_buckets": 32},
        "t5", more={"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight": (32, HEADS)},
    ),
    "mistral": _decoder(
        "MistralModel", "MistralModel",
        {**DECODER, "model_type": "mistral", "bos_token_id": 1, "eos_token_id": 2, "max_position_embeddings": 32768,
         "rope_theta": 10000.0, "sliding_window": 4096, "tie_word_embeddings": False}, "mistral", "float16",
    ),
    "modernbert": _modernbert("float32"),
    "modernbert-half": _modernbert("float16"),
    "modernbert-bf16": _modernbert("bfloat16"),
    "nomic": _reader("nomic", "NomicBertModel", "wordpiece"),
    "gte": _reader("gte", "GteModel", "xlmr"),
    "gemma": Form("Gemma3TextModel", "Gemma3TextModel", READERS["configs"]["gemma"], "gemma"),
    "xlmr-half": Form("XLMRobertaModel", "XLMRobertaModel", XLMR, "xlmr", dtype="float16"),
    "qwen3-embedding": _decoder("Qwen3ForCausalLM", "Qwen3Model", QWEN3, "qwen-ending"),
    "qwen3": _decoder("Qwen3ForCausalLM", "Qwen3ForCausalLM", QWEN3),
    "smollm2": _decoder(
        "LlamaForCausalLM", "LlamaForCausalLM",
        {**DECODER, "model_type": "llama", "attention_bias": False, "max_position_embeddings": 8192, "mlp_bias": False,
         "pretraining_tp": 1, "rms_norm_eps": 1e-5, "rope_interleaved": False, "rope_scaling": None,
         "rope_theta": 100000, "tie_word_embeddings": True}, "qwen-chat",
    ),
    "qwen2": _decoder(
        "Qwen2ForCausalLM", "Qwen2ForCausalLM",
        {**DECODER, "model_type": "qwen2", "max_position_embeddings": 32768, "max_window_layers": LAYERS,
         "rope_theta": 1000000.0, "tie_word_embeddings": True, "use_sliding_window": False},
    ),
}  # fmt: skip

# Uploaded before torch 1.6 wrote archives (July 2020), as far as the repositories' ages tell: the older pickles.
OLD = re.compile(r"google-bert/.*|hfl/.*|nghuyong/.*|castorini/monobert.*")
# Tensors that are another one of the same file.
TIED = {
    r"cls\.predictions\.decoder\.weight|vocab_projector\.weight": ".embeddings.word_embeddings.weight",
    r"cls\.predictions\.decoder\.bias": "cls.predictions.bias",
    r"(encoder|decoder)\.embed_tokens\.weight|lm_head\.weight": "shared.weight",
}
# what tokenizer_config.json holds besides, where it was seen to be short: nothing else
SHORT = (
    (r"facebook/(dragon-plus|dpr).*|nghuyong/.*", {"do_lower_case": True}),
    (r"castorini/monobert.*", {"do_lower_case": True, "max_len": 512, "init_inputs": []}),
    (r"google-bert/.*", {"do_lower_case": False, "model_max_length": 512}),
    (r"hfl/.*", {"init_inputs": []}),
)
CLS = re.compile(r".*(tas-b|mpnet-base-dot|bge-|gte-\w+-zh|gte-modern|granite|arctic).*")
UNNORMALISED = re.compile(r".*(tas-b|-dot-v|bge-small-zh|jina-|gte-modern).*")
LENGTHS = {"all-MiniLM-L6-v2": 256, "all-MiniLM-L12-v2": 128, "all-mpnet-base-v2": 384}
LENGTHS |= {"e5-mistral-7b-instruct": 4096, "embeddinggemma-300m": 2048}
LENGTHS |= {"modernbert-embed-base": 8192, "nomic-embed-text-v1.5": 8192}
LENGTHS |= {f"granite-embedding-{size}english-r2": 8192 for size in ("", "small-")}
STATIC = 16  # numbers of a static vector


def write(row: Published, folder: Path) -> None:
    """Write every file of a repository, those that nothing reads with made-up content."""
    folder.mkdir(parents=True)
    if row.form in FORMS:
        _network(row, folder)
    elif row.form in ("model2vec", "static"):
        _static(row, folder)
    towers = {Path(name).parts[0] for name in row.files if "_0_MLMTransformer/" in name}
    for tower in towers:  # the other one's, below this one's
        side = tower.partition("_")[0]
        other = PUBLISHED[f"{row.name.rpartition('-')[0]}-{'doc' if side == 'document' else side}"]
        inside = tuple(Path(name).name for name in row.files if name.startswith(f"{tower}/"))
        _network(other._replace(files=inside), folder / tower)
    for name in row.files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            continue
        if name.endswith("_linear.pt"):
            shapes = {"weight": (1, HIDDEN), "bias": (1,)} if "sparse" in name else LINEAR
            _save_torch({part: _random(f"{row.name} {name}", part, shapes[part]) for part in shapes}, path)
        elif (content := _settings(row, name)) is not None:
            as_json(path, content)
        elif name.endswith("_Dense/model.safetensors"):
            shape = (INNER, HIDDEN) if name.startswith("2_") else (HIDDEN, INNER)
            _weights({"linear.weight": _random(row.name, name, shape)}, path.parent, [path.name], False)
        else:
            path.write_text("raise SystemExit('the made-up file of a stand-in was run')\n", encoding="utf-8")
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        if path.relative_to(folder).as_posix() not in row.files:
            path.unlink()


def tensors(row: Published) -> dict[str, Tensor]:
    """The weights of a model, by their published names."""
    import torch

    form = FORMS[row.form]
    config = _config(row)
    shapes = {form.prefix + name: shape for name, shape in _shapes(form.shapes, config).items()}
    shapes = {
        name: shape for name, shape in {**shapes, **form.more}.items() if not re.fullmatch(form.less, name)
    }
    if config.get("tie_word_embeddings"):
        shapes.pop("lm_head.weight", None)
    result = {
        name: _random(row.name, name, shape).to(getattr(torch, form.dtype)) for name, shape in shapes.items()
    }
    for pattern, end in TIED.items():
        of = next((name for name in result if name.endswith(end)), None)
        result |= {name: result[of] for name in result if of is not None and re.fullmatch(pattern, name)}
    if row.form == "bert-google":  # as TensorFlow names them
        names = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
        result = {
            re.sub(r"LayerNorm\.\w+$", lambda m: names[m[0]], name): value for name, value in result.items()
        }
    if "pytorch_model.bin" in row.files and not OLD.fullmatch(
        row.name
    ):  # a buffer, as it was saved until 2023
        for name in [name for name in result if name.endswith("position_embeddings.weight")]:
            places = torch.arange(len(result[name]))[None]
            result[name.replace("position_embeddings.weight", "position_ids")] = places
    return result


def _config(row: Published) -> dict[str, Any]:
    form = FORMS[row.form]
    config = {**form.config, "vocab_size": tokenisers.SIZES[form.tokeniser]}
    if row.name.endswith("-8B"):
        config["tie_word_embeddings"] = False
    if row.name.endswith("v2-m3"):
        config["max_position_embeddings"] = 8194
    if form.dtype != "float32":
        config["torch_dtype"] = form.dtype
    return {"architectures": [form.architecture], **config} if form.architecture else config


def _network(row: Published, folder: Path) -> None:
    """Configuration, weights and tokenizer."""
    form = FORMS[row.form]
    folder.mkdir(parents=True, exist_ok=True)
    as_json(folder / "config.json", _config(row))
    places = _config(row).get("max_position_embeddings", 512)
    tokenisers.write(form.tokeniser, folder, min(places, 8192) // 256 * 256, {})
    for pattern, settings in SHORT:
        if re.fullmatch(pattern, row.name):
            as_json(folder / "tokenizer_config.json", settings)
    _weights(tensors(row), folder, row.files, bool(OLD.fullmatch(row.name)))


def _weights(values: Mapping[str, Tensor], folder: Path, files: Iterable[str], old: bool) -> None:
    from safetensors.torch import save_file

    shards = sorted(name for name in files if re.fullmatch(r"model(-\d+-of-\d+)?\.safetensors", name))
    names = list({values[name].data_ptr(): name for name in reversed(values)}.values())[
        ::-1
    ]  # of tied ones, the first
    place = {name: shards[len(shards) * i // len(names)] for i, name in enumerate(names)} if shards else {}
    for shard in shards:
        save_file(
            {name: values[name] for name in names if place[name] == shard}, folder / shard, {"format": "pt"}
        )
    if len(shards) > 1:
        total = sum(value.nbytes for value in values.values())
        as_json(
            folder / "model.safetensors.index.json", {"metadata": {"total_size": total}, "weight_map": place}
        )
    if "pytorch_model.bin" in files:
        _save_torch(values, folder / "pytorch_model.bin", old)


def _save_torch(values: Mapping[str, Tensor], path: Path, old: bool = False) -> None:
    from collections import OrderedDict

    import torch

    torch.save(OrderedDict(values), path, _use_new_zipfile_serialization=not old)


def _static(row: Published, folder: Path) -> None:
    """A table of vectors beside a tokenizer."""
    inner = folder if row.form == "model2vec" else folder / "0_StaticEmbedding"
    tokenisers.write("wordpiece", inner, 512, {})
    name = "embeddings" if row.form == "model2vec" else "embedding.weight"
    table = _random(row.name, name, (tokenisers.SIZES["wordpiece"], STATIC))
    _weights({name: table}, inner, ["model.safetensors"], False)
    if row.form == "model2vec":
        config = {
            "architectures": ["StaticModel"],
            "apply_pca": STATIC,
            "hidden_dim": STATIC,
            "seq_length": 1000000,
        }
        as_json(folder / "config.json", {"model_type": "model2vec", **config, "normalize": True})


def _shapes(kind: str, config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    import torch
    import transformers

    if not kind:  # all are named in the form
        return {}
    network = getattr(transformers, kind)
    known = {
        name: value
        for name, value in config.items()
        if name not in ("architectures", "model_type", "auto_map", "torch_dtype", "attn_implementation")
    }
    with torch.device("meta"):
        model = network(network.config_class(**known))
    return {name: tuple(value.shape) for name, value in model.state_dict().items()}


def _random(model: str, name: str, shape: tuple[int, ...]) -> Tensor:
    """Values large enough that no part of a network may be left out unnoticed."""
    import torch

    chance = torch.Generator().manual_seed(zlib.crc32(f"{model} {name}".encode()))
    scale = 0.1 if len(shape) == 1 else 0.3
    level = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
    level += 3.0 if shape == (1,) else 0.0  # the bias of a token's weight, so that many are above 0
    return level + scale * torch.randn(shape, generator=chance)


def _settings(row: Published, name: str) -> Any:
    """The content of a small file beside the network; None if another function writes it."""
    short = row.name.rpartition("/")[2]
    last = "Qwen" in row.name or "mistral" in row.name
    if name == "modules.json":
        if "router_config.json" in row.files:
            return [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Router"}]
        sparse = "sentence_transformers.sparse_encoder.models."
        dense = "sentence_transformers.models."
        kinds = [("", f"{sparse}MLMTransformer"), ("1_SpladePooling", f"{sparse}SpladePooling")]
        if row.form in ("model2vec", "static"):
            kinds = [("." if row.form == "model2vec" else "0_StaticEmbedding", f"{dense}StaticEmbedding")]
            kinds += [("1_Normalize", f"{dense}Normalize")] if row.form == "model2vec" else []
        if "1_Pooling/config.json" in row.files:
            kinds = [("", f"{dense}Transformer"), ("1_Pooling", f"{dense}Pooling")]
            layers = sorted({Path(name).parts[0] for name in row.files if "_Dense/" in name})
            kinds += [(layer, f"{dense}Dense") for layer in layers]
            kinds += [] if UNNORMALISED.fullmatch(row.name) else [("2_Normalize", f"{dense}Normalize")]
        return [
            {"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(kinds)
        ]
    if name == "1_Pooling/config.json":
        chosen = "lasttoken" if last else "cls_token" if CLS.fullmatch(row.name) else "mean_tokens"
        modes = ["cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens"]
        modes += ["weightedmean_tokens", "lasttoken"] if last else []
        return {
            "word_embedding_dimension": HIDDEN,
            **{f"pooling_mode_{mode}": mode == chosen for mode in modes},
        }
    if name.endswith("_Dense/config.json"):
        sizes = (HIDDEN, INNER) if name.startswith("2_") else (INNER, HIDDEN)
        identity = "torch.nn.modules.linear.Identity"
        return {
            "in_features": sizes[0],
            "out_features": sizes[1],
            "bias": False,
            "activation_function": identity,
        }
    if name.endswith("SpladePooling/config.json"):
        return {"pooling_strategy": "max", "activation_function": "relu", "word_embedding_dimension": None}
    if name == "router_config.json":
        ends = {
            side: [f"{side}_0_MLMTransformer", f"{side}_1_SpladePooling"] for side in ("query", "document")
        }
        return {
            "types": {},
            "structure": ends,
            "parameters": {"default_route": None, "allow_empty_key": True},
        }
    if name.endswith("sentence_bert_config.json"):
        jina = {"model_args": {"trust_remote_code": True}} if "jina" in row.name else {}
        return {
            "max_seq_length": 8192 if jina or short == "bge-m3" else LENGTHS.get(short, 512),
            "do_lower_case": False,
            **jina,
        }
    if name == "config_sentence_transformers.json":
        prompts = (
            {
                "prompts": {"query": "Instruct: \nQuery:", "document": ""},
                "default_prompt_name": None,
                "similarity_fn_name": "cosine",
            }
            if "Qwen" in row.name
            else {}
        )
        return {
            **prompts,
            "__version__": {"sentence_transformers": "2.0.0", "transformers": "4.7.0", "pytorch": "1.9.0"},
        }
    if name == "added_tokens.json":
        return {}
    if name == "artifact.metadata":
        return {**tiny_heads.METADATA, "query_maxlen": 32, "doc_maxlen": 180, "dim": 16}
    if name.endswith("idf.json"):
        return {piece: math.log(2 + number % 7) for number, piece in enumerate(tiny_models.VOCABULARY)}
    return None
