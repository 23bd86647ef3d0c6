"""The known learned sparse models by short name: hub ids and the authors' settings, with citations."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness.toolkit.neural import bge_m3


class Known(NamedTuple):
    """The known settings of a model. If a setting of the queries is None, the setting of the passages
    holds."""

    name: str
    passages: str  # the hub's id of the passages' encoder
    length: int  # tokens of a passage, special ones counted
    cite: str
    query_length: int | None = None  # where it differs from the passages' length
    query: str = "model"  # how queries become terms: see `SpladeParams.query`
    queries: str | None = None  # the hub's id of the queries' own encoder, if there are two
    activation: str = "log"


def find(name: str | Path) -> Known | None:
    """The model whose short name, or whose hub id of the passages' encoder, is `name`, or None."""
    if isinstance(name, Path):
        return None
    return next((known for known in MODELS if name in (known.name, known.passages)), None)


V2, PLUS = "Formal et al. 2021", "Formal et al. 2022"
V3 = "Lassance et al. 2024; the configuration in its authors' code"
EFFICIENT = "Lassance and Clinchant 2022"
UNICOIL = "Lin and Ma 2021; the encoder in its authors' code"
M3 = "Chen et al. 2024; its model card and code"
OPENSEARCH = "Geng et al. 2024; its model card"

MODELS = (
    Known("splade-v2-max", "naver/splade_v2_max", 256, V2),
    Known("splade-v2-distil", "naver/splade_v2_distil", 256, V2),
    Known("splade-cocondenser-ensembledistil", "naver/splade-cocondenser-ensembledistil", 256, PLUS),
    Known("splade-cocondenser-selfdistil", "naver/splade-cocondenser-selfdistil", 256, PLUS),
    # DAPR's table calls this model SPLADEv2 and reads longer texts
    Known("dapr-spladev2", "naver/splade-cocondenser-ensembledistil", 512, "Wang et al. 2024; its code"),
    Known("splade-v3", "naver/splade-v3", 256, V3),
    Known("splade-v3-distilbert", "naver/splade-v3-distilbert", 256, V3),
    Known("splade-v3-doc", "naver/splade-v3-doc", 256, V3, query="binary"),
    *(
        Known(f"unicoil{kind}", f"castorini/unicoil{kind}-msmarco-passage", 512, UNICOIL, query_length=128)
        for kind in ("", "-noexp")
    ),
    Known("bge-m3", "BAAI/bge-m3", bge_m3.PASSAGE_LENGTH, M3, query_length=bge_m3.QUERY_LENGTH),
    *(
        Known(
            f"efficient-splade-{name}",
            f"naver/efficient-splade-{name}-doc",
            256,
            EFFICIENT,
            queries=f"naver/efficient-splade-{name}-query",
        )
        for name in ("V-large", "VI-BT-large")
    ),
    *(
        Known(
            f"opensearch-{name}",
            f"opensearch-project/opensearch-neural-sparse-encoding-{name}",
            512,
            OPENSEARCH,
            query="idf",
            activation=activation,
        )
        for name, activation in (
            ("doc-v2-distill", "log"),
            ("doc-v2-mini", "log"),
            ("doc-v3-distill", "log-log"),
        )
    ),
)
