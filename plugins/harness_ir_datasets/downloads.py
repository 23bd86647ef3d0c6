"""Finds the files from which ir_datasets reads a part of a collection, by walking its objects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ir_datasets.util import home_path
from ir_datasets.util.download import Download, LocalDownload

_DEEPEST = 12  # levels of nested objects; ir_datasets has 4 or 5


class Fetched(NamedTuple):
    """A file of a collection. ir_datasets checks its MD5 when it downloads it."""

    place: Path  # where the file is, or has to be put
    md5: str | None
    url: str | None  # None if the file is licensed and cannot be downloaded

    @property
    def there(self) -> bool:
        return self.place.exists()


def files_of(handler: Any) -> list[Fetched]:
    """The files that a handler of ir_datasets reads, ordered by path, each once."""
    return sorted(dict.fromkeys(map(_fetched, _walk(handler, 0, set()))), key=lambda file: str(file.place))


def _walk(item: Any, depth: int, seen: set[int]) -> Iterator[Any]:
    if depth > _DEEPEST or id(item) in seen:
        return
    seen.add(id(item))
    if isinstance(item, Download):
        yield item
    elif isinstance(item, list | tuple):
        for inner in item:
            yield from _walk(inner, depth + 1, seen)
    elif isinstance(item, dict):
        for inner in item.values():
            yield from _walk(inner, depth + 1, seen)
    elif type(item).__module__.startswith("ir_datasets"):
        yield from _walk(getattr(item, "__dict__", {}), depth + 1, seen)


def _fetched(download: Any) -> Fetched:
    urls = [source.url for source in download.mirrors if hasattr(source, "url")]
    if download._cache_path is not None:
        place = Path(download._cache_path)
    else:  # the file is unpacked while it is read, so only the user's own copy stays
        local = [source.path(force=False) for source in download.mirrors if isinstance(source, LocalDownload)]
        place = local[0] if local else home_path() / "downloads" / str(download.expected_md5)
    return Fetched(place, download.expected_md5, urls[0] if urls else None)
