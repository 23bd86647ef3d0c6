"""The options of a faiss index in a suite: `search: {faiss: HNSW32, ef_search: 256}`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from harness.plugin import param

_COUNT = r"[1-9]\d*"
_PART = re.compile(
    "|".join(
        (
            r"Flat|L2norm|SQ(4|6|8|fp16|bf16)",
            rf"HNSW({_COUNT})?(_SQ8)?",
            rf"IVF{_COUNT}(_HNSW{_COUNT})?",
            rf"O?PQ{_COUNT}([x_]{_COUNT})?(fsr?|np)?",
            rf"PCAR?W?R?{_COUNT}",
        )
    )
)


@dataclass(frozen=True)
class Faiss:
    """A type of faiss index by its name, with the options for building and searching the index."""

    faiss: str = param(help="as faiss names it: Flat, HNSW32, IVF1024,Flat, PQ48, OPQ48,IVF256,PQ48")
    probes: int = param(16, "of an IVF index: how many cells are searched", minimum=1)
    ef_search: int = param(128, "of an HNSW index: how many neighbours are kept while searching", minimum=1)
    ef_construction: int = param(200, "of an HNSW index: the same while it is built", minimum=1)
    seed: int = param(0, "chooses the vectors that an index is trained on", minimum=0)
    gpus: Literal["replicate", "shard"] = param(
        "replicate", "with device: cuda, every GPU has the whole index, or each a part of it (shard)"
    )

    def __post_init__(self) -> None:
        unknown = [part for part in self.faiss.split(",") if not _PART.fullmatch(part)]
        if unknown:
            raise ValueError(
                f"faiss: '{unknown[0]}' is no part of an index; the parts, joined by commas, are Flat, "
                "HNSW32, IVF1024, PQ48, OPQ48, SQ8, PCA128 and L2norm, with numbers of your choice"
            )
