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


def shape(folder: Path, head: Head) -> tuple[int, ...]:
    """The outputs and inputs of the head, from the file's header."""
    from safetensors import SafetensorError, safe_open

    path = _readable(folder, head)
    try:
        with safe_open(path, "np") as file:
            return tuple(file.get_slice("weight").get_shape())
    except (SafetensorError, OSError) as error:
        raise HarnessError(f"model: {path} cannot be read ({error}); convert it again") from error


def read(folder: Path, head: Head, inputs: int) -> torch.nn.Linear:
    """The head as a layer for states of `inputs` numbers, in fp32."""
    import torch
    from safetensors.torch import load_file

    outputs, width = (*shape(folder, head), 0, 0)[:2]
    path = _readable(folder, head)
    tensors: dict[str, Any] = load_file(path)
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if width != inputs or shapes != {"weight": (outputs, inputs), "bias": (outputs,)}:
        raise HarnessError(
            f"model: {path} has {shapes}, not the weight and bias of a layer for {inputs} numbers; take head "
            "and network from the same model"
        )
    layer = torch.nn.Linear(inputs, outputs)
    layer.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    return layer.requires_grad_(False)


def _readable(folder: Path, head: Head) -> Path:
    path = folder / f"{head}.safetensors"
    if not path.is_file():
        raise HarnessError(
            f"model: {folder} has this head only as {head}.pt, a format that can run code when it is read; "
            'convert it where you trust its source: `python -c "import torch, safetensors.torch as s; '
            f"s.save_file(torch.load('{head}.pt', weights_only=True), '{head}.safetensors')\"`"
        )
    return path
