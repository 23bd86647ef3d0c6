"""What a record must say about its method, and that listing it imports nothing heavy."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

from harness import catalogue
from harness.catalogue import params
from harness.testing.subject import Broken, Subject, able, require, resolved
from harness.types import Form, Unit

HEAVY = ("numpy", "pyarrow", "numba", "torch", "transformers", "pandas", "scipy", "ir_measures", "jnius")

# Loads one plugin as `harness list` does and prints which heavy modules were imported. It does not import
# harness.testing, which needs numpy.
LOOK = """
import json, sys
job = json.load(sys.stdin)
sys.path[:] = job["path"]
from harness import catalogue, hookspecs
from harness.catalogue import entry_points
points = [point for point in entry_points.find(hookspecs.PROJECT) if point.name == job["plugin"]]
plugins = catalogue.collect([point for point in points if point.module == job["module"]])
records = [entry.record for entry in plugins.entries[job["kind"]].get(job["name"], ())]
print(json.dumps({"records": len(records), "heavy": [name for name in job["heavy"] if name in sys.modules]}))
"""


def describes_itself(subject: Subject, _: Path) -> None:
    record = subject.record
    require(isinstance(record, catalogue.KINDS[f"{subject.kind}s"]), f"its record is not a {subject.kind}'s")
    require(_is_text(record.name), "its name must be a text without white space")
    require(not any(letter.isspace() for letter in record.name), "its name has white space in it")
    require(_is_text(record.summary), "its record has no summary")
    require("\n" not in record.summary, "its summary is longer than one line")
    require(_is_text(record.version), "its version must be a text, and not empty")
    for field in ("needs", "libraries"):
        value = getattr(record, field)
        good = isinstance(value, tuple) and all(_is_text(name) for name in value)
        require(good, f"`{field}` of its record must be a tuple of names, and is {value!r}")
    require(record.extra is None or _is_text(record.extra), "the extra of its record has no name")
    if subject.kind == "retriever":
        forms = record.queries
        require(forms and set(forms) <= set(get_args(Form)), f"it takes queries of the forms {forms!r}")
        units = record.units
        require(units and set(units) <= set(get_args(Unit)), f"its units are {units!r}")
    if subject.kind == "rewriter":
        require(record.gives in get_args(Form), f"it gives {record.gives!r}, which is no form of a query")
    if subject.kind == "combiner":
        least, most = record.inputs
        require(least >= 1 and (most is None or most >= least), f"it takes {record.inputs!r} inputs")


def describes_its_parameters(subject: Subject, _: Path) -> None:
    kind = subject.record.params
    require(dataclasses.is_dataclass(kind), "its parameter type is not a dataclass")
    require(kind.__dataclass_params__.frozen, "its parameter type is not frozen")
    for name, (field, _hint) in params.fields_of(kind).items():
        require(field.metadata.get("help"), f"its parameter '{name}' has no help")
        require("\n" not in field.metadata["help"], f"the help of '{name}' is longer than one line")
    names = set(params.fields_of(kind))
    unknown = sorted(set(getattr(subject.record, "search_only", ())) - names)
    require(not unknown, f"`search_only` names unknown parameters: {', '.join(unknown)}")


def refuses_unknown_parameters(subject: Subject, _: Path) -> None:
    _value, problems = params.convert(subject.record.params, {**subject.given, "no_such_key": 1}, Path())
    require(problems, "it takes a parameter that it does not have, 'no_such_key'")


def resolves_its_parameters_once(subject: Subject, _: Path) -> None:
    for language in ("en", "zh"):
        with able(f"resolve its parameters for the language '{language}'"):
            once = resolved(subject, language)
        require(type(once) is subject.record.params, "`resolve` returns something other than its parameters")
        twice = resolved(subject._replace(params=once), language)
        require(once == twice, "resolving its parameters again changes them")


def imports_nothing_heavy_to_be_listed(subject: Subject, _: Path) -> None:
    """`harness list` loads every plugin and calls every hook, so heavy imports belong in `build`."""
    plugin = subject.plugin
    if plugin is None:
        return
    job = {
        "plugin": plugin.name,
        "module": plugin.module,
        "kind": f"{subject.kind}s",
        "name": subject.record.name,
        "heavy": HEAVY,
    }
    answer = json.loads(run(LOOK, job))
    require(answer["records"] == 1, f"another process finds {answer['records']} records of its name")
    heavy = answer["heavy"]
    require(
        not heavy, f"listing it imports {', '.join(heavy)}; import them in the module that `build` imports"
    )


def run(program: str, job: dict[str, Any], expect: int = 0, hash_seed: str | None = None) -> str:
    """Runs a Python program in another process, with `job` on its standard input, and returns the last line
    of its output. The program must exit with `expect`."""
    environment = dict(os.environ) | ({"PYTHONHASHSEED": hash_seed} if hash_seed else {})
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps({**job, "path": sys.path}),
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode != expect:
        reason = (done.stderr.strip() or "no message").splitlines()[-1]
        raise Broken(f"in another process it exits with {done.returncode}, not {expect}: {reason}")
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


CHECKS = (
    describes_itself,
    describes_its_parameters,
    refuses_unknown_parameters,
    resolves_its_parameters_once,
)
CHECKS_IN_A_CHILD = (imports_nothing_heavy_to_be_listed,)
