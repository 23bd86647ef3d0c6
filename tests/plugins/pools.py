"""Makes small pools and judging folders for the tests of `harness annotate`."""

import hashlib
from pathlib import Path
from typing import Any

import orjson

from harness_annotate import pool_files, project, scheme

ZH = "护照的有效期是多少年？"
AR = "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645"


def write_pool(folder: Path, pairs: list[dict[str, Any]], queries=None, documents=None, **head) -> Path:
    """A pool in the form of docs/pools.md. Queries and documents are made up where they are not given."""
    folder.mkdir(parents=True, exist_ok=True)
    queries = queries or [
        {"id": name, "text": f"what is {name}"} for name in dict.fromkeys(pair["query"] for pair in pairs)
    ]
    made: dict[str, list[str]] = {}
    for pair in pairs:
        passages = made.setdefault(pair["document"], [])
        if pair["passage"] not in passages:
            passages.append(pair["passage"])
    documents = documents or [
        {
            "id": name,
            "title": f"About {name}",
            "passages": [{"id": f"{name}-before", "text": "What comes before.", "candidate": False}]
            + [{"id": passage, "text": f"The text of {passage}."} for passage in passages]
            + [{"id": f"{name}-after", "text": "What comes after."}],
        }
        for name, passages in made.items()
    ]
    parts = {"queries.jsonl": queries, "documents.jsonl": documents, "pairs.jsonl": pairs}
    total = hashlib.sha256()
    for name, rows in parts.items():
        data = b"".join(orjson.dumps(row) + b"\n" for row in rows)
        (folder / name).write_bytes(data)
        total.update(data)
    about = {
        "form": "harness pool 1", "name": "mine", "split": "dev", "language": "en", "query_language": None,
        "licence": "", "citation": "", "url": "", "systems": ["bm25"], "depth": 5, "scored_by": None,
        "counts": {"queries": len(queries), "documents": len(documents), "pairs": len(pairs), "judged": 0},
        "digest": total.hexdigest(),
    }  # fmt: skip
    (folder / "pool.json").write_bytes(orjson.dumps({**about, **head}, option=orjson.OPT_INDENT_2))
    return folder


def pairs(queries: int, each: int = 5) -> list[dict[str, Any]]:
    return [
        {
            "query": f"q{q}",
            "passage": f"d{q}-{i}",
            "document": f"d{q}",
            "rank": i + 1,
            "ranks": {"bm25": i + 1},
        }
        for q in range(queries)
        for i in range(each)
    ]


def make_project(
    folder: Path, rows=None, name: str = "t2ranking", gold: Path | None = None, again=False, **rules
):
    """A pool and a judging folder beside it."""
    pool = pool_files.Pool(write_pool(folder / "pool", rows or pairs(2)))
    return project.open_project(pool, folder / "judgements", scheme.load(name), rules, gold, again)
