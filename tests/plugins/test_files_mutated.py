"""Whatever happens to a file of a collection: it is read, or the fault is named with file and line."""

import gzip
import re
import shutil
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.collection.corpus import write
from harness.collection.queries import write_judgements, write_queries
from harness.errors import HarnessError
from harness_files.params import FilesParams
from harness_files.source import Files

JSON_CORPUS = b"".join(
    b'{"_id": "p%d", "title": "T\\u00e9 %d", "text": "a \\"text\\" \xe2\x80\xa8 of %d", "doc_id": "d%d", '
    b'"paragraph_no": %d, "is_candidate": true}\n' % (number, number // 3, number, number // 3, number % 3)
    for number in range(9)
)
VALID: dict[str, tuple[str, bytes]] = {  # what it is of, by the name of its file
    "corpus.jsonl": ("corpus", JSON_CORPUS),
    "corpus.tsv": ("corpus", "".join(f"p{number}\ttitle\tsome text é\n" for number in range(9)).encode()),
    "queries.jsonl": ("queries", b'{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "tw\xc3\xb6"}\n'),
    "queries.tsv": ("queries", "q1\tone\nq2\ttwö\n".encode()),
    "queries.txt": (
        "queries",
        b"<top>\n<num> Number: q1\n<title> one\n</top>\n<top><num>q2<title>two</top>\n",
    ),
    "qrels.tsv": ("qrels", b"query-id\tcorpus-id\tscore\nq1\tp1\t1\nq2\tp2\t0\nq2\tp3\t-1\n"),
    "qrels.txt": ("qrels", b"q1 0 p1 1\nq2 0 p2 0\nq2 0 p3 -1\n"),
}
PACK = {"": bytes, ".gz": lambda data: gzip.compress(data, mtime=0), ".zst": zstandard.compress}
PIECES = st.binary(min_size=1, max_size=4) | st.sampled_from(
    [
        *(bytes([byte]) for byte in b'\n\r\t"\\{}7\xff\0'),
        *(b"null", b"\\ud800", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"[" * 5000, b"1" * 5000),
        *(b"<top>", b"</top>", b"query-id\t"),
    ]
)


@st.composite
def mutations(draw: st.DrawFn) -> tuple[str, bytes]:
    """A valid file after one to four mishaps, before or after it was compressed."""
    name = draw(st.sampled_from(sorted(VALID)))
    suffix = draw(st.sampled_from(sorted(PACK)))
    data = VALID[name][1]
    late = suffix and draw(st.booleans())
    data = PACK[suffix](data) if late else data
    for _ in range(draw(st.integers(1, 4))):
        data = draw(mishaps(data))
    return name + suffix, data if late else PACK[suffix](data)


@st.composite
def mishaps(draw: st.DrawFn, data: bytes) -> bytes:
    start = draw(st.integers(0, len(data)))
    stop = min(len(data), start + draw(st.integers(0, 20)))
    kind = draw(st.sampled_from(["flip", "cut", "insert", "delete", "swap columns", "swap lines", "twice"]))
    if kind == "cut":
        return data[:start]
    if kind == "insert":
        return data[:start] + draw(PIECES) + data[start:]
    if kind == "delete":
        return data[:start] + data[stop:]
    if kind == "flip" and start < len(data):
        return data[:start] + bytes([data[start] ^ draw(st.integers(1, 255))]) + data[start + 1 :]
    if kind == "swap columns":
        return b"\n".join(b"\t".join(reversed(line.split(b"\t"))) for line in data.split(b"\n"))
    lines = data.split(b"\n")
    return b"\n".join(reversed(lines) if kind == "swap lines" else lines + lines)


def check(folder: Path, name: str, data: bytes) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    paths = {}
    for kind in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"):
        part, valid = VALID[kind]
        changed = VALID[re.sub(r"\.(gz|zst)$", "", name)][0] == part
        paths[part] = folder / (name if changed else kind)
        paths[part].write_bytes(data if changed else valid)
    places = "|".join(re.escape(str(path)) for path in paths.values())
    said = complaint(FilesParams(**paths), folder / "out")
    assert said is None or re.match(rf"({places}):\d+: .+; ", said, re.DOTALL), said


def complaint(values: FilesParams, folder: Path) -> str | None:
    source = Files(values)
    try:
        for part in ("corpus", "queries", "judgements"):
            source.inputs(part)
        write(source, folder, lambda done, total: None)
        write_queries(source.queries(), folder)
        write_judgements(source.judgements(), folder)
    except HarnessError as error:
        return str(error)
    return None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutated=mutations())
def test_a_mutated_file_is_read_or_refused_with_its_line(tmp_path, mutated):
    check(tmp_path / "data", *mutated)


@pytest.mark.parametrize("name", sorted(VALID))
@pytest.mark.parametrize("suffix", sorted(PACK))
def test_the_files_are_read_when_nothing_happens_to_them(tmp_path, name, suffix):
    part, data = VALID[name]
    paths = {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "qrels": "qrels.tsv", part: name + suffix}
    for kind, file in paths.items():
        valid = PACK[suffix](data) if kind == part else VALID[file][1]
        (tmp_path / file).write_bytes(valid)
    source = Files(FilesParams(**{kind: tmp_path / file for kind, file in paths.items()}))
    assert write(source, tmp_path / "out", lambda done, total: None)["passages"] == 9
    assert [query.id for query in source.queries()] == ["q1", "q2"]
    assert [judgement.grade for judgement in source.judgements()] == [1, 0, -1]
