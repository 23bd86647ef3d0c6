"""The counters of energy: which are read, that they may begin again, and that a machine may have none."""

import sys
import types
from pathlib import Path

import pytest

from harness.execution.energy import Meter
from harness.execution.executors import with_parts
from harness.store.manifest import Artifact


def zone(folder: Path, name: str, says: str, microjoules: int) -> Path:
    at = folder / name
    at.mkdir()
    (at / "name").write_text(f"{says}\n")
    (at / "max_energy_range_uj").write_text("10000000\n")
    (at / "energy_uj").write_text(f"{microjoules}\n")
    return at / "energy_uj"


def test_packages_and_memory_count_and_their_parts_do_not(tmp_path):
    counters = [
        zone(tmp_path, "intel-rapl:0", "package-0", 1_000_000),
        zone(tmp_path, "intel-rapl:0:0", "core", 0),
        zone(tmp_path, "intel-rapl:0:1", "dram", 500_000),
        zone(tmp_path, "intel-rapl:1", "psys", 0),
        zone(tmp_path, "intel-rapl-mmio:0", "package-0", 0),
    ]
    meter = Meter(tmp_path, tmp_path)
    assert meter() == 0.0
    for counter in counters:
        counter.write_text(f"{int(counter.read_text()) + 2_000_000}\n")
    assert meter() == pytest.approx(4.0)


def test_a_counter_that_begins_again_goes_on(tmp_path):
    counter = zone(tmp_path, "intel-rapl:0", "package-0", 9_000_000)
    meter = Meter(tmp_path, tmp_path)
    for microjoules in (1_000_000, 9_000_000, 500_000):  # 2 J, 8 J and 1.5 J later
        counter.write_text(f"{microjoules}\n")
        joules = meter()
    assert joules == pytest.approx(11.5)


def test_a_machine_without_counters_or_without_leave_to_read_them_tells_nothing(tmp_path):
    assert Meter(tmp_path / "absent", tmp_path)() is None
    zone(tmp_path, "intel-rapl:0", "package-0", 0).unlink()
    assert Meter(tmp_path, tmp_path)() is None


def test_the_gpus_that_a_process_may_use_are_counted(tmp_path, monkeypatch):
    millijoules = {"0": 5000, "1": 7000, "GPU-a": 9000}
    nvml = types.ModuleType("pynvml")
    nvml.nvmlInit = lambda: None
    nvml.nvmlDeviceGetCount = lambda: 2
    nvml.nvmlDeviceGetHandleByIndex = str
    nvml.nvmlDeviceGetHandleByUUID = str
    nvml.nvmlDeviceGetTotalEnergyConsumption = millijoules.__getitem__
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert Meter(tmp_path, tmp_path)() is None  # no GPU
    (tmp_path / "nvidia0").touch()
    everything = Meter(tmp_path, tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1, GPU-a")
    two = Meter(tmp_path, tmp_path)
    for name in millijoules:
        millijoules[name] += 1000
    assert everything() == pytest.approx(2.0)
    assert two() == pytest.approx(2.0)
    millijoules.pop("1")  # a GPU that fails adds nothing more
    assert two() == pytest.approx(2.0)


def test_the_energy_of_a_cut_step_is_known_only_if_it_is_known_of_every_part():
    def part(**cost: float) -> Artifact:
        return Artifact("part", Path(), {}, {}, {"seconds": 1.0, "peak_mb": 5.0, **cost}, {})

    join = {"seconds": 1.0, "peak_mb": 1.0, "energy_joules": 5.0}
    measured, unknown = part(energy_joules=100.0), part()
    assert with_parts(join, [measured, measured])["energy_joules"] == 205.0
    assert with_parts(join, [measured, unknown]) == {"seconds": 3.0, "peak_mb": 5.0}
    assert "energy_joules" not in with_parts({"seconds": 1.0, "peak_mb": 1.0}, [measured])
