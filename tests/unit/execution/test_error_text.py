"""What a row says of an exception of a plugin: also the line that its author has to look at."""

import linecache
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.execution.error_text import error_text

PLUGIN = """
import json

def search(query):
    return parsed(query)

def parsed(query):
    return json.loads(query)
"""


def raised(source: str, filename: str, name: str = "search") -> str:
    names: dict[str, Callable[[str], object]] = {}
    exec(compile(source, filename, "exec"), names)
    with pytest.raises(ValueError, match="Expecting value") as info:
        names[name]("x")
    assert info.value.__traceback__ is not None
    return error_text(info.value.with_traceback(info.value.__traceback__.tb_next))


def test_the_place_is_the_innermost_line_of_the_plugin(tmp_path: Path) -> None:
    message = "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    package = tmp_path / "harness_mine"
    assert raised(PLUGIN, str(package / "method.py")) == f"{message} (harness_mine/method.py:8)"
    installed = tmp_path / "site-packages" / "harness_mine" / "method.py"
    assert raised(PLUGIN, str(installed)) == f"{message} (harness_mine/method.py:8)"


def test_a_function_without_a_file_is_named_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert raised(PLUGIN, "<a suite>").endswith(" (in parsed)")
    lines = PLUGIN.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "<a suite>", (len(PLUGIN), None, lines, "<a suite>"))
    assert raised(PLUGIN, "<a suite>").endswith(" (in parsed: return json.loads(query))")


def test_an_exception_of_the_harness_alone_has_no_place() -> None:
    assert error_text(KeyboardInterrupt()) == "KeyboardInterrupt"
