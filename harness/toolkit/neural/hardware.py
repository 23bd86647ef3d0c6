"""Finds the device, number format and threads that this machine computes with, without importing torch."""

from __future__ import annotations

import functools
import importlib.metadata
import os
from pathlib import Path

from harness.errors import HarnessError

_DEVICES, DTYPES = ("auto", "cpu", "cuda"), ("auto", "fp32", "bf16", "fp16")
CPU_INFO, DEVICES_FOLDER = Path("/proc/cpuinfo"), Path("/dev")
# the CPU flags for multiplying bf16: two of x86, and one that covers both instruction sets of ARM
_NATIVE_BF16 = {"avx512_bf16", "amx_bf16", "bf16"}


def device(setting: str = "auto") -> str:
    """`cpu` or `cuda`: the device asked for. For `auto`: cuda if there is a GPU that the installed torch can
    use."""
    if setting not in _DEVICES:
        raise HarnessError(f"device: expected one of {', '.join(_DEVICES)}, got '{setting}'")
    if setting == "auto":
        return "cuda" if gpus() else "cpu"
    if setting == "cuda" and not gpus():
        raise HarnessError(
            "device: 'cuda' was asked for and there is no GPU that the installed torch can use; "
            "choose auto or cpu"
        )
    return setting


def gpus() -> int:
    """How many GPUs torch may use."""
    devices = list(DEVICES_FOLDER.glob("nvidia[0-9]*"))
    if not devices or not _torch_knows_cuda():
        return 0
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return len(devices)
    names = [name.strip() for name in visible.split(",")]
    # CUDA ignores all names after the first invalid one
    return next((at for at, name in enumerate(names) if name in ("", "-1")), len(names))


def dtype(setting: str = "auto", device: str = "cpu") -> str:
    """The number format that a model computes in: the one asked for. For `auto`: bf16 if the device
    multiplies bf16 natively, otherwise fp32."""
    if setting not in DTYPES:
        raise HarnessError(f"dtype: expected one of {', '.join(DTYPES)}, got '{setting}'")
    if setting == "fp16" and device == "cpu":
        raise HarnessError("dtype: fp16 needs a GPU; choose bf16 or fp32")
    if setting != "auto":
        return setting
    return "bf16" if device == "cuda" or _cpu_flags() & _NATIVE_BF16 else "fp32"


def threads() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _cpu_flags() -> frozenset[str]:
    """The instruction sets of the CPU; empty if the system does not list them."""
    try:
        lines = CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return frozenset(flags.partition(":")[2].split())


def _torch_knows_cuda() -> bool:
    try:
        return not importlib.metadata.version("torch").endswith("+cpu")
    except importlib.metadata.PackageNotFoundError:
        return False
