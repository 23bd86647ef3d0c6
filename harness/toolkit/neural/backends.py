"""Decides, while planning, the backend, device and number format of a neural method."""

from __future__ import annotations

import importlib.util

from harness.errors import HarnessError
from harness.problems import Need
from harness.toolkit.neural import hardware

MODULES = {
    "torch": ("torch", "transformers", "safetensors"),
    "openvino": ("openvino", "torch", "transformers"),
    "onnx": ("onnxruntime",),
    "numpy": ("safetensors",),
    "faiss": ("faiss",),
    "services": ("httpx",),
}
_EXTRAS = {
    "torch": "dense",
    "openvino": "dense,openvino",
    "onnx": "onnx",
    "numpy": "static",
    "faiss": "faiss",
    "services": "services",
}


def backend(setting: str, exported: bool, weights: bool, static: bool = False) -> str:
    """The backend that was asked for. For `auto`: torch, or ONNX Runtime if the model's folder has nothing
    but an exported model, or numpy for static embeddings."""
    if setting == "auto":
        return "numpy" if static else "onnx" if exported and not weights else "torch"
    return setting


def device(setting: str, backend: str) -> str:
    if backend == "torch":
        return hardware.device(setting)
    if setting == "cuda":
        raise HarnessError(f"device: the backend {backend} runs on the CPU; choose backend: torch")
    return "cpu"


def dtype(setting: str, device: str, backend: str) -> str:
    if backend == "onnx" and setting not in ("auto", "stored"):
        raise HarnessError(
            f"dtype: an ONNX file computes in what it was exported in, not in {setting}; leave it out"
        )
    if backend != "onnx" and setting == "stored":
        raise HarnessError(f"dtype: stored is for ONNX files; {backend} computes in fp32, bf16 or fp16")
    if backend == "numpy":
        if setting not in ("auto", "fp32"):
            raise HarnessError(f"dtype: numpy computes in fp32, not in {setting}; leave it out")
        return "fp32"
    return "stored" if backend == "onnx" else hardware.dtype(setting, device)


def absent(method: str, when: str, what: str) -> list[Need]:
    """The need for the modules of `what` (a backend, `faiss` or `services`) that are not installed; empty if
    all are. `when` says when the method needs the modules."""
    missing = [name for name in MODULES.get(what, ()) if importlib.util.find_spec(name) is None]
    if not missing:
        return []
    command = f"pip install 'passage-harness[{_EXTRAS[what]}]'"
    return [Need("modules", when, method, tuple(missing), command)]
