"""Machines that grade a pool: reads a judge's file and runs the judge. Its grades never count as votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from harness.plugin import JSON, Facts, HarnessError, Problem, Problems, Reranker, shown_path, unknown
from harness.toolkit.commands import settings
from harness_annotate.events import Appointed, Graded
from harness_annotate.project import Project
from harness_annotate.scheme import Choice, Scheme

BATCH = 32  # how many pairs are graded and stored at a time
KEYS = ("name", "service", "reranker", "cuts", "document", "max_tokens")


class Asked(NamedTuple):
    """A pair as a machine sees it. `around` is the title, and the document before and after the passage."""

    query: str
    passage: str
    around: tuple[str, str, str]


class Judge(Protocol):
    def grade(self, pairs: Sequence[Asked]) -> list[tuple[Choice, float | None]]:
        """The machine's choice for each pair, with its score if it has one."""
        ...

    def close(self) -> None: ...


class Appointment(NamedTuple):
    name: str
    config: str  # JSON: everything that can change a grade
    build: Callable[[], Judge]


def read(path: Path, scheme: Scheme, language: tuple[str | None, str | None]) -> Appointment:
    """Reads a judge's YAML file. `language` holds the languages of the passages and of the queries."""
    root = settings.read_yaml(path).plain()
    where = shown_path(path)
    if not isinstance(root, dict):
        raise HarnessError(f"{where}: expected the keys {', '.join(KEYS)}; see docs/annotate.md")
    for key in root:
        if key not in KEYS:
            raise HarnessError(f"{where}: {unknown('key', str(key), KEYS)}")
    name = root.get("name")
    if not isinstance(name, str) or not 0 < len(name.strip()) <= 120:
        raise HarnessError(f"{where}: name: expected the judge's name, such as the model's with its revision")
    if ("service" in root) == ("reranker" in root):
        raise HarnessError(f"{where}: expected either 'service' or 'reranker'; remove or add one")
    try:
        if "service" in root:
            config, build = _service(root, scheme, path)
        else:
            config, build = _reranker(root, scheme, path, language)
    except Problems as error:
        raise Problems([f"{where}: {problem}" for problem in error.problems]) from None
    except HarnessError as error:
        raise HarnessError(f"{where}: {error}") from None
    return Appointment(name.strip(), msgspec.json.encode(config, order="deterministic").decode(), build)


def _service(root: Mapping[str, JSON], scheme: Scheme, path: Path) -> tuple[JSON, Callable[[], Judge]]:
    from harness.toolkit.services.settings import Service, missing

    if "cuts" in root:
        raise HarnessError("cuts: only a reranker has scores to cut; remove it")
    service = _converted(Service, root["service"], "service", path)
    document, most = root.get("document", False), root.get("max_tokens", 500)
    if not isinstance(document, bool):
        raise HarnessError("document: expected true or false, whether the machine sees the document")
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise HarnessError("max_tokens: expected a whole number above 0, the length of the longest answer")
    if needs := missing(service):
        raise HarnessError("; ".join(map(str, needs)))
    _check_installed(["httpx"], "services")

    def build() -> Judge:
        from harness_annotate.machine_service import ServiceJudge

        return ServiceJudge(service, scheme, document, most)

    kept = {"url": service.url, "model": service.model, "extra": settings.plain(service.extra)}
    return {"service": kept, "document": document, "max_tokens": most}, build


def _reranker(
    root: Mapping[str, JSON], scheme: Scheme, path: Path, language: tuple[str | None, str | None]
) -> tuple[JSON, Callable[[], Judge]]:
    reranker = root["reranker"]
    if isinstance(reranker, str):
        reranker = {reranker: {}}
    if not isinstance(reranker, dict) or len(reranker) != 1:
        raise HarnessError("reranker: expected one method with its parameters; see docs/plugins.md")
    [(name, values)] = reranker.items()
    record = settings.method("rerankers", name)
    assert isinstance(record, Reranker)
    if record.indexed:
        raise HarnessError(f"reranker: '{name}' needs an index of a whole corpus; choose another")
    _check_installed(record.needs, record.extra)
    chosen = _converted(record.params, values, f"reranker.{name}", path)
    levels = sorted(item.grade for item in scheme.grades)
    cuts = root.get("cuts")
    if not levels:
        raise HarnessError("reranker: it gives scores, and this scheme has only labels; use a service")
    if (
        not isinstance(cuts, list)
        or not all(type(cut) in (int, float) for cut in cuts)
        or cuts != sorted(cuts)
    ):
        raise HarnessError("cuts: expected ascending numbers: the least score of each grade but the lowest")
    if len(cuts) != len(levels) - 1:
        raise HarnessError(f"cuts: the scheme has {len(levels)} grades, so give {len(levels) - 1} numbers")
    if record.missing_files and (missing := record.missing_files(chosen)):
        raise HarnessError("; ".join(map(str, missing)))

    def build() -> Judge:
        from harness_annotate.machine_reranker import RerankerJudge

        facts = Facts(language[0], language[1] or language[0], "passage")
        resolved = record.resolve(chosen, facts) if record.resolve else chosen
        return RerankerJudge(record.build(resolved), language[0], levels, [float(cut) for cut in cuts])

    config: JSON = {"reranker": {name: settings.plain(chosen)}, "version": record.version, "cuts": list(cuts)}
    return config, build


def _converted(kind: type, values: JSON, where: str, path: Path) -> Any:
    if not isinstance(values, dict):
        raise HarnessError(f"{where}: expected parameters; see docs/annotate.md")
    value, problems = settings.convert(kind, values, path.absolute().parent)
    if problems:
        raise Problems([Problem(None, (where, *problem.path), problem.text) for problem in problems])
    return value


def _check_installed(modules: Sequence[str], extra: str | None) -> None:
    missing = [module for module in modules if not settings.is_installed(module)]
    if missing:
        command = f"pip install 'passage-harness[{extra}]'" if extra else f"pip install {' '.join(missing)}"
        raise HarnessError(f"needs {', '.join(missing)}; install it with: {command}")


def grade(project: Project, appointment: Appointment, done: Callable[[int, int], None]) -> int:
    """Grades the pairs that this machine has not graded yet, and returns their number. Each batch is stored
    when it is ready, so a killed run continues where it stopped. `done` is called with the number of pairs
    graded so far and the number to grade."""
    with project.journal.writing() as (state, append):
        config = state.machines.get(appointment.name)
        if config is None:
            append(Appointed(appointment.name, appointment.config))
        elif config != appointment.config:
            what = f"the judge '{appointment.name}' graded with other settings before"
            raise HarnessError(f"--grade-by: {what}; give it another name")
        left = [
            number
            for number, pair in enumerate(state.pairs)
            if appointment.name not in pair.machines and number not in state.head.judged
        ]
    if not left:
        return 0
    judge = appointment.build()
    try:
        for start in range(0, len(left), BATCH):
            numbers = left[start : start + BATCH]
            grades = judge.grade(list(_questions_of(project, numbers)))
            with project.journal.writing() as (_, append):
                for number, (choice, score) in zip(numbers, grades, strict=True):
                    append(Graded(appointment.name, number, choice, score))
            done(start + len(numbers), len(left))
    finally:
        judge.close()
    return len(left)


def _questions_of(project: Project, numbers: Sequence[int]) -> Iterator[Asked]:
    from harness_annotate.views import around

    for number in numbers:
        pair = project.pool.pairs[number]
        document = project.pool.document(pair.document)
        before, passage, after = around(document, pair.passage)
        texts = document.title, "\n".join(before), "\n".join(after)
        yield Asked(project.pool.queries[pair.query].text, passage, texts)
