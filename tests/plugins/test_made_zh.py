"""The committed counts of made-zh, counted again in plain Python that shares no code with the makers."""

import json
import os
import statistics
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

BOARD = Path(__file__).parents[2] / "leaderboards" / "made-zh" / "leaderboard.json"


def letters(text):
    return [letter for letter in unicodedata.normalize("NFKC", text).lower() if letter.isalnum()]


def is_positive(paragraph, answers):
    """Every span of up to three times the answer's length: a longer one has an F1 below .5."""
    tokens = letters(paragraph)
    for answer in map(letters, answers):
        wanted = Counter(answer)
        for start in range(len(tokens)):
            seen, shared = Counter(), 0
            for end in range(start, min(len(tokens), start + 3 * len(answer))):
                seen[tokens[end]] += 1
                shared += seen[tokens[end]] <= wanted[tokens[end]]
                if 4 * shared >= end - start + 1 + len(answer):
                    return True
    return False


def joined(paragraphs, labels):
    if sum(map(len, paragraphs)) < 256:
        return [("".join(paragraphs), any(labels))]
    passages, text, label, going = [], "", False, False
    for paragraph, one in zip(paragraphs, labels, strict=True):
        if not going and len(paragraph) >= 256:
            passages.append((paragraph, one))
            continue
        text, label, going = text + paragraph, label or one, True
        if len(text) > 256:
            passages.append((text, label))
            text, label, going = "", False, False
    return [*passages, (text, label)] if going else passages


@pytest.mark.real
def test_the_collection_has_the_counts_of_an_independent_recount():
    folder = Path(os.environ["HARNESS_REAL_DATA"]) / "dureader2-demo" / "raw"
    passages = []
    for split in ("train", "dev", "test"):
        for line in (folder / f"{split}.jsonl").read_text(encoding="utf-8").split("\n")[:-1]:
            row = json.loads(line)
            for document in row["documents"]:
                paragraphs = [text for text in document["paragraphs"] if text.strip()]
                labels = [split == "dev" and is_positive(text, row["answers"]) for text in paragraphs]
                passages += (
                    [(row["question_id"], *item) for item in joined(paragraphs, labels)] if paragraphs else []
                )
    first, positives = {}, set()
    for query, text, label in passages:
        first.setdefault(text, len(first))
        if label:
            positives.add((query, first[text]))
    block = json.loads(BOARD.read_text(encoding="utf-8"))["datasets"][0]
    join = next(stage for stage in block["made"] if stage["maker"] == "join-paragraphs")
    assert join["after"]["passages"] == len(passages)
    assert block["counts"]["passages"] == len(first)
    assert block["counts"]["judgements"] == len(positives)
    assert block["counts"]["queries"] == len({query for query, _ in positives})
    analyses = {entry["name"]: entry["rows"] for entry in json.loads(BOARD.read_text())["analyses"]}
    numbers = {row[0]: row[1] for row in analyses["collection/mine"]}
    assert numbers["characters a passage"] == pytest.approx(statistics.mean(map(len, first)), abs=1e-4)
    assert numbers["characters a passage, median"] == statistics.median(map(len, first))
