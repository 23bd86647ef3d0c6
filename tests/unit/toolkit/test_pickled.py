"""Torch's archives become safetensors once, bit by bit; archives that are something else are refused."""

import codecs
import io
import json
import os
import pickle
import subprocess
import sys
import time
import zipfile
from collections import OrderedDict

import pytest

from harness.errors import HarnessError
from harness.step_context import CURRENT, Converted, StepContext
from harness.store.artifacts import Store

torch = pytest.importorskip("torch")
load_file = pytest.importorskip("safetensors.torch").load_file

from harness.toolkit.neural import checkpoints, pickled, torch_archives  # noqa: E402

pytestmark = pytest.mark.extras

SHARED = torch.arange(12.0).reshape(3, 4)
TENSORS = {
    "b.weight": SHARED,
    "tied.weight": SHARED,
    "a.weight": torch.arange(6.0).reshape(2, 3).t(),  # not contiguous
    "half": torch.ones(2, 2, dtype=torch.bfloat16),
    "position_ids": torch.arange(5)[None],
    "scalar": torch.tensor(2.5),
    "empty": torch.zeros(0, 3),
    "mask": torch.tensor([True, False]),
}


@pytest.fixture
def store(tmp_path):
    """The context of a step whose store is in a folder."""
    read = set()
    (tmp_path / "digests").mkdir()
    place = Converted(tmp_path / "converted", tmp_path / "digests", read)
    token = CURRENT.set(StepContext("step", converted=place))
    yield place
    CURRENT.reset(token)


def saved(path, content=TENSORS, **how):
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(content, path, **how)
    return path


def same(found, expected=TENSORS):
    assert sorted(found) == sorted(expected)
    for name, tensor in expected.items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor)


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda tensors: tensors,
        OrderedDict,
        lambda tensors: {"state_dict": tensors, "epoch": 3},
        lambda tensors: {"model": {f"module.{name}": tensor for name, tensor in tensors.items()}},
        lambda tensors: {
            name: torch.nn.Parameter(tensor) if tensor.is_floating_point() else tensor
            for name, tensor in tensors.items()
        },
    ],
)
def test_the_tensors_of_each_form_are_read_bit_by_bit(tmp_path, store, zipped, wrap):
    path = saved(
        tmp_path / "model" / "pytorch_model.bin", wrap(TENSORS), _use_new_zipfile_serialization=zipped
    )
    same(checkpoints.weights(path.parent))
    same(load_file(pickled.safetensors_of(path)))


def test_an_archive_is_converted_once_whatever_model_has_it_and_the_step_shows_it(
    tmp_path, store, monkeypatch
):
    first = saved(tmp_path / "one" / "pytorch_model.bin")
    converted = pickled.safetensors_of(first)
    other = tmp_path / "two" / "pytorch_model.bin"
    other.parent.mkdir()
    other.write_bytes(first.read_bytes())
    monkeypatch.setattr(pickled, "tensors", lambda path: pytest.fail("converted again"))
    assert pickled.safetensors_of(other) == converted
    (line,) = store.read
    assert line.startswith("pytorch_model.bin (pickle, by torch's weights-only loader), SHA-256 ")
    monkeypatch.undo()
    converted.write_bytes(b"damaged")
    same(load_file(pickled.safetensors_of(other)))


def test_several_files_are_read_by_their_index_and_none_that_it_does_not_name(tmp_path, store):
    names = sorted(TENSORS)
    shards = {f"pytorch_model-0000{i + 1}-of-00002.bin": names[i::2] for i in range(2)}
    for file, inside in shards.items():
        saved(tmp_path / file, {name: TENSORS[name] for name in inside})
    index = {"weight_map": {name: file for file, inside in shards.items() for name in inside}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    (tmp_path / "training_args.bin").write_bytes(b"\x80\x04never read")
    same(checkpoints.weights(tmp_path))


CONVERT = """
import sys
from pathlib import Path
from harness.step_context import CURRENT, Converted, StepContext
from harness.toolkit.neural import pickled
made = pickled._made
pickled._made = lambda *paths: print("made") or made(*paths)
folder = Path(sys.argv[1])
CURRENT.set(StepContext("step", converted=Converted(folder / "converted", folder / "digests")))
pickled.safetensors_of(folder / "pytorch_model.bin")
"""


def test_several_processes_convert_an_archive_once(tmp_path):
    saved(tmp_path / "pytorch_model.bin")
    command = [sys.executable, "-c", CONVERT, str(tmp_path)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    printed = [process.communicate(timeout=100)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0]
    assert "".join(printed) == "made\n"


def test_what_is_unused_for_long_may_be_removed_and_is_made_again(tmp_path, monkeypatch):
    store = Store(tmp_path / "store").open()
    place = Converted(store.converted, store.digests.folder)
    monkeypatch.setattr(pickled, "_temporary", lambda: place)
    path = saved(tmp_path / "pytorch_model.bin")
    made = pickled.safetensors_of(path)
    assert store.leftovers(time.time() - 100) == []
    assert store.leftovers(time.time() + 100) == [made.parent]
    store.remove_leftover(made.parent)
    assert not made.exists()
    same(load_file(pickled.safetensors_of(path)))


class Runs:
    """An object that runs a command when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch {self.mark}",)


def recompressed(path):
    """The same members, compressed, beside one that unpacks to much more than the file has."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr("archive/data/99", bytes(1 << 24))


def oversized(path):
    """An archive whose directory says that a member has more bytes than the file."""
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 20 : at + 28] = (1 << 31).to_bytes(4, "little") * 2
    path.write_bytes(data)


def cut(path):
    path.write_bytes(path.read_bytes()[:-200])


def without_values(path):
    """An archive whose objects name values that are not in it."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if "/data/" not in name}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def writing(data):
    return lambda path: path.write_bytes(data)


def pickle_of(value):
    file = io.BytesIO()
    pickle.dump(value, file)
    return file.getvalue()


@pytest.mark.parametrize("zipped", [True, False])
def test_an_archive_that_would_run_code_is_refused_by_name_and_runs_nothing(tmp_path, store, zipped):
    mark = tmp_path / "mark"
    content = {**TENSORS, "more": Runs(mark)}
    saved(tmp_path / "pytorch_model.bin", content, _use_new_zipfile_serialization=zipped)
    with pytest.raises(HarnessError, match=r"pytorch_model\.bin asks for (posix|nt)\.system, .*refused"):
        checkpoints.weights(tmp_path)
    assert not mark.exists()
    assert not list(store.folder.rglob("*.safetensors"))


class Calls:
    def __init__(self, function, *arguments):
        self.made = (function, arguments)

    def __reduce__(self):
        return self.made


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (Calls(bytearray, 1 << 40), "__builtin__.bytearray"),
        (Calls(codecs.encode, codecs.encode(b"0" * 9, "hex"), "hex"), "_codecs.encode"),
        (Calls(torch.Tensor, 1 << 40), "torch.Tensor"),
    ],
)
def test_an_archive_that_would_fill_the_memory_is_refused_before_it_is_loaded(
    tmp_path, monkeypatch, zipped, call, name
):
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("loaded"))
    path = saved(tmp_path / "a.bin", {**TENSORS, "more": call}, _use_new_zipfile_serialization=zipped)
    with pytest.raises(HarnessError, match=f"asks for .*{name}.*refused"):
        pickled.tensors(path)


@pytest.mark.parametrize("protocol", [2, 4])
def test_the_globals_of_an_archive_are_named_in_every_protocol(tmp_path, protocol):
    content = {**TENSORS, "other": OrderedDict(), "call": Calls(bytearray, 3), "again": Calls(bytearray, 4)}
    path = saved(tmp_path / "a.bin", content, pickle_protocol=protocol)
    (name,) = torch_archives.strange(torch_archives.seen(path).globals)
    assert name.endswith(".bytearray")


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_torchs_advice_to_load_a_file_unsafely_is_not_passed_on(tmp_path):
    path = saved(tmp_path / "a.bin", pickle_protocol=4)
    with pytest.raises(HarnessError, match=r"cut short \(Unsupported operand 149\)"):
        pickled.tensors(path)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (recompressed, "data.pkl is compressed"),
        (oversized, "members are larger than its"),
        (cut, "damaged or cut short"),
        (without_values, "damaged or cut short"),
        (writing(b"<html>404</html>"), "not written by torch.save .*<html>"),
        (writing(b"version https://git-lfs.github.com/spec/v1\n"), "pointer of git-lfs"),
        (writing(pickle_of(Runs("/never"))), "not written by torch.save"),
        (writing(b""), "not written by torch.save"),
    ],
)
def test_a_file_that_is_no_whole_archive_of_torch_is_refused(tmp_path, store, spoil, said):
    spoil(saved(tmp_path / "pytorch_model.bin"))
    with pytest.raises(HarnessError, match=rf"model: .*pytorch_model\.bin .*{said}") as refused:
        checkpoints.weights(tmp_path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([torch.ones(2)], "a list"),
        ({}, "a dict"),
        ({"weight": torch.ones(2), "epoch": 3}, "'epoch' is a int"),
        ({"weight": torch.ones(2).to_sparse()}, "'weight' is of the type .*sparse"),
        ({"weight": torch.ones(2, dtype=torch.complex64)}, "'weight' is of the type .*complex"),
        ({"weight": torch.ones(1).expand(1 << 40)}, "would fill"),
        ({"weight": torch.ones(2, device="meta")}, "'weight' is of the type .*meta"),
    ],
)
def test_an_archive_that_is_not_tensors_by_name_is_refused(tmp_path, store, content, said):
    saved(tmp_path / "pytorch_model.bin", content)
    with pytest.raises(HarnessError, match=f"not a network's tensors by name: .*{said}"):
        checkpoints.weights(tmp_path)


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ({"weight_map": {"a": "../../x.bin"}}, "names '../../x.bin'"),
        ({"weight_map": {"a": "/etc/x.bin"}}, "names '/etc/x.bin'"),
        ({"weight_map": {"a": "x.safetensors"}}, "names 'x.safetensors', which is no .bin file"),
        ({"weight_map": {"a": 3}}, "names 3"),
        ({"weight_map": {}}, "names no file"),
        ({"weight_map": {"a": "absent.bin"}}, "lacks absent.bin"),
        ({"weight_map": []}, "cannot be read"),
        ([], "cannot be read"),
    ],
)
def test_an_index_that_lies_is_refused(tmp_path, index, said):
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    with pytest.raises(HarnessError, match=said):
        checkpoints.files(tmp_path)


def test_a_pickle_with_the_name_of_safetensors_is_refused_unread(tmp_path, store):
    (tmp_path / "model.safetensors").write_bytes(pickle_of(Runs(tmp_path / "mark")))
    for read in (checkpoints.weights, checkpoints.load):
        with pytest.raises(HarnessError, match=r"model\.safetensors is no file of safetensors"):
            read(tmp_path)
    assert not (tmp_path / "mark").exists()
