"""A scheme: the grades and labels of annotators, their wording, and how pairs are shared out. It is data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from harness.plugin import HarnessError, shown_path, unknown
from harness.toolkit.commands import settings

HERE = Path(__file__).parent / "schemes"
RESERVED = "cdgnxyz"  # keys of the page: comment, document, guide, skip, wrong, right, undo
Words = Annotated[str, Meta(min_length=1, max_length=4000)]
Some = Annotated[int, Meta(ge=1, le=1_000_000)]


class Grade(Struct, frozen=True, forbid_unknown_fields=True):
    """One level of relevance. Its key on the page is its digit."""

    grade: Annotated[int, Meta(ge=0, le=9)]
    name: Words
    text: Words


class Label(Struct, frozen=True, forbid_unknown_fields=True):
    """One label. `grade` is the relevance that the label implies; `alone` forbids other labels beside it."""

    label: Annotated[str, Meta(pattern=r"^[\w-]+$")]
    key: Annotated[str, Meta(pattern="^[a-z]$")]
    name: Words
    text: Words
    grade: Annotated[int, Meta(ge=0, le=9)] | None = None
    alone: bool = False


class Rules(Struct, frozen=True, forbid_unknown_fields=True):
    """How pairs are shared out and checked."""

    votes: Annotated[int, Meta(ge=1, le=99)] = 1  # how many people judge each pair
    more: Annotated[int, Meta(ge=0, le=99)] = 0  # how many more people judge, one by one, if they disagree
    package: Some = 1000  # pairs of a package
    hold: Some = 30  # minutes until a pair that somebody left open is given to another
    gold_every: Annotated[int, Meta(ge=2)] = 10  # one gold question in so many pairs, while any is left
    review: Some = 100  # random pairs of a package for each reviewer
    accuracy: Annotated[float, Meta(gt=0, le=1)] = 0.93  # a package below it is to be revised
    reviewers: Annotated[int, Meta(ge=1, le=99)] = 1
    seed: Annotated[int, Meta(ge=0)] = 0


class Scheme(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A scheme has grades, and perhaps labels beside them, or it has labels alone, each with a grade."""

    title: Words
    guide: Words
    source: str = ""
    grades: tuple[Grade, ...] = ()
    labels: tuple[Label, ...] = ()
    rules: Rules = Rules()


class Choice(Struct, frozen=True):
    """The choice of a person or machine for a pair."""

    grade: int
    labels: tuple[str, ...] = ()


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.yaml"))


def load(name_or_path: str, below: Path | None = None) -> Scheme:
    """A scheme of the harness by its name, or a user's scheme by its path."""
    if name_or_path in names():
        path = HERE / f"{name_or_path}.yaml"
    elif name_or_path.endswith((".yaml", ".yml")):
        path = (below or Path()) / name_or_path
    else:
        raise HarnessError(f"--scheme: {unknown('scheme', name_or_path, names())}; or name a .yaml file")
    try:
        scheme = msgspec.convert(settings.read_yaml(path).plain(), Scheme)
    except msgspec.ValidationError as error:
        text = str(error)[:1].lower() + str(error)[1:]
        raise HarnessError(f"{shown_path(path)}: {text}; see docs/annotate.md for a scheme's keys") from None
    if problem := _problem(scheme):
        raise HarnessError(f"{shown_path(path)}: {problem}")
    return scheme


def _problem(scheme: Scheme) -> str | None:
    if not scheme.grades and not scheme.labels:
        return "has neither grades nor labels; give one of them"
    if len({item.grade for item in scheme.grades}) < len(scheme.grades):
        return "grades: two are the same; give each its own number"
    for what in ("label", "key"):
        values = [getattr(item, what) for item in scheme.labels]
        if len(set(values)) < len(values):
            return f"labels: two have the same {what}; give each its own"
    taken = [item.key for item in scheme.labels if item.key in RESERVED]
    if taken:
        return f"labels: the page uses the key '{taken[0]}' itself; choose another"
    if not scheme.grades and any(item.grade is None for item in scheme.labels):
        return "labels: without grades each label needs a grade; add one"
    if scheme.grades and any(item.grade is not None for item in scheme.labels):
        return "labels: the annotator chooses the grade, so a label has none; remove it"
    return None


def choice(scheme: Scheme, grade: int | None, labels: Sequence[str]) -> Choice:
    """The checked choice. Raises HarnessError for a choice that the scheme does not offer."""
    known = {item.label: item for item in scheme.labels}
    for name in labels:
        if name not in known:
            raise HarnessError(f"label: {unknown('label', name, known)}")
    if len(set(labels)) < len(labels):
        raise HarnessError("labels: one is given twice; give it once")
    chosen = [item for item in scheme.labels if item.label in labels]
    if len(chosen) > 1 and any(item.alone for item in chosen):
        alone = next(item for item in chosen if item.alone)
        raise HarnessError(f"labels: '{alone.name}' stands alone; remove it or the others")
    if scheme.grades:
        if grade not in {item.grade for item in scheme.grades}:
            raise HarnessError(f"grade: {grade} is not one of the scheme; choose one of the levels")
        assert grade is not None
        return Choice(grade, tuple(item.label for item in chosen))
    implied = {item.grade for item in chosen}
    if not chosen:
        raise HarnessError("labels: none is chosen; choose one, or skip the pair")
    if len(implied) > 1:
        raise HarnessError("labels: these imply different grades; keep those that fit together")
    value = implied.pop()
    if value is None or grade not in (None, value):
        raise HarnessError("grade: the labels imply another; leave it out")
    return Choice(value, tuple(item.label for item in chosen))
