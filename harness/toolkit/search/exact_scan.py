"""Estimates many inner products by the machine's fastest matrix product, and bounds the error."""

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

_WHOLE = 2047  # the largest whole number of a query: a sum of products with int8 fits into 32 bits
_SAFE = 1.01  # a margin, because the norms in the bounds are rounded too


class Scan(Protocol):
    half: bool  # whether the estimates are bfloat16
    coarse: float  # the largest relative error from rounding an estimate

    def load(self, block: Floats, pool: Executor) -> Doubles:
        """Sets the block of vectors (float32[n, d]) to compare with. Returns, for each query, how far an
        estimate can lie below the score of `kernels.dot` (float64[Q])."""
        ...

    def estimates(self, a: int, z: int, first: int, last: int) -> NDArray[Any]:
        """[z - a, n]: estimates of queries a to z - 1 with vectors first to last - 1 of the block. Columns
        beyond the end of the block are left out or mean nothing."""
        ...


def choose(queries: Floats, rows: int, centre: Floats) -> Scan:
    """The fastest `Scan` on this machine, for blocks of at most `rows` vectors."""
    if has_gpu():
        return Torch(queries, "cuda")
    return Halves(queries, rows, centre) if has_bf16() else Singles(queries)


def has_gpu() -> bool:
    """Whether torch can multiply in full float32 on a GPU; false if the program allows TF32, which is
    coarser."""
    if not hardware.gpus():
        return False
    import torch

    return bool(torch.cuda.is_available() and not torch.backends.cuda.matmul.allow_tf32)


def has_bf16() -> bool:
    """Whether torch is installed and the CPU multiplies bfloat16 natively, with sums in float32."""
    if hardware.dtype("auto", "cpu") != "bf16":
        return False
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.backends.mkldnn.is_available())


@contextmanager
def workers(count: int) -> Iterator[Executor]:
    """A pool of threads, each of which computes its products alone: torch's own threads within them would
    compete for the cores."""
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
        torch.set_num_threads(before)  # new threads also begin with this number


class Singles:
    """Estimates in float32, by numpy."""

    half, coarse = False, 2.0**-22

    def __init__(self, queries: Floats) -> None:
        self._queries, self._norms = queries, _norms(queries)
        self._block = queries[:0]

    def load(self, block: Floats, pool: Executor) -> Doubles:
        self._block = block
        slack: Doubles = 2 * _gamma(block.shape[1]) * self._norms * _norms(block).max() * _SAFE
        return slack

    def estimates(self, a: int, z: int, first: int, last: int) -> NDArray[Any]:
        return self._queries[a:z] @ self._block[first:last].T


class Torch(Singles):
    """Estimates in float32, on a device of torch."""

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
    """Estimates in bfloat16, by torch, from the vectors minus a centre. The vectors of one model often have
    much in common; without that common part they are shorter, and rounding loses less.

    |q.v - q.c - q'.x'| <= |q - q'| |x| + |q'| |x - x'| (Cauchy-Schwarz), where x = v - c and x', q' are
    rounded. Each sum of d products in float32 is off by at most d 2^-24 |q| |x|; the code doubles that to be
    safe.
    """

    half, coarse = True, 2.0**-8 * _SAFE

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
        norm, lost = np.max(list(halved), axis=0)  # NaN if any piece gives NaN
        longest = norm + np.linalg.norm(self._centre)  # a bound on the norm of the original vectors
        gamma, norms = _gamma(block.shape[1]), self._norms + self._lost
        rounding = self._lost * norm + norms * lost
        summing = gamma * norms * (norm + lost) + gamma * self._norms * longest
        slack: Doubles = (rounding + summing) * _SAFE + self._offsets
        return slack

    def estimates(self, a: int, z: int, first: int, last: int) -> NDArray[Any]:
        products = self._torch.mm(self._queries[a:z], self._block[first:last].T)
        halves: NDArray[Any] = products.view(self._torch.int16).numpy().view(np.uint16)
        return halves


def rounded(queries: Floats) -> tuple[NDArray[np.int16], Doubles, Doubles] | None:
    """The queries as whole numbers times a step for each, and how far the estimate of a product with a vector
    in int8 can be off, for a vector of scale 1: |q - q'| 127 sqrt(d), with the rounding of the sums. None if
    there are numbers for which that does not hold."""
    steps: Doubles = np.abs(queries).max(axis=1, initial=0).astype(np.float64) / _WHOLE
    dimension = queries.shape[1]
    if not np.isfinite(steps).all() or dimension * _WHOLE * 127 >= 2**31:
        return None
    steps[steps == 0] = 1
    whole = np.rint(queries / steps[:, None]).astype(np.int16)
    lost = _norms(queries - whole * steps[:, None]) + 2 * _gamma(dimension + 1) * _norms(queries)
    return whole, steps, lost * 127 * np.sqrt(dimension) * _SAFE


def _gamma(terms: int) -> float:
    """Twice the relative error of a float32 sum of `terms` products (Higham 2002, equation 3.5)."""
    return terms * 2.0**-23


def _norms(rows: Floats) -> Doubles:
    norms: Doubles = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return norms
