"""Writes the vocabularies of the families, in the files that they are published in."""

import json
import string
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tiny_models
from tiny_models import as_json, bytes_as_letters

from harness.testing.texts import WORDS

CHINESE = tuple(piece for piece in tiny_models.VOCABULARY if len(piece) == 1 and ord(piece) > 0x2E80)
SIGNS = (*string.punctuation, *string.ascii_letters, *string.digits, *CHINESE)
# words that the prompts and answers of re-rankers have
ANSWERS = ("true", "false", "Query:", "Document:", "Relevant:", "yes", "no")
PIECES = ("▁", *(f"▁{word}" for word in (*ANSWERS, *WORDS)), *SIGNS)
XLMR = ("<s>", "<pad>", "</s>", "<unk>", *PIECES, "<mask>")
T5 = ("<pad>", "</s>", "<unk>", *PIECES)
DEBERTA = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", *PIECES, "[MASK]")
MISTRAL = ("<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *SIGNS)
QWEN_SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")
QWEN_MERGES = (("y", "e"), ("ye", "s"), ("n", "o"))
QWEN = (*bytes_as_letters(), *("".join(pair) for pair in QWEN_MERGES), *QWEN_SPECIAL)
MODERNBERT_SPECIAL = ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]")
GEMMA = (
    "<pad>",
    "<eos>",
    "<bos>",
    "<unk>",
    "<mask>",
    *(f"<0x{byte:02X}>" for byte in range(256)),
    "▁",
    *SIGNS,
)
SIZES = {
    "modernbert": 256 + len(MODERNBERT_SPECIAL),
    "gemma": len(GEMMA),
    "wordpiece": len(tiny_models.VOCABULARY),
    "bytes": 261,
    "xlmr": len(XLMR),
    "t5": len(T5) + 128,  # the published vocabulary is rounded up, and has 100 pieces that no file names
    "deberta": len(DEBERTA) + 2,
    "mistral": len(MISTRAL),
    "qwen": len(QWEN),
    "qwen-ending": len(QWEN),
    "qwen-chat": len(QWEN),
}  # fmt: skip

CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write(kind: str, folder: Path, length: int, config: Mapping[str, Any]) -> None:
    """Write every file of a kind of tokenizer. `config` adds to tokenizer_config.json."""
    if kind == "wordpiece":
        tiny_models.wordpiece(folder)
    elif kind == "bytes":
        tiny_models.byte_pairs(folder)
    elif kind == "xlmr":
        special = {
            "bos": "<s>",
            "eos": "</s>",
            "sep": "</s>",
            "cls": "<s>",
            "unk": "<unk>",
            "pad": "<pad>",
            "mask": "<mask>",
        }
        _unigram(
            folder,
            XLMR,
            special,
            "XLMRobertaTokenizer",
            ("<s>", "$A", "</s>"),
            ("<s>", "$A", "</s>", "</s>", "$B", "</s>"),
        )
        _sentencepiece(folder / "sentencepiece.bpe.model", ("<unk>", "<s>", "</s>", *PIECES))
    elif kind == "t5":
        special = {"eos": "</s>", "unk": "<unk>", "pad": "<pad>"}
        _unigram(folder, T5, special, "T5Tokenizer", ("$A", "</s>"), ("$A", "</s>", "$B", "</s>"))
        _sentencepiece(folder / "spiece.model", T5)
    elif kind == "deberta":
        names = {
            "cls": "[CLS]",
            "sep": "[SEP]",
            "unk": "[UNK]",
            "pad": "[PAD]",
            "mask": "[MASK]",
            "bos": "[CLS]",
            "eos": "[SEP]",
        }
        _unigram(
            folder,
            DEBERTA,
            names,
            "DebertaV2Tokenizer",
            ("[CLS]", "$A", "[SEP]"),
            ("[CLS]", "$A", "[SEP]", "$B:1", "[SEP]:1"),
        )
        _sentencepiece(folder / "spm.model", DEBERTA[:-1])
        as_json(folder / "added_tokens.json", {"[MASK]": len(DEBERTA) - 1})
    elif kind == "mistral":
        special = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "pad": "</s>"}
        _bytes_beside_pieces(folder, MISTRAL, special, "LlamaTokenizer", prepend=True)
    elif kind == "gemma":
        special = {"bos": "<bos>", "eos": "<eos>", "unk": "<unk>", "pad": "<pad>", "mask": "<mask>"}
        _bytes_beside_pieces(folder, GEMMA, special, "GemmaTokenizer", prepend=False)
    elif kind == "modernbert":
        _modernbert(folder)
    else:
        _qwen(folder, ending=kind == "qwen-ending")
    config = {**config, "chat_template": CHAT} if kind == "qwen-chat" else config
    path = folder / "tokenizer_config.json"
    as_json(path, {**json.loads(path.read_bytes()), "model_max_length": length, **config})


def _save(
    folder: Path, backend: Any, special: Mapping[str, str], kind: str, extra: Iterable[str] = ()
) -> None:
    from tokenizers import AddedToken

    backend.add_special_tokens(
        [AddedToken(token, normalized=False) for token in dict.fromkeys([*special.values(), *extra])]
    )
    backend.save(str(folder / "tokenizer.json"))
    named = {f"{role}_token": token for role, token in special.items()}
    as_json(folder / "special_tokens_map.json", named)
    as_json(folder / "tokenizer_config.json", {**named, "tokenizer_class": kind})


def _template(single: Sequence[str], pair: Sequence[str] | None, backend: Any) -> Any:
    from tokenizers.processors import TemplateProcessing

    names = {piece.partition(":")[0] for piece in (*single, *(pair or ())) if not piece.startswith("$")}
    ids = sorted((name, backend.token_to_id(name)) for name in names)
    return TemplateProcessing(single=list(single), pair=list(pair) if pair else None, special_tokens=ids)


def _unigram(
    folder: Path,
    pieces: Sequence[str],
    special: Mapping[str, str],
    kind: str,
    single: Sequence[str],
    pair: Sequence[str],
) -> None:
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    scored = [(piece, -float(len(piece) == 1) * 9 - 1) for piece in pieces]
    backend = Tokenizer(models.Unigram(scored, unk_id=pieces.index(special["unk"])))
    if kind == "DebertaV2Tokenizer":
        one_space = normalizers.Replace(Regex(" {2,}"), " ")
        backend.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.NFKC(), one_space])
        backend.pre_tokenizer = pre_tokenizers.Metaspace()
    else:
        backend.normalizer = normalizers.NFKC()
        split = pre_tokenizers.WhitespaceSplit()
        backend.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.Metaspace()])
    backend.decoder = decoders.Metaspace()
    backend.post_processor = _template(single, pair, backend)
    _save(folder, backend, special, kind)


def _bytes_beside_pieces(
    folder: Path, pieces: Sequence[str], special: Mapping[str, str], kind: str, *, prepend: bool
) -> None:
    from tokenizers import Tokenizer, decoders, models, normalizers

    numbers = {piece: number for number, piece in enumerate(pieces)}
    backend = Tokenizer(models.BPE(numbers, [], unk_token="<unk>", byte_fallback=True))
    first = [normalizers.Prepend("▁")] if prepend else []
    backend.normalizer = normalizers.Sequence([*first, normalizers.Replace(" ", "▁")])
    backend.decoder = decoders.ByteFallback()
    bos, eos = special["bos"], special["eos"]
    backend.post_processor = _template(
        (bos, "$A", eos), (bos, "$A", eos, f"{bos}:1", "$B:1", f"{eos}:1"), backend
    )
    _save(folder, backend, special, kind)
    _sentencepiece(folder / "tokenizer.model", pieces)


def _modernbert(folder: Path) -> None:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    backend = Tokenizer(models.BPE({letter: i for i, letter in enumerate(bytes_as_letters())}, []))
    backend.normalizer = normalizers.NFC()
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(list(MODERNBERT_SPECIAL))
    backend.post_processor = _template(
        ("[CLS]", "$A", "[SEP]"), ("[CLS]", "$A", "[SEP]", "$B", "[SEP]"), backend
    )
    special = {name.strip("[]").lower(): name for name in MODERNBERT_SPECIAL}
    _save(folder, backend, special, "PreTrainedTokenizerFast")


def _qwen(folder: Path, ending: bool) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    numbers = {piece: number for number, piece in enumerate(QWEN[: -len(QWEN_SPECIAL)])}
    backend = Tokenizer(models.BPE(numbers, list(QWEN_MERGES)))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    special = {"eos": "<|im_end|>", "pad": "<|endoftext|>"}
    backend.add_special_tokens(list(QWEN_SPECIAL))
    if ending:  # as of the embedding models: the text's vector is the last token's
        backend.post_processor = _template(("$A", "<|endoftext|>"), ("$A", "$B", "<|endoftext|>"), backend)
    _save(folder, backend, special, "Qwen2Tokenizer")
    as_json(folder / "vocab.json", numbers)
    merges = "\n".join(" ".join(pair) for pair in QWEN_MERGES)
    (folder / "merges.txt").write_text(f"{merges}\n", encoding="utf-8")
    as_json(folder / "added_tokens.json", {token: QWEN.index(token) for token in QWEN_SPECIAL})
    as_json(folder / "generation_config.json", {"eos_token_id": [QWEN.index("<|im_end|>")]})


def _sentencepiece(path: Path, pieces: Sequence[str]) -> None:
    """A SentencePiece model of unigrams, with a score and a type for each piece."""
    from sentencepiece import sentencepiece_model_pb2 as proto

    model = proto.ModelProto()
    for number, piece in enumerate(pieces):
        unknown, control = piece.lower() in ("<unk>", "[unk]"), len(piece) > 1 and piece[0] in "<["
        kind = "UNKNOWN" if unknown else "CONTROL" if control else "NORMAL"
        score = -10.0 if len(piece) == 1 else -1.0
        model.pieces.add(piece=piece, score=score, type=getattr(proto.ModelProto.SentencePiece, kind))
        if unknown:
            model.trainer_spec.unk_id = number
    model.trainer_spec.model_type = proto.TrainerSpec.UNIGRAM
    model.normalizer_spec.name = "nmt_nfkc"
    path.write_bytes(model.SerializeToString())
