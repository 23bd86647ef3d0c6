"""Runs a model over many tokenised texts, in batches of similar lengths, one batch for each worker."""

from __future__ import annotations

import queue
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from harness.errors import HarnessError
from harness.toolkit.neural.encoding.parts import Forward, lengths
from harness.toolkit.neural.tokens import Tokens, select

if TYPE_CHECKING:
    from numpy.typing import NDArray

BUDGET = 4096  # tokens of a batch, with the padding up to its longest text: fits a CPU's cache
BUDGETS = {"cpu": BUDGET, "cuda": 1 << 16}  # a GPU needs larger batches


class Passed(NamedTuple):
    rows: list[Any]  # one for each text, in the order given
    split: int  # how many batches were too large for the memory, and were halved


Run: TypeAlias = Callable[[Tokens, Callable[[int], None]], Passed]
"""(n texts, told how many more are done) -> what the model makes of them."""


@contextmanager
def workers(forwards: Sequence[Forward], budget: int = BUDGET) -> Iterator[Run]:
    """Yields a function that encodes texts with as many threads as there are `forwards`. The batches depend
    only on the lengths of the texts, so more workers change nothing but the time."""
    free: queue.SimpleQueue[Forward] = queue.SimpleQueue()
    for forward in forwards:
        free.put(forward)
    with ThreadPoolExecutor(len(forwards), thread_name_prefix="encode") as pool:

        def run(tokens: Tokens, more: Callable[[int], None]) -> Passed:
            rows: list[Any] = [None] * len(lengths(tokens))
            waiting: dict[Future[Passed], NDArray[np.int64]] = {}
            for places in batches(lengths(tokens), budget):
                waiting[pool.submit(_passed, free, select(tokens, places))] = places
            split = 0
            try:
                for done in as_completed(waiting):
                    passed, places = done.result(), waiting[done]
                    for place, row in zip(places, passed.rows, strict=True):
                        rows[place] = row
                    split += passed.split
                    more(len(places))
            finally:
                for other in waiting:
                    other.cancel()
            return Passed(rows, split)

        yield run


def batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Yields the batches, each as the numbers of its texts, from the lengths of all texts (int64[n]). The
    longest texts come first. So a budget that exceeds the memory fails at once, and the last batches are
    small, so that the workers finish at about the same time."""
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        end = start + max(1, budget // max(1, int(lengths[order[start]])))
        yield order[start:end]
        start = end


def out_of_memory(error: BaseException) -> bool:
    """Whether the error means that memory ran out; each library reports that in its own way."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    message = str(error).lower()
    wordings = ("out of memory", "can't allocate memory", "failed to allocate", "bad_alloc", "bad allocation")
    return isinstance(error, RuntimeError) and any(wording in message for wording in wordings)


def _passed(free: queue.SimpleQueue[Forward], batch: Tokens) -> Passed:
    """Runs a batch on whichever worker is free. A batch that is too large for the memory is run in halves."""
    forward = free.get()
    try:
        rows = forward(batch)
        if len(rows) != len(lengths(batch)):
            raise ValueError(f"a pass over {len(lengths(batch))} texts returned {len(rows)} rows")
        return Passed(list(rows), 0)
    except Exception as error:
        if not out_of_memory(error):
            raise
        texts, most = len(lengths(batch)), int(lengths(batch).max())
        if texts == 1:
            raise HarnessError(
                f"out of memory: one text of {most} tokens alone does not fit; give a smaller maximum "
                "length, or use a device with more memory"
            ) from error
    finally:
        free.put(forward)
    _release()
    print(f"out of memory with {texts} texts of {most} tokens: halved", file=sys.stderr)
    order = np.arange(texts)
    parts = [_passed(free, select(batch, part)) for part in (order[: texts // 2], order[texts // 2 :])]
    return Passed([row for part in parts for row in part.rows], 1 + sum(part.split for part in parts))


def _release() -> None:
    """Gives back the GPU memory that torch keeps for later."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
