"""Estimates of many inner products by the machine's fastest matrix product, and how wrong they can be."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from harness.toolkit.neural import hardware
from harness.toolkit.search import exact_kernels as kernels

if TYPE_CHECKING:
    from harness.types import Floats

    Doubles = NDArray[np.float64]

SAFE = 1.01  # the norms that bounds are made of are rounded too


class Scan(Protocol):
    half: bool  # the estimates are bfloat16
    coarse: float  # the greatest share of its size that rounding takes from an estimate

    def load(self, block: Floats, pool: Executor) -> Doubles:
        """Make these vectors (float32[n, d]) the ones to compare with. Returns how far the estimate can lie
        below the score of `kernels.dot` for each query (float64[Q])."""
        ...

    def estimates(self, a: int, z: int, first: int, last: int) -> NDArray[Any]:
        """[z - a, n]: queries a to z - 1 with vectors first to last - 1 of the block; beyond its end they are
        left out or mean nothing."""
        ...


def choose(queries: Floats, rows: int, centre: Floats) -> Scan:
    """The fastest way, for blocks of at most `rows` vectors."""
    if has_gpu():
        return Torch(queries, "cuda")
    return Halves(queries, rows, centre) if has_bf16() else Singles(queries)


def has_gpu() -> bool:
    """Whether torch can multiply in float32 on a GPU: TF32, which some programs allow, is not that."""
    if not hardware.gpus():
        return False
    import torch

    return bool(torch.cuda.is_available() and not torch.backends.cuda.matmul.allow_tf32)


def has_bf16() -> bool:
    """Whether torch is here and the CPU multiplies bfloat16 natively, adding up in float32."""
    if hardware.dtype("auto", "cpu") != "bf16":
        return False
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.backends.mkldnn.is_available())


@contextmanager
def workers(count: int) -> Iterator[Executor]:
    """Threads of which each computes its own products: torch's threads within them would fight for cores."""
    try:
        import torch
    except ImportError:
        with ThreadPoolExecutor(count) as pool:
            yield pool
        return
    before = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool
    finally:
        torch.set_num_threads(before)  # it is also what new threads begin with


class Singles:
    """Products in float32, by numpy."""

    half, coarse = False, 2.0**-22

    def __init__(self, queries: Floats) -> None:
        self._queries, self._norms = queries, _norms(queries)
        self._block = queries[:0]

    def load(self, block: Floats, pool: Executor) -> Doubles:
        self._block = block
        slack: Doubles = 2 * _gamma(block.shape[1]) * self._norms * _norms(block).max() * SAFE
        return slack

    def estimates(self, a: int, z: int, first: int, last: int) -> NDArray[Any]:
        return self._queries[a:z] @ self._block[first:last].T


class Torch(Singles):
    """The same on a device of torch's."""

    def __init__(self, queries: Floats, device: str) -> None:
        import torch

        super().__init__(queries)
        self._torch, self._device = torch, device
        self._asked = self._there = torch.tensor(queries, device=device)

    def load(self, block: Floats, pool: Executor) -> Doubles:
        self._there = self._torch.tensor(block, device=self._device)
        return super().load(block, pool)

    def estimates(self, a: int, z: int, first: int, last: int) -> NDArray[Any]:
        products: NDArray[Any] = (self._asked[a:z] @ self._there[first:last].T).cpu().numpy()
        return products


class Halves:
    """Products in bfloat16, by torch, of the vectors less a centre. Vectors of one model often have much in
    common; without it they are shorter, and rounding takes less from them.

    |q.v - q.c - q'.x'| <= |q - q'| |x| + |q'| |x - x'| (Cauchy-Schwarz), where x = v - c and x', q' are
    rounded; and each sum of d products in float32 is off by at most d 2^-24 |q| |x|, twice that to be safe.
    """

    half, coarse = True, 2.0**-8 * SAFE

    def __init__(self, queries: Floats, rows: int, centre: Floats) -> None:
        import torch

        self._torch = torch
        self._centre = centre
        halves = torch.from_numpy(queries).bfloat16()
        self._queries = halves
        self._norms, self._lost = _norms(queries), _norms(queries - halves.float().numpy())
        self._offsets: Doubles = queries.astype(np.float64) @ centre.astype(np.float64)
        self._buffer = np.zeros((rows, queries.shape[1]), np.uint16)
        self._block = torch.from_numpy(self._buffer.view(np.int16)).view(torch.bfloat16)

    def load(self, block: Floats, pool: Executor) -> Doubles:
        pieces = [slice(i, i + 1024) for i in range(0, len(block), 1024)]
        halved = pool.map(
            lambda piece: kernels.halve(block[piece], self._centre, self._buffer[piece]), pieces
        )
        norm, lost = np.max(list(halved), axis=0)  # a NaN stays one
        longest = norm + np.linalg.norm(self._centre)  # of the vectors as they are
        gamma, norms = _gamma(block.shape[1]), self._norms + self._lost
        rounding = self._lost * norm + norms * lost
        summing = gamma * norms * (norm + lost) + gamma * self._norms * longest
        slack: Doubles = (rounding + summing) * SAFE + self._offsets
        return slack

    def estimates(self, a: int, z: int, first: int, last: int) -> NDArray[Any]:
        products = self._torch.mm(self._queries[a:z], self._block[first:last].T)
        halves: NDArray[Any] = products.view(self._torch.int16).numpy().view(np.uint16)
        return halves


def _gamma(terms: int) -> float:
    """Twice the relative error of a sum of so many products in float32 (Higham 2002, equation 3.5)."""
    return terms * 2.0**-23


def _norms(rows: Floats) -> Doubles:
    norms: Doubles = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return norms
