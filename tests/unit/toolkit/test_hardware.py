"""What the machine computes on, as it would be found on machines that are not here."""

import pytest

from harness.errors import HarnessError
from harness.toolkit.neural import hardware

pytestmark = pytest.mark.extras


@pytest.fixture
def cpu(tmp_path, monkeypatch):
    """Says which instruction sets the CPU has."""

    def set_flags(line):
        path = tmp_path / "cpuinfo"
        path.write_text(f"processor : 0\n{line}\n")
        monkeypatch.setattr(hardware, "CPU_INFO", path)
        hardware._cpu_flags.cache_clear()

    yield set_flags
    hardware._cpu_flags.cache_clear()


@pytest.fixture
def gpus(tmp_path, monkeypatch):
    """Says how many GPUs there are."""

    def set_count(count, visible=None, torch="2.13.0"):
        for number in range(count):
            (tmp_path / f"nvidia{number}").touch()
        (tmp_path / "nvidiactl").touch()
        monkeypatch.setattr(hardware, "DEVICES_FOLDER", tmp_path)
        monkeypatch.setattr(hardware.importlib.metadata, "version", lambda name: torch)
        if visible is None:
            monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        else:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    return set_count


@pytest.mark.parametrize("line", ["flags\t\t: fpu avx512_bf16", "flags : amx_bf16", "Features : asimd bf16"])
def test_a_cpu_that_multiplies_bf16_computes_in_it(cpu, line):
    cpu(line)
    assert hardware.dtype("auto", "cpu") == "bf16"


def test_a_cpu_without_bf16_computes_in_fp32(cpu):
    cpu("flags : fpu avx2 avx512f")
    assert hardware.dtype("auto", "cpu") == "fp32"


def test_a_machine_that_does_not_tell_computes_in_fp32(monkeypatch, tmp_path, cpu):
    cpu("")
    monkeypatch.setattr(hardware, "CPU_INFO", tmp_path / "absent")
    hardware._cpu_flags.cache_clear()
    assert hardware.dtype() == "fp32"


def test_what_is_asked_for_is_taken(cpu):
    cpu("flags : fpu")
    assert hardware.dtype("bf16", "cpu") == "bf16"
    assert hardware.dtype("fp16", "cuda") == "fp16"


def test_fp16_on_a_cpu_is_refused():
    with pytest.raises(HarnessError, match="choose bf16 or fp32"):
        hardware.dtype("fp16", "cpu")


@pytest.mark.parametrize(
    ("count", "visible", "found"), [(2, None, 2), (2, "1", 1), (2, "", 0), (2, "0,-1,1", 1), (0, "0", 0)]
)
def test_gpus_are_those_that_cuda_would_show(gpus, count, visible, found):
    gpus(count, visible)
    assert hardware.gpus() == found
    assert hardware.device("auto") == ("cuda" if found else "cpu")


def test_a_gpu_is_of_no_use_to_a_torch_built_without_cuda(gpus):
    gpus(1, torch="2.13.0+cpu")
    assert hardware.device("auto") == "cpu"
    with pytest.raises(HarnessError, match="no GPU that the installed torch can use; choose auto or cpu"):
        hardware.device("cuda")


def test_unknown_names_are_refused():
    with pytest.raises(HarnessError, match=r"device: .*'tpu'"):
        hardware.device("tpu")
    with pytest.raises(HarnessError, match=r"dtype: .*'int4'"):
        hardware.dtype("int4")
