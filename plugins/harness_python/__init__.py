"""Methods that are Python functions. `harness.run({...})` makes them parameters of the method `python`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.plugin import Context, Reranker, Retriever, hookimpl, param
from harness_python import impure


@dataclass(frozen=True)
class PythonParams:
    """A function given by its source, or an object of the process that runs the suite."""

    name: str = param(help="the function's name in the source")
    source: str = param("", "the source of the function and of the functions that it uses; it is executed")
    values: dict[str, str] | None = param(None, "the data that the function uses, as literals of Python")
    imports: dict[str, str] | None = param(
        None, "what the function imports: names, each with module or module:attribute"
    )
    versions: dict[str, str] | None = param(None, "the versions of these modules, or digests of their files")
    run: str = param("", "for an object: the run that it belongs to")
    served: int = param(0, "for an object: its number")
    address: str = param("", "for an object: the address at which it is called", keyed=False)

    def __post_init__(self) -> None:
        if bool(self.source) == bool(self.run):
            raise ValueError("give the source of a function; run({...}) writes it for you")


def unkeyed(params: PythonParams) -> str | None:
    """Why the answers of a function are asked for in every run. A watch over its calls finds these."""
    if params.run:
        return "a Python object without a source of its own, so it runs every time"
    try:
        reasons = impure.reasons(params.source, params.imports or {})
    except SyntaxError:  # the step that executes the source reports it
        return None
    return f"it {' and '.join(reasons)}, so it runs every time" if reasons else None


SHARED: Mapping[str, Any] = {"params": PythonParams, "unkeyed": unkeyed}


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        name="python",
        summary="A Python function (queries, corpus, k) -> hits",
        build="harness_python.methods:Method",
        **SHARED,
    )


@hookimpl
def harness_rerankers() -> Iterable[Reranker]:
    yield Reranker(
        name="python",
        summary="A Python function (query, texts) -> scores",
        build="harness_python.methods:Method",
        **SHARED,
    )


@hookimpl
def harness_contexts() -> Iterable[Context]:
    yield Context(
        name="python",
        summary="A Python function of a document -> a prefix, or one for each passage",
        build="harness_python.methods:Augmenter",
        **SHARED,
    )
