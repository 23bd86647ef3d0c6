"""Finds the tables of a task: from the README of its hub dataset, or else by the usual names."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import yaml

from harness.plugin import Part

_ENDING = re.compile(r"\.(?:parquet|jsonl|tsv)(?:\.gz|\.zst)?")
_NAMES: dict[Part, str] = {"corpus": "corpus", "queries": "queries", "judgements": "qrels"}
_TWO = {  # language codes of ISO 639-3, which MTEB uses -> ISO 639-1
    "ara": "ar", "ben": "bn", "cmn": "zh", "dan": "da", "deu": "de", "ell": "el", "eng": "en", "fas": "fa",
    "fin": "fi", "fra": "fr", "hin": "hi", "hun": "hu", "ind": "id", "ita": "it", "jpn": "ja", "kor": "ko",
    "nld": "nl", "nob": "nb", "pol": "pl", "por": "pt", "ron": "ro", "rus": "ru", "spa": "es", "swa": "sw",
    "swe": "sv", "tel": "te", "tha": "th", "tur": "tr", "vie": "vi", "yor": "yo", "zho": "zh",
}  # fmt: skip


class Readme(NamedTuple):
    """The fields of a README's front matter that the plugin uses."""

    configs: dict[str, dict[str, tuple[str, ...]]]  # name -> split -> patterns of paths
    language: str | None  # None if the README names no language, several, or an unknown one
    licence: str


def readme(text: str) -> Readme:
    """The front matter of a README's text. It is empty if the README or its front matter is missing."""
    front = re.match(r"---\n(.*?)\n---", text, re.S)
    try:
        header = yaml.safe_load(front[1]) if front else {}
    except yaml.YAMLError:
        header = {}
    header = header if isinstance(header, dict) else {}
    languages = header.get("language") or []
    languages = [languages] if isinstance(languages, str) else languages
    codes = {_TWO.get(str(code), str(code)) for code in languages}
    code = next(iter(codes)) if len(codes) == 1 else ""
    licence = header.get("license") or ""
    return Readme(
        dict(_configs(header.get("configs") or ())),
        code if re.fullmatch("[a-z]{2}", code) else None,
        licence if isinstance(licence, str) else ", ".join(map(str, licence)),
    )


def _configs(configs: Iterable[Any]) -> Iterator[tuple[str, dict[str, tuple[str, ...]]]]:
    for config in configs:
        files = config.get("data_files", ())
        if isinstance(files, str):
            files = [{"split": "train", "path": files}]
        splits = {}
        for file in files:
            paths = file["path"]
            splits[str(file["split"])] = (paths,) if isinstance(paths, str) else tuple(paths)
        yield str(config.get("config_name", "default")), splits


def tables(
    names: Sequence[str], header: Readme, part: Part, split: str, subset: str | None
) -> tuple[str, ...]:
    """The files of `part` among `names` (paths below the task's folder), in order. If there are none, the
    result is the name that the file should have."""
    patterns = _declared(header, part, split, subset) or ()
    for group in (patterns, *_usual(part, split, subset)):
        files = [
            name
            for name in sorted(names)
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in group) and _ENDING.search(name)
        ]
        if files:
            return tuple(files)
    return (patterns[0] if patterns else _usual(part, split, subset)[0][0].replace("*", "jsonl"),)


def _declared(header: Readme, part: Part, split: str, subset: str | None) -> tuple[str, ...] | None:
    name = _NAMES[part]
    wanted = [f"{subset}-{name}"] if subset else [name]
    for config in (*wanted, *([f"{subset}", "default"] if subset else ["default"])):
        splits = header.configs.get(config, {})
        if part == "judgements":
            chosen = splits.get(split)
        elif config in wanted:  # it has one split of any name, or a split for each split of the judgements
            only = next(iter(splits.values())) if len(splits) == 1 else None
            chosen = splits.get(split) or splits.get(name) or only
        else:
            chosen = splits.get(name)
        if chosen:
            return chosen
    return None


def _usual(part: Part, split: str, subset: str | None) -> list[list[str]]:
    """The usual patterns of file names of `part`, in groups. Files of one group belong together."""
    name = _NAMES[part]
    of = f"{subset}-" if subset else ""
    if part == "judgements":
        return [
            [f"{of}qrels/{split}.*", f"{of}qrels/{split}-*-of-*"],
            [f"qrels/{subset}/{split}.*"] if subset else [f"data/{split}-*-of-*"],
        ]
    return [
        [f"{of}{name}.*"],
        [f"{of}{name}/{split}-*-of-*", f"{of}{name}/{split}.*"],
        [f"{of}{name}/*"],
        [f"data/{of}{name}-*-of-*"],
    ]
