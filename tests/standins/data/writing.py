"""Writes a made-up collection in the formats of releases: lines, tables, and archives of the same bytes each time."""

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def lines(path: Path, texts: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    lines(path, (json.dumps(row, ensure_ascii=False) for row in rows))


def tabs(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    lines(path, ("\t".join(map(str, row)) for row in rows))


def parquet(path: Path, rows: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        pa.Table.from_pylist(list(rows), pa.schema(list(schema.items())) if schema else None), path
    )


def zipped(path: Path, folder: Path, top: str) -> None:
    """The files of a folder below `top`, in a zip file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            info = zipfile.ZipInfo(f"{top}/{file.relative_to(folder).as_posix()}")  # of 1980
            packed.writestr(info, file.read_bytes())


def tarred(path: Path, files: Mapping[str, str]) -> None:
    """These files, name and content, in a tar.gz."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content.encode())
            tar.addfile(info, io.BytesIO(content.encode()))
    gzipped(path, packed.getvalue())


def gzipped(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, mtime=0))
