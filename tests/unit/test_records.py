"""The field `build` of a record: a function, or the name of what is imported when it is called."""

import dataclasses
import sys

import pytest

from harness import records
from harness.records import Measure, Retriever


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "built_when_called.py").write_text(
        "class Lexical:\n    def __init__(self, params): self.params = params\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "built_when_called"
    sys.modules.pop("built_when_called", None)


def test_a_name_is_imported_when_the_method_is_built_and_not_before(module):
    record = Retriever(name="lexical", summary="x", build=f"{module}:Lexical")
    assert module not in sys.modules
    assert record.build("given").params == "given"
    assert dataclasses.replace(record, version="2").build("given").params == "given"


def test_a_function_stays_as_it_is():
    assert Retriever(name="x", summary="x", build=dict).build is dict


def test_a_measure_names_its_kernel(module):
    assert Measure(name="X", summary="x", build=f"{module}:Lexical").build() is sys.modules[module].Lexical


@pytest.mark.parametrize(
    "text", ["", "package.module", "package.module:", ":Name", ".module:Name", "a-b:C", "a:b.c", "a:b "]
)
def test_another_form_is_refused(text):
    with pytest.raises(ValueError, match=r"build: expected a function or 'package.module:Name', got "):
        Retriever(name="x", summary="x", build=text)


def test_a_record_without_build_is_refused():
    with pytest.raises(TypeError, match="build"):
        Retriever(name="x", summary="x")


def test_building_still_works_and_names_the_new_form(module):
    with pytest.warns(DeprecationWarning, match='write build="package.MODULE:NAME"'):
        build = records.building("package")
    assert build("module", "Name") == "package.module:Name"
