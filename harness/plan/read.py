"""Plans the steps that make a dataset columnar."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG

from harness.catalogue import params
from harness.plan import keys
from harness.plan.graph import Graph, Parts
from harness.plan.keys import Digest
from harness.problems import Need, exists, missing_path
from harness.steps.read import Limits, ReadCorpus, ReadJudgements, ReadQueries
from harness.steps.record import Method
from harness.suite import DatasetSpec
from harness.types import JSON, PARTS, Inputs, Part


def steps(
    graph: Graph, spec: DatasetSpec, method: Method, inputs: Mapping[Part, Inputs], digest: Digest
) -> Parts:
    """The steps of the parts. `inputs` say what each part is made of."""
    of_part = limited_inputs(inputs, spec)

    def reads(part: Part) -> dict[str, JSON]:
        made_of = of_part[part]
        return {
            "method": method,
            "reads": params.plain(made_of.params),
            "files": tuple(keys.addressed(path, digest) for path in made_of.files),
            "limits": limits_of(spec, part),
        }

    def needs(part: Part) -> list[Need]:
        return missing_files(of_part[part])

    size = sum(file_bytes(path) for path in of_part["corpus"].files)
    corpus, queries, judgements = (reads(part) for part in PARTS)
    return Parts(
        graph.add(ReadCorpus(**corpus, file_bytes=size), spec.name, "", needs("corpus")),
        graph.add(ReadQueries(**queries), spec.name, "", needs("queries")),
        graph.add(ReadJudgements(**judgements), spec.name, "", needs("judgements")),
    )


def missing_files(inputs: Inputs) -> list[Need]:
    return [missing_path(path) for path in inputs.files if not exists(path)]


def file_bytes(path: Path) -> int:
    """The size of a file, or of all files in a folder. 0 if they cannot be read."""
    try:
        stats = [file.stat() for file in (path.rglob("*") if path.is_dir() else (path,))]
    except OSError:
        return 0
    return sum(stat.st_size for stat in stats if S_ISREG(stat.st_mode))


def limits_of(spec: DatasetSpec, part: Part) -> Limits | None:
    """The limits of a trial that change a part of its dataset. A limit of queries changes the corpus only
    with a sample, because the queries decide which passages must be in the sample."""
    if not spec.limits or (part == "corpus" and spec.sample is None):
        return None
    if part == "corpus":
        return Limits(spec.limit, spec.sample)
    return None if spec.limit is None else Limits(spec.limit)


def limited_inputs(inputs: Mapping[Part, Inputs], spec: DatasetSpec) -> dict[Part, Inputs]:
    """The inputs of each part of a limited dataset. The queries that are kept depend on the judgements, and
    the passages of a sample on the queries and judgements, so these parts have further inputs."""
    needed: dict[Part, tuple[Part, ...]] = {}
    if spec.limit is not None:
        needed |= {"queries": ("judgements",), "judgements": ("queries",)}
    if spec.sample is not None:
        needed["corpus"] = ("queries", "judgements")
    joined = {}
    for part, of_part in inputs.items():
        others = [inputs[name] for name in needed.get(part, ())]
        further = {f"of {name}": inputs[name].params for name in needed.get(part, ())}
        files = (file for other in (of_part, *others) for file in other.files)
        joined[part] = Inputs({**of_part.params, **further}, tuple(dict.fromkeys(files)))
    return joined
