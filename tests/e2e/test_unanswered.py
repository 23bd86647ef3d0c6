"""Queries for which a system finds nothing are counted in its row and shown, wherever its hits come from."""

from harness import api
from harness.cli import main
from harness.html import content
from harness.leaderboard import board_file

NOTE = "{} of its queries have no hits: each scores 0"


def nothing_for_long_queries(queries, corpus, k):
    return [[] if len(query) > 40 else [(0, 1.0)] for query in queries]


def test_queries_without_hits_are_counted_and_shown(tmp_path, capsys):
    def run(name, **systems):
        tour = {"tour": {"tour": {"documents": 12}}}
        suite = {"suite": name, "datasets": tour, "systems": systems, "measures": ["nDCG@10"]}
        return api.run(suite, out=tmp_path / name, store=tmp_path / "store", quiet=True)

    first = run("first", bm25={"retriever": "bm25"}, mine={"retriever": nothing_for_long_queries})
    kept, mine = (row.scored for row in first.rows)
    assert kept.unanswered == 0 < mine.unanswered < mine.queries
    run_file = str(tmp_path / "first/runs/tour/mine.run.gz")
    second = run("second", file={"retriever": {"run": {"file": run_file}}})
    assert second.rows[0].scored.unanswered == mine.unanswered

    note = NOTE.format(mine.unanswered)
    assert main(["show", str(tmp_path / "first")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"note: tour / mine: {note}"
    assert f"- tour / mine: {note}." in (tmp_path / "first/README.md").read_text()
    assert [record["unanswered"] for record in first.records()] == [0, mine.unanswered]
    read = board_file.read(tmp_path / "first")
    assert [row["flags"] for row in content.content(read, {}, None).board["rows"]] == [(), (note,)]
    assert note in first._repr_html_()
    assert set(board_file.json_schema()["$defs"]["Scored"]["properties"]) >= {"queries", "unanswered"}
