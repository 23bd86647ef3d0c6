"""Context that a language model writes: a few sentences on the place of each passage in its document."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.plugin import Context, Facts, Need, hookimpl, param
from harness.toolkit.services.settings import Service, missing

EN = """<document>
{title}
{document}
</document>

Here is a passage of this document:
<passage>
{passage}
</passage>

In one or two short sentences, say what the document is about and what part this passage has in it, so that \
a search can find the passage. Answer with these sentences only."""
ZH = """<document>
{title}
{document}
</document>

下面是这篇文档中的一个段落：
<passage>
{passage}
</passage>

请用一两个简短的句子说明文档的主题以及该段落在文档中的位置和作用，以便检索到该段落。只回答这些句子。"""
PROMPTS = {"zh": ZH}  # English for all other languages


@dataclass(frozen=True)
class Situate:
    service: Service | None = param(None, "a chat model behind an address (docs/services.md)")
    model: Path | str | None = param(
        None,
        "instead of a service, a causal language model that runs here: a folder or a hub id",
    )
    revision: str = param("auto", "the branch, tag or commit of a model of the hub")
    prompt: str = param(
        "auto", "the prompt, with {document}, then {passage}, and perhaps {title}; auto: ours, zh or en"
    )
    document_length: int = param(
        6000, "the most tokens of a document in a prompt; for a service, 4 bytes count as a token", minimum=64
    )
    max_tokens: int = param(80, "the largest number of tokens of an answer", minimum=1)
    temperature: float = param(0.0, "0: the model always takes the most likely token", minimum=0)
    seed: int = param(0, "the seed of the sampling", minimum=0)
    single: bool = param(False, "whether to ask about the only passage of a document")
    device: Literal["auto", "cpu", "cuda"] = param("auto", "where a local model runs")
    dtype: Literal["auto", "fp32", "bf16", "fp16"] = param("auto", "the number format of a local model")

    def __post_init__(self) -> None:
        if (self.service is None) == (self.model is None):
            raise ValueError("expected either a 'service' or a 'model'")
        if self.prompt != "auto" and not -1 < self.prompt.find("{document}") < self.prompt.find("{passage}"):
            raise ValueError(
                "prompt: expected {document} and then {passage}, so that passages of a document share the "
                "beginning of their prompts"
            )


def resolve(params: Situate, facts: Facts) -> Situate:
    prompt = PROMPTS.get(facts.language or "", EN) if params.prompt == "auto" else params.prompt
    if params.model is None:
        return dataclasses.replace(params, prompt=prompt, revision="main")
    from harness.toolkit.neural import hardware, models

    model, revision = models.located(params.model, params.revision)
    device: Any = hardware.device(params.device)
    dtype: Any = hardware.dtype(params.dtype, device)
    return dataclasses.replace(
        params, prompt=prompt, model=model, revision=revision, device=device, dtype=dtype
    )


def missing_files(params: Situate) -> Sequence[str | Need]:
    from harness.toolkit.neural import backends, models

    if params.service is not None:
        return [*missing(params.service), *backends.absent("situate", "", "services")]

    assert params.model is not None
    if isinstance(params.model, Path) and is_packed(params.model) and not importlib.util.find_spec("gguf"):
        return [f"model {params.model} (a GGUF file is read by the package gguf: `pip install gguf`)"]
    return [
        *backends.absent("situate", "", "torch"),
        *models.missing_files(params.model, params.revision),
    ]


def is_packed(folder: Path) -> bool:
    """Whether the weights of a folder are a single GGUF file."""
    return not (folder / "config.json").exists() and len(list(folder.glob("*.gguf"))) == 1


def notes(params: Situate) -> Sequence[str]:
    from harness.toolkit.neural import models

    return [] if params.model is None else models.notes(params.model, params.revision)


def libraries(params: Situate) -> Mapping[str, Sequence[str]]:
    return {"model": ("torch", "transformers", "tokenizers") if params.model is not None else ()}


@hookimpl
def harness_contexts() -> Iterable[Context]:
    yield Context(
        name="situate",
        summary="A language model writes the place of each passage in its document, put before the passage",
        paper="https://www.anthropic.com/news/contextual-retrieval",
        build="harness_situate.augmenter:Augmenter",
        params=Situate,
        resolve=resolve,
        missing_files=missing_files,
        notes=notes,
        libraries_by_param=libraries,
        cores="all",
    )
