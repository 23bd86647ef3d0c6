"""docs/make-a-benchmark.md, walked in an empty folder: its files, its commands, and three people who judge."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from harness import cli
from harness_annotate import assignment, pool_files, project

PAGE = (Path(__file__).parents[2] / "docs" / "make-a-benchmark.md").read_text(encoding="utf-8")
TOPICS = {"tides": "sea moon water coast", "bread": "flour yeast oven dough", "bees": "hive honey queen wax"}


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.M | re.S)


def write_texts(folder):
    (folder / "texts" / "more").mkdir(parents=True)
    for place, (title, words) in zip(("", "more/", ""), TOPICS.items(), strict=True):
        paragraphs = [f"People and {title}: {word} and {word} again." for word in words.split()]
        text = f"\ufeff{title}\n\n" + "\n \n".join(paragraphs) + "\n"
        if title == "bees":
            text = text.replace("bees", "# bees", 1)
        end = "md" if title == "bees" else "txt"
        (folder / "texts" / f"{place}{title}.{end}").write_text(text, encoding="utf-8")
    queries = [f"what is {words.split()[0]} to people" for words in TOPICS.values()]
    (folder / "queries.txt").write_text("\n".join(queries) + "\n\n", encoding="utf-8")


def judge(folder):
    """Ann and Bo grade all pairs, and Cy those on which they disagree. Each looks for a word of the query."""
    pool = pool_files.Pool(folder / "pool")
    opened = project.open_project(pool, folder / "judgements", None, {}, None, False)
    for name, grades in (("Ann", (0, 3)), ("Bo", (1, 3)), ("Cy", (0, 3))):
        while (number := assignment.next_pair(opened.journal, name)) is not None:
            pair = pool.pairs[number]
            texts = {passage.id: passage.text for passage in pool.document(pair.document).passages}
            good = pool.queries[pair.query].text.split()[2] in texts[pair.passage].split()
            assignment.answer(opened.journal, name, number, grades[good], (), "")
    opened.journal.close()


@pytest.mark.slow
def test_the_commands_of_the_page_lead_from_texts_to_a_leaderboard_and_a_release(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_texts(tmp_path)
    [script], [suite] = blocks("python"), blocks("yaml")
    (tmp_path / "prepare.py").write_text(script, encoding="utf-8")
    [prepare] = re.findall(r"`python (prepare.py .*?)`", PAGE)
    subprocess.run([sys.executable, *prepare.split()], check=True)
    assert '"title": "bees"' in (tmp_path / "data" / "corpus.jsonl").read_text(encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(suite, encoding="utf-8")
    [stage] = re.findall(r"`(- judged: .*?)`", PAGE)
    commands = re.findall(r"^harness .*", PAGE, re.M)
    assert len(commands) == 8
    for line in commands:
        words = shlex.split(line)[1:]
        if words == ["annotate", "pool", "--out", "judgements"]:  # serving is tested in a browser
            judge(tmp_path)
            continue
        if words[0] == "run":
            (tmp_path / "suite.yaml").write_text(re.sub(r"( +)- pool: .*\n", rf"\g<0>\1{stage}\n", suite))
        assert cli.main(words) == 0, line
    assert "Krippendorff's alpha" in capsys.readouterr().out
    board = json.loads((tmp_path / "leaderboard.json").read_text(encoding="utf-8"))
    assert [row["status"] for row in board["rows"]] == ["ok"] * 3
    assert board["rows"][0]["measures"]["RR@10"] | {"ci95": 0} == {"mean": 1.0, "queries": 3, "ci95": 0}
    assert board["datasets"][0]["counts"]["judgements"] == 9
    (tmp_path / "again.yaml").write_text(
        "suite: again\ndatasets: {mine: {files: {path: release}}}\nsystems: {bm25: {retriever: bm25}}\n"
        "measures: [RR@10]\ndepth: 100\n"
    )
    assert cli.main(["run", "again.yaml", "--out", "again"]) == 0
    again = json.loads((tmp_path / "again" / "leaderboard.json").read_text(encoding="utf-8"))
    assert again["rows"][0]["measures"]["RR@10"]["mean"] == 1.0
    assert again["datasets"][0]["licence"] == "CC BY 4.0"
