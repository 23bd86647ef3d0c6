"""CI runs a part of the suite with every extra and the real data: no test that needs them may lack its marker."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def files_with(pattern: str) -> list[Path]:
    return [path for path in sorted(TESTS.rglob("test_*.py")) if re.search(pattern, path.read_text("utf-8"))]


@pytest.mark.parametrize(
    ("sign", "marker"),
    [
        pytest.param(
            r"importorskip\(|util\.find_spec\(|import (?:slow|tiny)_", r"mark\.(?:extras|real)", id="extras"
        ),
        pytest.param(r"environ\b[^\n]*HARNESS_REAL_", r"mark\.real", id="real"),
    ],
)
def test_a_file_that_may_skip_its_tests_marks_them_for_ci(sign, marker):
    others = {Path(__file__), *files_with(marker)}
    unmarked = [path.relative_to(TESTS).as_posix() for path in files_with(sign) if path not in others]
    assert unmarked == []


def test_no_two_files_of_tests_have_the_same_name():  # else pytest takes one for the other and stops
    names = [path.name for path in TESTS.rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


OPTIONAL = set(
    "torch transformers tokenizers safetensors sentencepiece huggingface_hub faiss ir_datasets jieba pyserini jnius "
    "onnxruntime openvino altair vl_convert spacy xrenner selenium statsmodels sentence_transformers pandas".split()
)


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: path.stem)
def test_a_file_of_tests_can_be_imported_without_the_extras(path):
    modules = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            modules |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").partition(".")[0])
    assert modules & OPTIONAL == set()
