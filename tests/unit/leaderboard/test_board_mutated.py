"""Mutated leaderboards: every command that reads one says what is wrong, and none shows a traceback."""

import copy
import hashlib
import json
import random
import shutil

import pytest
from hypothesis import settings

from harness import run
from harness.cli import main
from harness.leaderboard import board_file

SUITE = """
suite: small
datasets: {tour: {tour: {documents: 20}}, second: {tour: {documents: 15, seed: 4}}}
averages: {both: [tour, second]}
analyses: [depth]
systems:
  bm25: {retriever: bm25}
  titles: {context: [titles], retriever: bm25}
  reranked: {of: bm25, rerank: {sdm: {}, depth: 5}}
measures: [nDCG@10, MicroR@5]
depth: 20
"""
VALUES = (
    None, True, -1, 0, 1.5, -0.5, 1e308, 10**30, 10**400, "\x1b[31m", "published", "failed", "0" * 64, [None], {"": ""},
    "", "x", "a\0b", "../../x", "x" * 5000, "\u202e", [], [1], [[]], {}, {"x": 1},
)  # fmt: skip
FILES = (  # what happens to a per-query file
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text.replace("\t", "\t\t", 1),
    lambda text: text.replace("query", "name", 1),
    lambda text: text.replace("0.", "x", 1),
    lambda text: text[: len(text) // 2],
    lambda text: "",
    lambda text: text.partition("\n")[0] + "\n",
    lambda text: text + text.splitlines()[-1] + "\n",
    lambda text: text.replace("MicroR@5 numerator", "nDCG@10", 1),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mutated")
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    assert run(folder / "suite.yaml", out=folder / "out", store=folder / "store", quiet=True).ok
    return folder


def places(data, path=()):
    """The path of every value."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def mutated(data, choice):
    """The data with one to three values replaced or removed."""
    changed = copy.deepcopy(data)
    for _ in range(choice.randint(1, 3)):
        path = choice.choice([path for path in places(changed) if path])
        inner = changed
        for key in path[:-1]:
            inner = inner[key]
        if choice.random() < 0.2:
            del inner[path[-1]]
        else:
            inner[path[-1]] = choice.choice(VALUES)
    return changed


def with_a_mutated_file(data, folder, choice):
    """The data citing a per-query file that was changed, with its new digest."""
    changed = copy.deepcopy(data)
    cited = choice.choice(changed["rows"])["files"]["per_query"]
    path = folder / cited["path"]
    path.write_bytes(choice.choice(FILES)(path.read_text(encoding="utf-8")).encode())
    cited["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return changed


def commands(folder, out, store, whole):
    board = str(folder)
    kept = ["--store", str(store)]
    return [
        ["show", board],
        ["show", board, "--format", "markdown"],
        ["show", board, "--format", "csv"],
        ["compare", board, "--test", "t"],
        ["show", board, "--beside", str(whole)],
        ["compare", board, str(whole)],
        ["merge", board, "--out", str(out / "merged")],
        ["merge", board, str(whole), "--out", str(out / "both")],
        ["report", board, "--out", str(out / "report.html"), *kept],
        ["verify", board, *kept],
        ["inspect", board, "--failures", *kept],
        ["inspect", board, "--differ", "bm25", "reranked", *kept],
        ["inspect", board, "--query", "q1", *kept],
        *(["export", board, "--form", form, "--out", str(out / form), *kept] for form in ("trec", "ir-metadata", "mteb", "csv")),
    ]  # fmt: skip


def survives(made, tmp_path, mutations, every_command):
    choice = random.Random(7)
    whole = json.loads((made / "out" / board_file.FILE).read_bytes())
    (tmp_path / "store").mkdir()
    codes = set()
    for number in range(mutations):
        folder, out = tmp_path / f"board-{number}", tmp_path / f"out-{number}"
        shutil.copytree(made / "out", folder)
        files = number % 4 == 0
        data = with_a_mutated_file(whole, folder, choice) if files else mutated(whole, choice)
        (folder / board_file.FILE).write_text(json.dumps(data), encoding="utf-8")
        words = commands(folder, out, made / "store", made / "out")
        for command in words if every_command else [choice.choice(words)]:
            try:
                codes.add(main(command))
            except BaseException as error:
                raise AssertionError(f"mutation {number}: {' '.join(command)}") from error
        shutil.rmtree(folder)
        shutil.rmtree(out, ignore_errors=True)
    assert codes == {0, 1, 2} or mutations < 100


def test_no_command_shows_a_traceback_of_a_mutated_leaderboard(made, tmp_path, capsys):
    """Each of 50 leaderboards to a command, 2,000 in CI."""
    survives(made, tmp_path, settings.default.max_examples, every_command=False)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_no_command_shows_a_traceback_of_many_mutated_leaderboards(made, tmp_path, capsys):
    survives(made, tmp_path, max(250, settings.default.max_examples // 8), every_command=True)
