"""Turns texts into token ids, many at once on all cores and without padding, and counts what is cut off."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness.errors import HarnessError
from harness.toolkit.neural import model_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_BERT_TOKENISERS = (
    "BertTokenizer", "ConvBertTokenizer", "DPRContextEncoderTokenizer", "DPRQuestionEncoderTokenizer",
    "DPRReaderTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "LayoutLMTokenizer", "LxmertTokenizer",
    "MPNetTokenizer", "MobileBertTokenizer", "SplinterTokenizer", "SqueezeBertTokenizer",
)  # fmt: skip
_PROBES = ("a", "the", "0", "一")  # any tokenizer has a token for one of these texts


class Tokens(NamedTuple):
    """The tokens of n texts, one text after the other, without padding."""

    ids: NDArray[np.int32]  # int32[T]
    bounds: NDArray[np.int64]  # int64[n + 1]: text i has the tokens bounds[i] to bounds[i + 1] - 1
    types: NDArray[np.int32] | None = None  # int32[T]: 0 or 1, the text of a pair; None if all are 0
    parts: NDArray[np.int32] | None = None  # int32[T]: what a token is pooled for; -1 for nothing


class Lost(NamedTuple):
    """Counts of what a maximum length cut off."""

    texts: int = 0  # texts that were cut
    tokens: int = 0  # tokens that were cut off

    def plus(self, other: Lost) -> Lost:
        return Lost(self.texts + other.texts, self.tokens + other.tokens)


class Template(NamedTuple):
    """The special tokens around one text, or around and between the two texts of a pair, and their types."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)  # before, first, between, second, after

    @property
    def added(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)


class Tokeniser(NamedTuple):
    """A model's own tokenizer. Replace its templates with `_replace` to mark texts in another way."""

    backend: Any  # tokenizers.Tokenizer, without truncation and padding
    single: Template
    pair: Template
    padding: int  # the id that fills a padded batch
    unknown: int | None = None  # a token that is left out, after a text is cut
    letters: int | None = None  # first, a text is cut to so many letters for each token that is read


def load(folder: Path, trust_remote_code: bool = False, code_revision: str | None = None) -> Tokeniser:
    """The tokenizer in a model's folder: its `tokenizer.json`, or a conversion of older files by
    transformers. The conversion may run the model's own code, or that of another hub model at
    `code_revision`, if it is trusted."""
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if path.exists():
        backend = Tokenizer.from_file(str(path))
        _normalise_as_configured(backend, folder)
    else:
        backend = _converted(folder, trust_remote_code, code_revision)
    backend.no_padding()
    backend.no_truncation()
    return Tokeniser(backend, *_templates(backend, folder), _padding(backend, folder))


def tokenise(
    tokeniser: Tokeniser,
    texts: Sequence[str],
    length: int,
    seconds: Sequence[str] | None = None,
    first_length: int | None = None,
) -> tuple[Tokens, Lost]:
    """The tokens of texts, or of pairs of texts, with special tokens, at most `length` for each, and what was
    cut off. In a pair, the first text is cut to `first_length` tokens; then the longer text is cut first, as
    by transformers' `longest_first`."""
    template = tokeniser.single if seconds is None else tokeniser.pair
    room = length - template.added
    if room < 1:
        raise HarnessError(f"length: {length} tokens leave no room for the text; raise 'length'")
    most = None if tokeniser.letters is None else length * tokeniser.letters

    def ids_of(texts: Sequence[str]) -> list[list[int]]:
        encoded = tokeniser.backend.encode_batch_fast(
            [text[:most] for text in texts], add_special_tokens=False
        )
        return [encoding.ids for encoding in encoded]

    firsts = ids_of(texts)
    others: list[list[int]] = [[]] * len(firsts) if seconds is None else ids_of(seconds)
    ids: list[int] = []
    types: list[int] = []
    bounds = np.zeros(len(firsts) + 1, np.int64)
    texts_cut = tokens_lost = 0
    for i, (first, second) in enumerate(zip(firsts, others, strict=True)):
        whole = len(first) + len(second)
        first = first[:first_length]
        if len(first) + len(second) > room:
            a, b = longest_first(len(first), len(second), room)
            first, second = first[:a], second[:b]
        lost = whole - len(first) - len(second)
        texts_cut += lost > 0 or (most is not None and len(texts[i]) > most)
        tokens_lost += lost
        if (unknown := tokeniser.unknown) is not None:
            first, second = ([token for token in part if token != unknown] for part in (first, second))
        ids += (*template.before, *first, *template.between, *second, *template.after)
        bounds[i + 1] = len(ids)
        if any(template.types):
            parts = (template.before, first, template.between, second, template.after)
            for kind, part in zip(template.types, parts, strict=True):
                types += [kind] * len(part)
    found_types = np.array(types, np.int32) if any(template.types) else None
    return Tokens(np.array(ids, np.int32), bounds, found_types), Lost(texts_cut, tokens_lost)


def longest_first(first: int, second: int, room: int) -> tuple[int, int]:
    """How many tokens of each text of a pair are kept if the pair does not fit in `room`: the longer text is
    cut until both are equally long; then the second keeps the odd token (tokenizers, truncate_encodings)."""
    short, long = min(first, second), max(first, second)
    long = short if short > room else max(short, room - short)
    if short + long > room:
        short, long = room // 2, room - room // 2
    return (short, long) if first <= second else (long, short)


def select(tokens: Tokens, rows: NDArray[np.int64]) -> Tokens:
    """The tokens of some of the texts, in the order of `rows` (int64[m])."""
    lengths = np.diff(tokens.bounds)[rows]
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    # token t of the selection is at t + (start of its text in `tokens` - start of that text in the selection)
    places = np.arange(bounds[-1]) + np.repeat(tokens.bounds[rows] - bounds[:-1], lengths)
    marks = [None if values is None else values[places] for values in (tokens.types, tokens.parts)]
    return Tokens(tokens.ids[places], bounds, *marks)


def joined(parts: Sequence[Tokens]) -> Tokens:
    """The tokens of all parts as one."""
    offsets = np.cumsum([0, *(part.bounds[-1] for part in parts)])
    pairs = zip(parts, offsets, strict=False)
    bounds = np.concatenate([np.zeros(1, np.int64), *(part.bounds[1:] + offset for part, offset in pairs)])
    types = [part.types for part in parts if part.types is not None]
    marks = [part.parts for part in parts if part.parts is not None]
    return Tokens(
        np.concatenate([part.ids for part in parts]),
        bounds,
        np.concatenate(types) if types else None,
        np.concatenate(marks) if marks else None,
    )


def padded(
    tokens: Tokens, padding: int, length: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Ids, mask (1 for a token, 0 for padding) and types, each int64[n, L]. L is `length`, or the length of
    the longest text."""
    lengths = np.diff(tokens.bounds)
    width = int(lengths.max(initial=0)) if length is None else length
    mask = np.arange(width) < lengths[:, None]  # bool[n, L]
    ids, types = np.full(mask.shape, padding, np.int64), np.zeros(mask.shape, np.int64)
    ids[mask] = tokens.ids
    if tokens.types is not None:
        types[mask] = tokens.types
    return ids, mask.astype(np.int64), types


def _normalise_as_configured(backend: Tokenizer, folder: Path) -> None:
    """Let BERT's tokenizers lower letters, strip accents and part Chinese characters as
    `tokenizer_config.json` says, and not as `tokenizer.json` says: so do transformers, and where the two
    files differ, a model was trained with the former."""
    from tokenizers.normalizers import BertNormalizer

    config = model_folder.read(folder / "tokenizer_config.json") or {}
    name = str(config.get("tokenizer_class", "")).removesuffix("Fast")
    if name in _BERT_TOKENISERS and isinstance(backend.normalizer, BertNormalizer):
        backend.normalizer = BertNormalizer(
            clean_text=True,
            handle_chinese_chars=config.get("tokenize_chinese_chars", True),
            strip_accents=config.get("strip_accents"),
            lowercase=config.get("do_lower_case", True),
        )


def _converted(folder: Path, trust_remote_code: bool, code_revision: str | None) -> Tokenizer:
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer

    try:
        tokeniser = AutoTokenizer.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=trust_remote_code,
            code_revision=code_revision,
            tokenizer_type=model_folder.unstated_type(folder),
        )
    except Exception as error:
        why = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise HarnessError(f"model: {folder} has no tokenizer that can be read ({why})") from error
    backend = getattr(tokeniser, "backend_tokenizer", None)
    if backend is None:
        raise HarnessError(f"model: the tokenizer in {folder} has no fast form; add its tokenizer.json")
    return Tokenizer.from_str(backend.to_str())


def _templates(backend: Tokenizer, folder: Path) -> tuple[Template, Template]:
    """The templates of one text and of a pair, read off from how the post-processor encodes a probe."""
    for probe in _PROBES:
        single = backend.encode(probe)
        pair = backend.encode(probe, probe)
        if 0 in single.sequence_ids and {0, 1} <= set(pair.sequence_ids):
            return _template(single), _template(pair)
    raise HarnessError(f"model: the tokenizer in {folder} makes no token of any text; is it whole?")


def _template(encoding: Any) -> Template:
    """The special tokens of an encoded probe, by their places before, between and after its texts."""
    places = [i for i, which in enumerate(encoding.sequence_ids) if which is not None]
    second = [i for i in places if encoding.sequence_ids[i] == 1]
    first = [i for i in places if encoding.sequence_ids[i] == 0]
    ids, kinds = encoding.ids, encoding.type_ids
    between = range(first[-1] + 1, second[0]) if second else range(0)
    after = range(places[-1] + 1, len(ids))
    types = (
        kinds[0] if first[0] else 0,
        kinds[first[0]],
        kinds[between[0]] if between else 0,
        kinds[second[0]] if second else 0,
        kinds[after[0]] if after else 0,
    )
    before = tuple(ids[: first[0]])
    return Template(before, tuple(ids[i] for i in between), tuple(ids[i] for i in after), types)


def _padding(backend: Tokenizer, folder: Path) -> int:
    """The id of the padding token; 0 if there is none. The padding is masked in any case."""
    path = folder / "tokenizer_config.json"
    token = json.loads(path.read_bytes()).get("pad_token") if path.exists() else None
    token = token.get("content") if isinstance(token, dict) else token
    names = [name for name in (token, "[PAD]", "<pad>") if isinstance(name, str)]
    numbers = [number for name in names if (number := backend.token_to_id(name)) is not None]
    return int(numbers[0]) if numbers else 0
