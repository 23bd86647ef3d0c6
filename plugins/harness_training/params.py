"""The parameters of the trainers. Each default names its source."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.plugin import param

Pooling = Literal["auto", "cls", "mean", "max", "last"]
Dtype = Literal["auto", "fp32", "bf16"]
Device = Literal["auto", "cpu", "cuda"]
Auto = Literal["auto"]
Titles = Literal["none", "joined", "pair", "untyped-pair"]
INIT = "the model to start from: a folder, a hub id, package:MODULE/FOLDER, or {made: NAME}"
AS_START = "auto: as the model to start from"
COMPUTED = "the type of matrix products; auto: bf16 if the device supports it. Weights stay in fp32"
INSTANCE = (
    "what an epoch has once: each query with one of its positives and its negatives, each positive with its "
    "negatives, or each pair"
)
TITLES = "how a passage's title is read: not at all, before the text, or as a pair with it as `dense` has it"
PAIRS = "a pair is a positive with one of its negatives"
SCHEDULE = "what the rate does after the warm-up: it falls to 0 in a line or as a cosine, or stays"
INIT_QUERY = "with `untied`: the model that the encoder of queries starts from; without it, `init`"
OPTIMISER = "the optimiser; lamb scales the step of each matrix by its norm, as in T2Ranking's code"
MICRO = "how many texts or pairs are in memory at a time; this does not change the batch"


def of(base: type, name: str, default: Any) -> Any:
    """The field of the parameter `name` of the class `base`, with another default."""
    field = base.__dataclass_fields__[name]  # type: ignore[attr-defined]
    return dataclasses.field(default=default, metadata=field.metadata)


def _needs_untied(init_query: Path | str | None, untied: bool) -> None:
    if init_query is not None and not untied:
        raise ValueError("init_query: queries have an encoder of their own only with `untied: true`; add it")


@dataclass(frozen=True, kw_only=True)
class Common:
    """The parameters that all trainers have. The defaults are those of bi-encoders."""

    init: Path | str = param(help=INIT)
    revision: str = param("auto", "the branch, tag or commit of a model of the hub")
    epochs: int = param(10, "how often every instance is seen", minimum=1)
    batch: int = param(256, "how many instances a step has", minimum=1)
    instance: Literal["query", "positive", "pair"] = param("query", INSTANCE)
    micro: int = param(16, MICRO, minimum=1)
    lr: float = param(3e-5, "the highest learning rate", minimum=0)
    warmup: float = param(0.1, "the share of the steps in which the rate rises", minimum=0, maximum=1)
    schedule: Literal["linear", "constant", "cosine"] = param("linear", SCHEDULE)
    decay: float = param(0.0, "weight decay of matrices", minimum=0)
    optimiser: Literal["adamw", "lamb"] = param("adamw", OPTIMISER)
    clip: float = param(1.0, "the largest norm of a step's gradient; 0: no limit", minimum=0)
    dropout: float = param(0.1, "the dropout of hidden states and attention", minimum=0, maximum=0.99)
    dtype: Dtype = param("auto", COMPUTED)
    device: Device = param("auto", "where the model is trained")
    titles: Titles = param("none", TITLES)
    processes: int = param(
        1, "how many processes of one machine share each batch; on GPUs, each process has its own", minimum=1
    )


@dataclass(frozen=True, kw_only=True)
class Encoder(Common):
    """The parameters of trainers of an encoder that turns a text into one vector."""

    pooling: Pooling = param("auto", f"how tokens become one vector; {AS_START}, cls if it does not say")
    similarity: Literal["auto", "dot", "cosine"] = param(
        "auto", f"how vectors are compared; {AS_START}, cosine for vectors of length 1, else dot"
    )
    temperature: float | Auto = param(
        "auto", "scores are divided by this number; auto: 0.05 with cosine, 1 with dot", minimum=1e-4
    )
    query_length: int | Auto = param(
        "auto", f"how many tokens of a query are read; {AS_START}, 32 if it does not say", minimum=3
    )
    passage_length: int | Auto = param(
        "auto", f"how many tokens of a passage are read; {AS_START}, 128 if it does not say", minimum=3
    )
    query_prompt: str | None = param(None, "text that is put before every query; null: that of the start")
    passage_prompt: str | None = param(None, "text that is put before every passage; null: that of the start")


@dataclass(frozen=True, kw_only=True)
class BiEncoder(Encoder):
    """The parameters that only trainers of bi-encoders have."""

    untied: bool = param(
        False, "trains one encoder for queries and one for passages: the parts `query` and `passage`"
    )
    loss: Literal["contrastive", "margin-mse", "kl"] = param(
        "contrastive",
        "contrastive: softmax over a batch; others: distillation from the scores of the negatives' run",
    )
    in_batch: bool = param(True, "whether passages of other queries in the batch are negatives too")
    cross_device: bool = param(
        True, "whether passages of other processes' queries are negatives too (RocketQA)"
    )


@dataclass(frozen=True, kw_only=True)
class DualEncoderParams(BiEncoder):
    """The parameters of `dual-encoder`. Defaults: DuReader-retrieval's (Qiu et al. 2022, appendix A.2)."""

    init_query: Path | str | None = param(None, help=INIT_QUERY)
    init_query_revision: str = param("auto", "the branch, tag or commit of that model on the hub")
    passage_length: int | Auto = param(
        "auto", f"how many tokens of a passage are read; {AS_START}, 384 if it does not say", minimum=3
    )

    def __post_init__(self) -> None:
        _needs_untied(self.init_query, self.untied)


@dataclass(frozen=True, kw_only=True)
class PromptsParams(BiEncoder):
    """The parameters of `prompts`. The defaults are those of DPTDR's code for MS MARCO (Tang et al. 2022).
    The batch is that of all devices of this code together."""

    init: Path | str = param(help=f"{INIT}; the weights of this model do not change")
    batch: int = of(Common, "batch", 64)
    lr: float = of(Common, "lr", 7e-3)
    prefix: int = param(
        128, "how many trained key-values are put before those of the text in every layer", minimum=1
    )
    mlp: bool = param(False, "whether a small network produces the prefix during training; it is not stored")
    mlp_width: int = param(512, "the width of that network", minimum=1)


@dataclass(frozen=True, kw_only=True)
class LoraParams(BiEncoder):
    """The parameters of `lora`. The rank, alpha, matrices and learning rate are those of LoRA's paper for
    RoBERTa-base (Hu et al. 2022, table 9)."""

    init: Path | str = param(help=f"{INIT}; the weights of this model do not change")
    lr: float = of(Common, "lr", 5e-4)
    rank: int = param(8, "the rank of a matrix's change", minimum=1)
    alpha: float = param(8.0, "a change is multiplied by alpha / rank", minimum=0)
    matrices: tuple[str, ...] = param(
        ("query", "value"), "which matrices change: the last parts of their names"
    )


@dataclass(frozen=True, kw_only=True)
class CrossEncoderParams(Common):
    """The parameters of `cross-encoder`. Defaults: DuReader-retrieval's (Qiu et al. 2022, appendix A.2)."""

    epochs: int = of(Common, "epochs", 3)
    batch: int = of(Common, "batch", 64)
    lr: float = of(Common, "lr", 1e-5)
    warmup: float = of(Common, "warmup", 0.0)
    decay: float = of(Common, "decay", 0.01)
    loss: Literal["two-classes", "one-logit", "listwise"] = param(
        "two-classes", "cross-entropy of single pairs (two classes or one logit), or of each query's list"
    )
    instance: Literal["query", "positive", "pair"] = param("query", f"{INSTANCE}: a query with one passage")
    titles: Literal["none", "joined"] = param("none", "whether a passage's title is read, before its text")
    length: int = param(384, "how many tokens of a pair are read", minimum=8)
    query_length: int = param(64, "how many tokens of a query are read", minimum=1)

    def __post_init__(self) -> None:
        if self.loss == "listwise" and self.instance == "pair":
            raise ValueError("instance: the loss `listwise` needs lists; say `query` or `positive`")


@dataclass(frozen=True, kw_only=True)
class RocketQAv2Params(Encoder):
    """The parameters of `rocketqav2`. The defaults are those of the paper (Ren et al. 2021, section 4.1).
    The trained parts are `retriever` and `reranker`; with `untied`, `query`, `passage` and `reranker`."""

    init: Path | str = param(help=f"for the retriever: {INIT}")
    init_query: Path | str | None = param(None, help=INIT_QUERY)
    init_query_revision: str = param("auto", "the branch, tag or commit of that model on the hub")
    init_reranker: Path | str = param(help=f"for the re-ranker: {INIT}")
    reranker_revision: str = param("auto", "the branch, tag or commit of the re-ranker's model on the hub")
    untied: bool = param(False, "trains one encoder for queries and one for passages, as the authors do")
    epochs: int = of(Common, "epochs", 3)
    batch: int = of(Common, "batch", 96)
    instance: Literal["query", "positive"] = param(
        "query", "what an epoch has once: each query with one of its positives, or each positive"
    )
    lr: float = of(Common, "lr", 1e-5)
    warmup: float = of(Common, "warmup", 0.0)
    decay: float = of(Common, "decay", 0.01)
    dropout: float = param(0.1, "the dropout of the re-ranker", minimum=0, maximum=0.99)
    retriever_dropout: float = param(
        0.0, "the dropout of the retriever; its authors' code has 0.1", minimum=0, maximum=0.99
    )
    titles: Titles = param("none", f"{TITLES}; the re-ranker then reads title and text joined")
    reranker: Literal["listwise", "pointwise", "static"] = param(
        "listwise", "how the re-ranker learns from labels: by lists, by pairs, or not at all (table 4)"
    )
    direction: Literal["retriever-reranker", "reranker-retriever"] = param(
        "retriever-reranker",
        "the direction of the divergence: that of the paper, or that of its authors' code",
    )
    divergence: float = param(
        1.0, "the weight of the divergence, which is a mean over lists (equation 4)", minimum=0
    )
    others: int = param(
        0, "how many passages of other lists of the batch each list gets as further negatives", minimum=0
    )
    reaches_reranker: bool = param(True, "whether the divergence trains the re-ranker too")

    def __post_init__(self) -> None:
        _needs_untied(self.init_query, self.untied)
