"""What a neural method runs on, decided while planning: its backend, device and number format."""

from __future__ import annotations

import importlib.util

from harness.errors import HarnessError
from harness.problems import Need
from harness.toolkit.neural import hardware

MODULES = {
    "torch": ("torch", "transformers", "safetensors"),
    "openvino": ("openvino", "torch", "transformers"),
    "onnx": ("onnxruntime",),
    "faiss": ("faiss",),
}
EXTRAS = {"torch": "dense", "openvino": "dense,openvino", "onnx": "onnx", "faiss": "faiss"}


def backend(asked: str, exported: bool, weights: bool) -> str:
    """As asked, or for `auto` torch, but ONNX Runtime where a folder has nothing else."""
    if asked == "auto":
        return "onnx" if exported and not weights else "torch"
    return asked


def device(asked: str, backend: str) -> str:
    if backend == "torch":
        return hardware.device(asked)
    if asked == "cuda":
        raise HarnessError(f"device: the backend {backend} runs on the CPU; choose backend: torch")
    return "cpu"


def dtype(asked: str, device: str, backend: str) -> str:
    if backend == "onnx" and asked not in ("auto", "stored"):
        raise HarnessError(
            f"dtype: an ONNX file computes in what it was exported in, not in {asked}; leave it out"
        )
    if backend != "onnx" and asked == "stored":
        raise HarnessError(f"dtype: stored is for ONNX files; {backend} computes in fp32, bf16 or fp16")
    return "stored" if backend == "onnx" else hardware.dtype(asked, device)


def absent(method: str, when: str, what: str) -> list[Need]:
    """The need for the modules of a backend, or of a search, that are not installed; none if all are.
    `when` says when the method needs them."""
    missing = [name for name in MODULES.get(what, ()) if importlib.util.find_spec(name) is None]
    if not missing:
        return []
    command = f"pip install 'passage-harness[{EXTRAS[what]}]'"
    return [Need("modules", when, method, tuple(missing), command)]
