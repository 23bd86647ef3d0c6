"""An index is read whole, in the format that its reader knows, or refused by the name of what is wrong."""

import json
import re

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.toolkit.index import files

FORMAT = files.Format("some-index", 3)


@pytest.fixture
def index(tmp_path):
    """A finished index of three files."""
    np.save(tmp_path / "numbers.npy", np.arange(100))
    np.save(tmp_path / "nothing.npy", np.empty(0, np.int32))
    np.arange(6, dtype=np.float32).tofile(tmp_path / "vectors.bin")
    files.finish(tmp_path, FORMAT, ["numbers.npy", "nothing.npy", "vectors.bin"], {"dimension": 2})
    return tmp_path


def refusal(folder):
    with pytest.raises(HarnessError) as error:
        files.read_facts(folder, FORMAT)
    return str(error.value)


def test_a_finished_index_gives_its_facts_and_arrays_that_nobody_can_write_to(index):
    assert files.read_facts(index, FORMAT) == {"dimension": 2}
    arrays = [files.array(index / "numbers.npy"), files.array(index / "nothing.npy")]
    arrays.append(files.raw(index / "vectors.bin", np.dtype(np.float32), (3, 2)))
    assert [array.shape for array in arrays] == [(100,), (0,), (3, 2)]
    assert {type(array) for array in arrays} == {np.ndarray}
    assert not any(array.flags.writeable for array in arrays)


def test_a_file_cut_short_or_missing_is_named(index):
    path = index / "vectors.bin"
    path.write_bytes(path.read_bytes()[:-2])
    assert re.match(f"{path}: .* 22 bytes where 24 ", refusal(index))
    path.unlink()
    assert re.match(f"{path}: .*missing", refusal(index))


def test_a_file_of_something_else_is_named(index):
    (index / "numbers.npy").write_bytes(b"x" * 928)
    files.read_facts(index, FORMAT)
    with pytest.raises(HarnessError, match=r"numbers\.npy: .*damaged"):
        files.array(index / "numbers.npy")


def test_numbers_of_another_count_than_expected_are_refused(index):
    with pytest.raises(HarnessError, match=r"vectors\.bin: .*damaged"):
        files.raw(index / "vectors.bin", np.dtype(np.float32), (4, 2))


@pytest.mark.parametrize("text", ['{"format": "another-index"}', "[]", "{", '{"format": "some-index"}'])
def test_a_foreign_header_is_refused(index, text):
    (index / files.HEADER).write_text(text)
    assert "no index of some-index" in refusal(index)


def test_another_version_and_an_index_that_was_begun_again_are_refused(index):
    path = index / files.HEADER
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 2}))
    assert "format 2, not 3" in refusal(index)
    files.begin(index)
    assert "no finished index" in refusal(index)
