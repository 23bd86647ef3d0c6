"""The two heads of BGE-M3 that lie beside its network (Chen et al. 2024): term weights and token vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from harness.errors import HarnessError

if TYPE_CHECKING:
    import torch

Head: TypeAlias = Literal["sparse_linear", "colbert_linear"]
QUERY_LENGTH, PASSAGE_LENGTH = 512, 8192  # the authors' code; their model card
DIMENSION = 1024  # of a token's vector


def has(folder: Path, head: Head) -> bool:
    """Whether the folder has this head, in safetensors or as the authors' pickle."""
    return any((folder / f"{head}{end}").is_file() for end in (".safetensors", ".pt"))


def read(folder: Path, head: Head, inputs: int) -> torch.nn.Linear:
    """The head as a layer for states of `inputs` numbers, in fp32."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = _readable(folder, head)
    try:
        tensors: dict[str, Any] = load_file(path)
    except (SafetensorError, OSError) as error:
        raise HarnessError(f"model: {path} cannot be read ({error}); fetch it again") from error
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    outputs, width = (*shapes.get("weight", ()), 0, 0)[:2]
    if width != inputs or shapes != {"weight": (outputs, inputs), "bias": (outputs,)}:
        raise HarnessError(
            f"model: {path} has {shapes}, not the weight and bias of a layer for {inputs} numbers; take head "
            "and network from the same model"
        )
    layer = torch.nn.Linear(inputs, outputs)
    layer.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    return layer.requires_grad_(False)


def _readable(folder: Path, head: Head) -> Path:
    """The head in safetensors. The authors' pickle is turned into such a file, which lies in the store."""
    from harness.toolkit.neural import pickled

    path = folder / f"{head}.safetensors"
    return path if path.is_file() else pickled.safetensors_of(folder / f"{head}.pt")
