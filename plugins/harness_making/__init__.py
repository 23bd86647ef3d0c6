"""Makers of passages, queries and judgements, after DuReader-retrieval and T2Ranking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from harness.hookspecs import hookimpl
from harness.records import Maker, param


@dataclass(frozen=True)
class JoinParams:
    limit: int = param(256, "characters: shorter passages are joined with those that follow", minimum=1)
    separator: str = param("", "what is put between two joined passages")
    join_whole: Literal["below", "never"] = param(
        "below", "a document below the limit becomes one passage; never: only its passages are joined"
    )


def _build(module: str, name: str) -> Any:
    def build(params: Any) -> Any:
        from importlib import import_module

        return getattr(import_module(f"harness_making.{module}"), name)(params)

    return build


@hookimpl
def harness_makers() -> Iterable[Maker]:
    yield Maker(
        name="join-paragraphs",
        summary="DuReader-retrieval's control of length: short paragraphs are joined with the next ones",
        build=_build("joining", "Join"),
        params=JoinParams,
        changes=("corpus", "judgements"),
        reads=("corpus", "judgements"),
    )
    yield Maker(
        name="strip-titles",
        summary="removes the documents' titles",
        build=_build("titles", "StripTitles"),
        changes=("corpus",),
        reads=("corpus",),
    )
