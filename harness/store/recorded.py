"""The records of manifests and of a remote's lists, decoded strictly: their bytes may come from anybody."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, Final, Required, TypedDict, TypeVar

import msgspec
import orjson
from msgspec import Meta, Struct

from harness.types import JSON, Unit

LARGEST = 1 << 24  # bytes of a manifest or a list that is fetched
LONGEST, DEEPEST = 255, 1024  # bytes of one name in a path, and of the path, as most file systems take them
STEP = re.compile(r"[a-z]+-[0-9a-f]{64}\Z")
T = TypeVar("T")
Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Count = Annotated[int, Meta(ge=0, le=1 << 60)]


class Invalid(ValueError):
    """The bytes are no such record. The message is a clause that follows the name of the file."""


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of an artifact."""

    size: Count
    sha256: Digest


class Manifest(Struct, frozen=True):
    step: str
    facts: dict[str, JSON]
    cost: dict[str, JSON]
    files: dict[str, File]
    keyed: dict[str, JSON] = {}  # another version of the harness has another field


class Listed(Struct, frozen=True):
    """An artifact of a remote: its files, with the pieces of which each consists."""

    step: str
    size: Count
    files: dict[str, list[Digest]]  # relative path -> digests of its pieces, in order


class _Facts(TypedDict, total=False):
    reported: dict[str, JSON]
    not_keyed: list[str]


class _Corpus(_Facts):
    passages: Count
    candidates: Count
    documents: Count


class _Queries(_Facts):
    queries: Count


class _Index(_Facts):
    texts: Count


class _Hits(_Facts):
    unit: Unit


class _Rewritten(_Facts):
    form: str


class _Additions(TypedDict):
    reported: dict[str, JSON]


class _Making(TypedDict):
    maker: str
    before: dict[str, Count]
    after: dict[str, Count]
    written: dict[str, dict[str, JSON]]


class _Made(_Facts):
    made: _Making


class _Curve(TypedDict):
    folds: list[JSON] | None


class _Choice(_Facts):
    tuning: _Curve


class _Trials(_Choice):
    found: dict[str, JSON]
    trials: list[Count] | None


class _Lists(_Facts):
    queries_with_positives: Count
    positives: Count


class _Curves(TypedDict):
    model: str
    measure: str
    curve: list[float]


class _Best(_Facts):
    validation: _Curves


class _Finding(TypedDict):
    name: str


class _Findings(_Facts):
    analyses: list[_Finding]


class _Cost(TypedDict, total=False):
    seconds: Required[float]
    cpu_seconds: Required[float]
    peak_mb: Required[float]
    bytes: Required[Count]
    compile_seconds: float
    queued_seconds: float
    energy_joules: float
    queries: float
    pairs: float
    words: float
    tokens_per_second: float
    query_ms: list[float]
    no_latency: str
    apart_seconds: float
    services: dict[str, JSON]


# what readers rely on in the facts of a step, by the step's kind; there may be more
_FACTS: Final[Mapping[str, Any]] = {
    "corpus": _Corpus, "subset": _Corpus, "queries": _Queries, "index": _Index, "search": _Hits,
    "combine": _Hits, "pick": _Hits, "rerank": _Hits, "rewrite": _Rewritten, "augment": _Additions,
    "make": _Made, "tune": _Choice, "trials": _Trials, "examples": _Lists, "validate": _Best,
    "analyse": _Findings,
}  # fmt: skip
_COUNTED: Final = {"search": "queries", "rerank": "pairs"}  # what else the cost of a kind must hold


def sealed(content: JSON, indented: bool = False) -> bytes:
    """The bytes of a record. They end with the SHA-256 of the rest, so that any changed byte is detected."""
    option = orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY | (orjson.OPT_INDENT_2 if indented else 0)
    body = orjson.dumps(content, option=option)
    return body + b"\n" + hashlib.sha256(body).hexdigest().encode()


def unsealed(data: bytes, form: type[T]) -> T:
    """A record from its bytes. Raises Invalid, also if the bytes end with the right digest."""
    body, _, digest = data.rpartition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise Invalid("was changed")
    return _checked(lambda: msgspec.json.decode(body, type=form))


def check_facts(step: str, manifest: Manifest) -> None:
    """Check that a manifest has what is read of the results of its kind of step. Raises Invalid."""
    kind = step.partition("-")[0]
    if kind == "made":
        kind = str(manifest.keyed.get("part", ""))
    _checked(lambda: msgspec.convert(manifest.cost, _Cost))
    _checked(lambda: msgspec.convert(manifest.facts, _FACTS.get(kind, _Facts)))
    if kind in _COUNTED and _COUNTED[kind] not in manifest.cost:
        raise Invalid(f"holds no manifest (its cost lacks '{_COUNTED[kind]}')")


def check_names(names: Collection[str]) -> None:
    """Check that each name is the path of a file within the folder of its artifact, on every system, and that
    no file is another one's folder. Raises Invalid."""
    for name in names:
        parts = name.split("/")
        plain = name.isprintable() and "\\" not in name and not {"", ".", ".."} & set(parts)
        if not plain or len(name.encode()) > DEEPEST or max(len(part.encode()) for part in parts) > LONGEST:
            raise Invalid(f"names no file within its folder ({ascii(name)[:80]})")
        if any("/".join(parts[:end]) in names for end in range(1, len(parts))):
            raise Invalid(f"names a file below another file ({ascii(name)[:80]})")


def _checked(decode: Callable[[], T]) -> T:
    try:
        return decode()
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Invalid(f"holds no record of this form ({ascii(what)[1:-1][:200]})") from None
