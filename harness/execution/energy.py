"""The energy that a machine uses, read from counters of its CPUs and memory (RAPL) and of its GPUs (NVML)."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

POWERCAP, DEVICES = Path("/sys/class/powercap"), Path("/dev")
PARTS = ("package", "dram")  # cores and graphics are part of a package; `psys` would count packages again


class Counter(NamedTuple):
    """A counter of joules. After `limit` it begins again from 0. With `limit` None, it never begins again."""

    read: Callable[[], float]
    limit: float | None = None


class Meter:
    """Adds up the joules that the machine has used since the meter was made. The time between two readings
    must be shorter than a counter takes to begin again, which is some minutes at full load."""

    def __init__(self, powercap: Path = POWERCAP, devices: Path = DEVICES) -> None:
        self._counters: list[Counter] = []
        self._before: list[float] = []
        for counter in (*_of_cpus(powercap), *_of_gpus(devices)):
            with contextlib.suppress(Exception):  # Linux shows these counters to root alone by default
                self._before.append(counter.read())
                self._counters.append(counter)
        self._joules = 0.0

    def __call__(self) -> float | None:
        """The joules so far, or None if no counter can be read."""
        for number, (counter, before) in enumerate(zip(self._counters, self._before, strict=True)):
            try:
                now = counter.read()
            except Exception:  # a counter that cannot be read any longer adds nothing more
                continue
            self._joules += now - before if now >= before else now - before + (counter.limit or before)
            self._before[number] = now
        return self._joules if self._counters else None


def _of_cpus(powercap: Path) -> Iterator[Counter]:
    """The counters of CPU packages and memory from Linux's powercap, which has them in microjoules."""
    for zone in sorted(powercap.glob("intel-rapl:*")):  # AMD's CPUs have this name too
        with contextlib.suppress(OSError, ValueError):
            if (zone / "name").read_text().startswith(PARTS):
                limit = int((zone / "max_energy_range_uj").read_text()) / 1e6
                yield Counter(functools.partial(_microjoules, zone / "energy_uj"), limit)


def _of_gpus(devices: Path) -> Iterator[Counter]:
    """The counters of the GPUs that this process may use, if the module `pynvml` is installed. NVML has them
    in millijoules."""
    if not list(devices.glob("nvidia[0-9]*")):
        return
    with contextlib.suppress(Exception):  # no module, no driver, or a GPU that has no counter
        nvml: Any = importlib.import_module("pynvml")
        nvml.nvmlInit()
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        names = map(str, range(nvml.nvmlDeviceGetCount())) if visible is None else visible.split(",")
        for name in names:
            by = nvml.nvmlDeviceGetHandleByIndex if name.strip().isdigit() else nvml.nvmlDeviceGetHandleByUUID
            handle = by(int(name) if name.strip().isdigit() else name.strip())
            yield Counter(functools.partial(_millijoules, nvml, handle))


def _microjoules(file: Path) -> float:
    return int(file.read_text()) / 1e6


def _millijoules(nvml: Any, gpu: Any) -> float:
    return float(nvml.nvmlDeviceGetTotalEnergyConsumption(gpu)) / 1e3
