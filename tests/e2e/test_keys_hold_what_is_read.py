"""The key of a step holds what the step reads, so that no dataset is harmed by another one's files."""

from __future__ import annotations

import shutil

from running import Harness, leaderboard, small_collection

JUDGED = [("q0", "p0", 1), ("q1", "p2", 1), ("q2", "p3", 1)]


def test_a_damaged_dataset_harms_no_other_one(harness: Harness) -> None:
    small_collection(harness.folder / "sound", JUDGED)
    shutil.copytree(harness.folder / "sound", harness.folder / "damaged")
    with (harness.folder / "damaged" / "queries.jsonl").open("a") as file:
        file.write('{"_id": "q3", "text"\n')
    for names in (("sound", "damaged"), ("damaged", "sound")):
        datasets = {name: {"files": {"path": name, "language": "en"}} for name in names}
        systems = {"plain": {"retriever": "overlap"}}
        measures = {"measures": ["nDCG@5"], "depth": 5}
        harness.suite({"suite": "two", "datasets": datasets, "systems": systems, **measures})
        ran = harness.run()
        assert ran.code == 1, ran.err
        errors = {row["dataset"]: row["error"] for row in leaderboard(harness.out)["rows"]}
        assert errors["sound"] is None
        assert "damaged/queries.jsonl:4" in errors["damaged"]
        shutil.rmtree(harness.store)
