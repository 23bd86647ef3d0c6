"""Decodes JSON lines in chunks; if a chunk is malformed, the error names the line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import numpy as np

from harness.toolkit.files.reading import Chunk, chunks, lines_of, refuse, text_of

S = TypeVar("S", bound=msgspec.Struct)
_KINDS = {
    "NoneType": "null",
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "str": "a text",
    "list": "a list",
    "dict": "an object",
}


class Keys(NamedTuple):
    """The keys that a line should hold and the types of their values, for error messages."""

    required: tuple[str, ...]
    kinds: Mapping[str, tuple[str, ...]]  # key -> names of the Python types that its value may have


class Records(Generic[S]):
    """The lines of a file as structs. `types` are alternatives: the first type is used as long as every line
    fits it, then the next, up to the last. The first may forbid unknown keys, which is quick."""

    def __init__(self, path: Path, types: Sequence[type[S]], keys: Keys) -> None:
        self.path = path
        self.keys = keys
        self._decoders = [msgspec.json.Decoder(kind) for kind in types]

    def __iter__(self) -> Iterator[list[S]]:
        return map(itemgetter(1), self.with_lines())

    def numbered(self) -> Iterator[tuple[int, S]]:
        """Yields each struct with its line number."""
        for numbers, rows in self.with_lines():
            yield from zip(numbers, rows, strict=True)

    def with_lines(self) -> Iterator[tuple[Sequence[int], list[S]]]:
        """Yields the structs of one chunk of the file at a time, with the line number of each."""
        for first, chunk in chunks(self.path):
            yield self._decoded(first, chunk)

    def _decoded(self, first: int, chunk: Chunk) -> tuple[Sequence[int], list[S]]:
        while True:
            try:
                rows = self._decoders[0].decode_lines(chunk)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                if len(self._decoders) == 1:
                    return self._one_by_one(first, chunk)
                del self._decoders[0]
                continue
            if _one_a_line(chunk, len(rows)) and _is_utf8(chunk):
                return range(first, first + len(rows)), rows
            return self._one_by_one(first, chunk)

    def _one_by_one(self, first: int, chunk: Chunk) -> tuple[Sequence[int], list[S]]:
        numbers, rows = [], []
        for number, line in lines_of(first, chunk):
            text_of(self.path, number, line)  # the decoder does not check keys that no struct has
            try:
                rows.append(self._decoders[-1].decode(line))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                refuse(self.path, number, _wrong(text_of(self.path, number, line), error, self.keys))
            numbers.append(number)
        return numbers, rows


def _one_a_line(chunk: Chunk, objects: int) -> bool:
    """Whether every line is one object. The decoder treats line ends as blanks, so it also accepts an object
    that spans two lines, and two objects on one line. Within an object, `{` never follows `}` without a comma
    between them. Therefore it is enough to check that every line begins with `{` and ends with `}`, and that
    there are as many objects as lines."""
    data = np.frombuffer(chunk, dtype=np.uint8)
    if not len(data) or data[0] != ord("{"):
        return False
    ends = np.flatnonzero(data == ord("\n"))
    if not len(ends) or ends[-1] != len(data) - 1:
        ends = np.append(ends, len(data))
    before = data[ends - 1]
    before = np.where(before == ord("\r"), data[ends - 2], before)
    begin, close = (data[ends[:-1] + 1] == ord("{")).all(), (before == ord("}")).all()
    return bool(len(ends) == objects and begin and close)


def _is_utf8(chunk: Chunk) -> bool:
    if np.frombuffer(chunk, dtype=np.uint8).max(initial=0) < 128:
        return True
    try:
        str(chunk, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _wrong(line: str, error: Exception, keys: Keys) -> str:
    """The error message for a refused line: the fault, and what to do about it."""
    try:
        value: Any = msgspec.json.decode(line)
    except RecursionError:
        return "the values are nested too deeply; flatten them"
    except (msgspec.MsgspecError, UnicodeDecodeError) as malformed:
        if "surrogate" in str(malformed) or "\\ud" in line.lower():
            return "half a surrogate pair in a \\u escape, or malformed JSON; write the character itself"
        return f"this is not valid JSON ({malformed}); write one object a line"
    if not isinstance(value, dict):
        return f"expected a JSON object, got {_KINDS[type(value).__name__]}; write one object a line"
    for key in keys.required:
        if key not in value:
            needs = " and ".join(f"'{name}'" for name in keys.required)
            return f"the key '{key}' is missing; every line needs {needs}"
    for key, allowed in keys.kinds.items():
        kind = type(value.get(key)).__name__
        if key in value and kind not in allowed:
            advice = "write it in quotes" if allowed[0] == "str" else f"write {_KINDS[allowed[0]]}"
            advice = 'write "" where there is none' if kind == "NoneType" else advice
            return f"'{key}' must be {_KINDS[allowed[0]]}, got {_KINDS[kind]}; {advice}"
    return f"the line does not fit ({error}); see the format in the documentation"
