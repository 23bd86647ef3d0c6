"""Plugins' code is compiled once for each content of its file."""

import os
import subprocess
import sys

IMPORT = """
import sys
from harness.catalogue import code_by_content

compiled = []
code_by_content._Loader.source_to_code = lambda self, data, path: (
    compiled.append(path) or compile(data, path, "exec", dont_inherit=True)
)
code_by_content.install(["edited"])
import edited

print(edited.VALUE, len(compiled))
"""


def imported(folder):
    env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": ""}
    ran = subprocess.run([sys.executable, "-c", IMPORT], env=env, capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_a_module_is_compiled_again_only_when_its_content_changes(tmp_path):
    module = tmp_path / "edited.py"
    results = []
    for value in "112":
        module.write_text(f"VALUE = {value}\n")
        os.utime(module, (1_700_000_000, 1_700_000_000))
        results.append(imported(tmp_path))
    assert results == [["1", "1"], ["1", "0"], ["2", "1"]]
