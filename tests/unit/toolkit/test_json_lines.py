"""JSON lines: one object a line, in UTF-8 throughout, whichever keys are read."""

from pathlib import Path

import msgspec
import pytest

from harness.errors import HarnessError
from harness.toolkit.files.json_lines import Keys, Records


class Row(msgspec.Struct):
    id: str


def read(path: Path, data: bytes) -> list[str]:
    file = path / "rows.jsonl"
    file.write_bytes(data)
    return [row.id for rows in Records(file, (Row,), Keys(("id",), {"id": ("str",)})) for row in rows]


@pytest.mark.parametrize(
    "data",
    [
        b'{"id": "a"}\n{"id": "b"}\n',
        b'{"id": "a"}\r\n{"id": "b"}\r\n',
        b'\n{"id": "a"}\n\n {"id": "b"} \n',
        b'\xef\xbb\xbf{"id": "a"}\n{"id": "b"}',
    ],
)
def test_one_object_a_line_is_read_with_any_line_ends_and_blank_lines(tmp_path, data):
    assert read(tmp_path, data) == ["a", "b"]


def test_a_file_of_a_byte_order_mark_alone_holds_no_object(tmp_path):
    assert read(tmp_path, b"\xef\xbb\xbf") == []


@pytest.mark.parametrize(
    "data",
    [
        b'{"id": "a"} {"id": "b"}\n\n',
        b'{"id":\n"a"} {"id": "b"}\n',
        b'{"id": "a"}{"id": "b"}\n{"id": "c",\n"x": 1}\n',
    ],
)
def test_two_objects_on_a_line_are_refused_though_there_are_as_many_as_lines(tmp_path, data):
    with pytest.raises(HarnessError, match=r"rows\.jsonl:1: .*JSON"):
        read(tmp_path, data)


def test_a_key_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    with pytest.raises(HarnessError, match=r"rows\.jsonl:2: byte 14 "):
        read(tmp_path, b'{"id": "a"}\n{"id": "b", "\xff": 1}\n')
