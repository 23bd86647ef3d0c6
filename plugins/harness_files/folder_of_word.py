"""The BEIR folder that a word of `harness eval` names, with its split and language."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import islice
from pathlib import Path

from harness.plugin import HarnessError, Meant, nearest

FILES = ("corpus.jsonl", "corpus.parquet", "corpus.csv")
LOOKED_AT = 200_000  # characters of a file that are read to guess its language
SCRIPTS = {  # the first word of a letter's Unicode name -> the language that it looks like
    "HIRAGANA": ("Japanese", "ja"), "KATAKANA": ("Japanese", "ja"), "CJK": ("Chinese", "zh"),
    "HANGUL": ("Korean", "ko"), "THAI": ("Thai", "th"), "ARABIC": ("Arabic", "ar"),
    "HEBREW": ("Hebrew", "he"), "CYRILLIC": ("Russian", "ru"), "GREEK": ("Greek", "el"),
    "ARMENIAN": ("Armenian", "hy"),
    "DEVANAGARI": ("Hindi", "hi"), "BENGALI": ("Bengali", "bn"), "TELUGU": ("Telugu", "te"),
    "TAMIL": ("Tamil", "ta"),
}  # fmt: skip
LETTER = re.compile(r"[^\W\d_]")


def meant(word: str, language: str | None) -> Meant | None:
    """The parameters for the folder that `word` names, or None. The split may be the last part of the path,
    as in `beir/scifact/test`; otherwise it is `test`."""
    path = Path(word).expanduser()
    for folder, split in ((path, "test"), (path.parent, path.name)):
        if any(Path(folder, f"{name}{end}").is_file() for name in FILES for end in ("", ".gz", ".zst")):
            spoken = language or _language(folder)
            return Meant({"path": folder, "split": split, "language": spoken})
    if "/" in word and not word.startswith((".", "~", "/")):
        _check_no_folder(word)
    return None


def _check_no_folder(word: str) -> None:
    """Raises HarnessError if `word`, which could be an id of a collection, is rather a path: a folder without
    a corpus, or probably the misspelt path of a folder."""
    parts = Path(word).parts
    exist = sum(Path(*parts[:i]).is_dir() for i in range(1, len(parts) + 1))
    if not exist:
        return
    if exist == len(parts):
        what = f"is a folder without {FILES[0]}; put one there, or name its files in a suite"
        raise HarnessError(f"{word}: {what} (`files: {{corpus: ..., queries: ..., qrels: ...}}`)")
    parent = Path(*parts[:exist])
    close = nearest(parts[exist], sorted(path.name for path in parent.iterdir() if path.is_dir()))
    if close is not None:
        right = Path(parent, close, *parts[exist + 1 :])
        raise HarnessError(f"{word}: there is no such folder; did you mean '{right}'?")


def _language(folder: Path) -> str:
    """The language of a corpus for which no language is given: English. Raises HarnessError for a corpus with
    many letters of another script, because analysers are chosen by the language."""
    corpus = folder / FILES[0]
    if corpus.is_file():
        with corpus.open(encoding="utf-8", errors="replace") as file:
            text = "".join(islice(iter(lambda: file.read(4096), ""), LOOKED_AT // 4096))
        text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
        letters = LETTER.findall(text)
        scripts = Counter(unicodedata.name(letter, "OTHER").split()[0].split("-")[0] for letter in letters)
        for script, (name, code) in SCRIPTS.items():
            if scripts[script] > len(letters) / 5:
                what = f"its passages look {name}; say --language {code}, or the code that is right"
                raise HarnessError(f"{folder}: {what}")
    return "en"
