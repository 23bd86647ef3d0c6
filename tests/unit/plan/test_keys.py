"""A key changes with whatever can change a number, and with nothing else."""

from dataclasses import dataclass
from pathlib import Path

from harness.catalogue import Entry, Plugin
from harness.plan import keys, methods
from harness.records import Record, param
from harness.steps import record
from harness.store import disk


@dataclass(frozen=True)
class Params:
    rate: float = param(1.0, "a rate")
    model: Path | None = None
    lists: tuple[int, ...] = ()


def described(values, *, version="1", leave_out=(), **more):
    made = Record(name="m", summary="s", build=print, params=Params, version=version, **more)
    entry = Entry(made, Plugin("p", "harness_titles", "passage-harness", "0", None))
    uses = methods.uses(entry, values, digest, leave_out)
    return keys.key(record.keyed(uses))


def digest(path: Path) -> str:
    return disk.sha256(path)


def test_parameters_version_and_libraries_are_in_a_key():
    base = described(Params())
    assert described(Params()) == base
    others = [described(Params(2.0)), described(Params(lists=(1,))), described(Params(), version="2")]
    others.append(described(Params(), libraries=("numpy",)))
    assert len({base, *others}) == 5


def test_a_parameter_that_is_left_out_is_not():
    assert described(Params(1.0), leave_out=("rate",)) == described(Params(2.0), leave_out=("rate",))


def test_a_library_counts_where_a_parameter_that_counts_brings_it_into_play():
    def libraries_by_param(values):
        return {"rate": ("numpy",)} if values.rate > 1 else {}

    assert described(Params(1.0), libraries_by_param=libraries_by_param) == described(Params(1.0))
    assert described(Params(2.0), libraries_by_param=libraries_by_param) == described(
        Params(2.0), libraries=("numpy",)
    )
    assert described(Params(2.0), libraries_by_param=libraries_by_param, leave_out=("rate",)) == described(
        Params(1.0), leave_out=("rate",)
    )


def test_a_path_counts_by_its_contents_not_its_name(tmp_path):
    for name, text in (("a", "x"), ("b", "x"), ("c", "y")):
        (tmp_path / name).write_text(text)
    a, b, c = (described(Params(model=tmp_path / name)) for name in "abc")
    assert a == b != c


def test_the_order_of_a_mapping_does_not_count():
    assert keys.key({"a": 1, "b": 2}) == keys.key({"b": 2, "a": 1})
