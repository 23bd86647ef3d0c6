"""Writes training data in the forms of other trainers, one line at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from harness.plugin import HarnessError
from harness.toolkit.files import writing
from harness_training_data.reading import Example, Text

Writer: TypeAlias = Callable[[int, Example], Iterator[str]]


def write(examples: Iterable[Example], form: str, to: Path) -> int:
    """Writes a file of examples and returns their number. A form without ids or titles drops the ids and puts
    titles before the texts. Raises HarnessError for an example that the form cannot hold."""
    count = 0
    to.parent.mkdir(parents=True, exist_ok=True)
    with writing.replacing(to) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        for count, example in enumerate(examples, 1):
            if not example.positives:
                raise HarnessError(f"example {count}: has no positive; leave it out")
            file.writelines(line + "\n" for line in FORMS[form](count, example))
    return count


def _tevatron(number: int, example: Example) -> Iterator[str]:
    yield _json(
        {
            "query_id": example.query.id or str(number),
            "query": _text(number, example.query),
            "positive_passages": [_passage(number, text) for text in example.positives],
            "negative_passages": [_passage(number, text) for text in example.negatives],
        }
    )


def _passage(number: int, text: Text) -> dict[str, str]:
    return {"docid": text.id, "title": text.title, "text": _text(number, text)}


def _sentence_transformers(number: int, example: Example) -> Iterator[str]:
    """One line for each positive: `anchor`, `positive` and `negative`, or `negative_1`, `negative_2`, ...."""
    names = [f"negative_{place}" for place in range(1, len(example.negatives) + 1)]
    negatives = dict(
        zip(["negative"] if len(names) == 1 else names, _whole(number, example.negatives), strict=True)
    )
    for positive in _whole(number, example.positives):
        yield _json({"anchor": _text(number, example.query), "positive": positive, **negatives})


def _rocketqa(number: int, example: Example) -> Iterator[str]:
    for label, texts in (("1", example.positives), ("0", example.negatives)):
        for text in texts:
            yield _tabs(number, _text(number, example.query), text.title or "-", _text(number, text), label)


def _rocketqa_pairs(number: int, example: Example) -> Iterator[str]:
    _need_negatives(number, example)
    query = _text(number, example.query)
    for good, bad in product(example.positives, example.negatives):
        sides = (cell for text in (good, bad) for cell in (text.title or "-", _text(number, text)))
        yield _tabs(number, query, *sides, "0")


def _msmarco(number: int, example: Example) -> Iterator[str]:
    _need_negatives(number, example)
    query = _text(number, example.query)
    for good, bad in product(_whole(number, example.positives), _whole(number, example.negatives)):
        yield _tabs(number, query, good, bad)


def _msmarco_ids(number: int, example: Example) -> Iterator[str]:
    _need_negatives(number, example)
    for good, bad in product(example.positives, example.negatives):
        ids = (example.query.id, good.id, bad.id)
        if not all(ids):
            raise HarnessError(f"example {number}: has a query or passage without an id; write another form")
        yield _tabs(number, *ids)


FORMS: dict[str, Writer] = {
    "tevatron": _tevatron,
    "sentence-transformers": _sentence_transformers,
    "rocketqa": _rocketqa,
    "rocketqa-pairs": _rocketqa_pairs,
    "msmarco": _msmarco,
    "msmarco-ids": _msmarco_ids,
}


def _need_negatives(number: int, example: Example) -> None:
    if not example.negatives:
        raise HarnessError(f"example {number}: has no negative, which this form needs; write another form")


def _whole(number: int, texts: Iterable[Text]) -> list[str]:
    """The texts, each with its title before it."""
    return [f"{text.title} {_text(number, text)}" if text.title else _text(number, text) for text in texts]


def _text(number: int, text: Text) -> str:
    if not text.text and text.id:
        raise HarnessError(f"example {number}: '{text.id}' is an id without a text; write msmarco-ids")
    return text.text


def _tabs(number: int, *cells: str) -> str:
    for cell in cells:
        if any(mark in cell for mark in "\t\n\r"):
            raise HarnessError(f"example {number}: has a tab or line break in a text; write a form of JSON")
    return "\t".join(cells)


def _json(row: dict[str, Any]) -> str:
    return orjson.dumps(row).decode()
