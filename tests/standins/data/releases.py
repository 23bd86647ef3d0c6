"""The stand-ins of the releases, each by one function that writes it in its own layout, names and columns."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from standins.data.texts import Collection, Passage, Question, collection
from standins.data.writing import json_lines, lines, parquet, tabs

DAPR = ("MSMARCO", "NaturalQuestions", "ConditionalQA", "Genomics", "MIRACL")
HARD = ("Coreference Resolution", "Main Topic", "Multi-hop Reasoning", "Acronym")  # of NQ-hard, section 3.1


def beir(
    folder: Path,
    made: Collection,
    splits: Mapping[str, Sequence[Question]],
    *,
    documents: bool = False,
    of_documents: Mapping[str, Any] | None = None,
    of_queries: Mapping[str, Any] | None = None,
) -> None:
    """A folder of BEIR; with the columns of documents if `documents`. `of_documents` and `of_queries` are what
    each row's metadata says."""
    size = max((passage.place for passage in made.passages), default=0) + 1
    rows: list[dict[str, Any]] = []
    for each in made.passages:
        row = {"_id": each.id, "title": each.title, "text": each.text, "metadata": of_documents or {}}
        place = {"doc_id": each.document, "paragraph_no": each.place, "total_paragraphs": size}
        rows.append(row | (place | {"is_candidate": True} if documents else {}))
    json_lines(folder / "corpus.jsonl", rows)
    asked = ({"_id": each.id, "text": each.text, "metadata": of_queries or {}} for each in made.questions)
    json_lines(folder / "queries.jsonl", asked)
    for split, questions in splits.items():
        judged = [("query-id", "corpus-id", "score"), *((q.id, q.positive.id, 1) for q in questions)]
        tabs(folder / "qrels" / f"{split}.tsv", judged)


def mteb(root: Path, name: str, made: Collection, licence: str = "cc-by-sa-4.0") -> None:
    """A task of MTEB on the hub: JSON lines, with the configurations in the README."""
    folder = root / "datasets" / "mteb" / name
    json_lines(
        folder / "corpus.jsonl", ({"_id": p.id, "title": p.title, "text": p.text} for p in made.passages)
    )
    json_lines(folder / "queries.jsonl", ({"_id": each.id, "text": each.text} for each in made.questions))
    json_lines(
        folder / "qrels" / "test.jsonl",
        ({"query-id": q.id, "corpus-id": q.positive.id, "score": 1.0} for q in made.questions),
    )
    configs = [("default", "test", "qrels/test.jsonl"), ("corpus", "corpus", "corpus.jsonl")]
    configs.append(("queries", "queries", "queries.jsonl"))
    _readme(folder, "eng", licence, configs)


def c_mteb(root: Path, name: str, made: Collection) -> None:
    """A task of C-MTEB on the hub: parquet below data/, the judgements in a repository of their own."""
    folder, judged = (root / "datasets" / "C-MTEB" / f"{name}{end}" for end in ("", "-qrels"))
    tables: dict[str, Sequence[Passage] | Sequence[Question]] = {
        "corpus": made.passages, "queries": made.questions
    }  # fmt: skip
    for table, texts in tables.items():
        file = folder / "data" / f"{table}-00000-of-00001-a3949861f65a3226.parquet"
        parquet(file, [{"id": each.id, "text": each.text} for each in texts])
    _readme(folder, "", "", [("default", table, f"data/{table}-*") for table in tables])
    rows = [{"qid": each.id, "pid": each.positive.id, "score": 1} for each in made.questions]
    parquet(judged / "data" / "dev-00000-of-00001-57fb84a4aceaa695.parquet", rows)
    _readme(judged, "", "", [("default", "dev", "data/dev-*")])


def _readme(folder: Path, language: str, licence: str, configs: Iterable[tuple[str, str, str]]) -> None:
    texts = ["---", *([f"language: [{language}]"] if language else [])]
    texts += [f"license: {licence}"] if licence else []
    texts.append("configs:")
    named = ""
    for name, split, path in configs:
        if name != named:
            texts += [f"- config_name: {name}", "  data_files:"]
        named = name
        texts += [f"  - split: {split}", f"    path: {path}"]
    lines(folder / "README.md", [*texts, "---"])


def dapr(root: Path) -> None:
    """UKPLab/dapr on the hub. Large collections are in shards; NaturalQuestions has no training split."""
    folder = root / "datasets" / "UKPLab" / "dapr"
    lines(folder / "README.md", ["DAPR"])
    for name in DAPR:
        made = collection(f"dapr-{name}", questions=24)
        home, shards = folder / name, name in ("MSMARCO", "Genomics", "MIRACL")
        size = max(each.place for each in made.passages) + 1
        passages = [
            {"_id": p.id, "text": p.text, "title": p.title, "doc_id": p.document, "paragraph_no": p.place,
             "total_paragraphs": size, "is_candidate": name != "MSMARCO" or p.place < 3}
            for p in made.passages
        ]  # fmt: skip
        resolved = [row | {"text": f"{row['title']} {row['text']}"} for row in passages]
        themes = {each.document: "; ".join(each.title.split()) for each in made.passages}
        keyphrases = [{"doc_id": document, "doc_summary": phrases} for document, phrases in themes.items()]
        for part, rows in (("corpus", passages), ("corpus_coref", resolved), ("keyphrases", keyphrases)):
            if shards:
                for shard in range(2):
                    half = rows[shard * len(rows) // 2 : (shard + 1) * len(rows) // 2]
                    parquet(home / part / f"test-{shard:05d}-of-00002.parquet", half)
            else:
                parquet(home / part / "0000.parquet", rows)
        splits = ("test",) if name == "Genomics" else ("dev", "test")
        splits += ("train",) if name in ("MSMARCO", "ConditionalQA", "MIRACL") else ()
        asked = [question for question in made.questions if name != "MSMARCO" or question.positive.place < 3]
        for at, split in enumerate(splits):
            mine = asked[at :: len(splits)]
            parquet(home / "queries" / f"{split}.parquet", [{"_id": q.id, "text": q.text} for q in mine])
            judged = [{"query_id": q.id, "corpus_id": q.positive.id, "score": 1} for q in mine]
            parquet(home / "qrels" / f"{split}.parquet", judged, _QRELS)
        if name == "NaturalQuestions":
            hard = [
                {"query_id": q.id, "corpus_id": q.positive.id, "score": 1, "query": q.text,
                 "categories": [HARD[at % len(HARD)]]}
                for at, q in enumerate(asked[1::2])
            ]  # fmt: skip
            schema = _QRELS | {"query": pa.string(), "categories": pa.list_(pa.string())}
            parquet(home / "nq-hard" / "0000.parquet", hard, schema)


_QRELS = {"query_id": pa.string(), "corpus_id": pa.string(), "score": pa.int64()}


def t2ranking(root: Path) -> None:
    """THUIR/T2Ranking on the hub: tables with headers below data/, and rankings without one."""
    folder = root / "datasets" / "THUIR" / "T2Ranking" / "data"
    made = collection("t2ranking", documents=40, each=1, questions=40, language="zh", id="{number}")
    tabs(folder / "collection.tsv", [("pid", "text"), *((p.id, p.text) for p in made.passages)])
    for split, start, end in (("train", 0, 12), ("dev", 24, 36), ("test", 36, 40)):
        asked = made.questions[start:end]
        numbered = [(start + at, q) for at, q in enumerate(asked)]
        tabs(folder / f"queries.{split}.tsv", [("qid", "text"), *((i, q.text) for i, q in numbered)])
        if split == "test":
            continue  # its judgements are not released
        graded = [(i, q, grade) for i, q in numbered for grade in (3, 2, 1, 0)]
        rows = [(i, 0, (int(q.positive.id) + 3 - grade) % 40, grade) for i, q, grade in graded]
        tabs(folder / f"qrels.{split}.tsv", [("qid", "-", "pid", "rel"), *rows])
        positive = [(i, pid) for i, _, pid, grade in rows if grade >= 2]
        tabs(folder / f"qrels.retrieval.{split}.tsv", [("qid", "pid"), *positive])
    for name in ("bm25", "mined"):
        ranked = [(i, (i * 5 + rank) % 40, rank, 40 - rank) for i in range(12) for rank in range(1, 21)]
        tabs(folder / f"train.{name}.tsv", ranked)


def dureader_retrieval(folder: Path) -> None:
    """The files of DuReader-retrieval's release, and English questions of two splits."""
    made = collection("dureader", documents=40, each=1, questions=36, language="zh", id="{number:032x}")
    home = folder / "passage-collection"
    for part in range(4):
        rows = [("-", "", p.text, 0) for p in made.passages[part * 10 : part * 10 + 10]]
        tabs(home / f"part-{part:02d}", rows)
    ids = {str(number): p.id for number, p in enumerate(made.passages)}
    lines(home / "passage2id.map.json", [json.dumps(ids)])
    for split, asked in (("train", made.questions[:24]), ("dev", made.questions[24:])):
        json_lines(
            folder / split / f"{split}.json",
            (
                {"question_id": q.id, "question": q.text,
                 "answer_paragraphs": [{"paragraph_id": q.positive.id, "paragraph_text": q.positive.text}]}
                for q in asked
            ),
        )  # fmt: skip
        lines(folder / split / f"q2qid.{split}.json", [json.dumps({q.text: q.id for q in asked})])
        english = collection("dureader-en", questions=len(asked)).questions
        rows = ({"question_id": q.id, "question": e.text} for q, e in zip(asked, english, strict=True))
        json_lines(folder / f"english.{split}.json", rows)


def dureader_raw(folder: Path) -> None:
    """DuReader 2.0 as it was annotated: questions with web documents and written answers."""
    for at, split in enumerate(("train", "dev", "test")):
        made = collection(f"dureader-raw-{split}", documents=12, each=3, questions=6, language="zh")
        rows = []
        for number, q in enumerate(made.questions):
            near = [str((int(q.positive.document) + step) % 12) for step in range(3)]
            pages = [[p for p in made.passages if p.document == document] for document in near]
            row = {
                "question_id": 1000 * at + number, "question": q.text, "question_type": "ENTITY",
                "fact_or_opinion": "FACT", "answers": [q.positive.text, q.answer],
                "documents": [
                    {"title": page[0].title, "paragraphs": [p.text for p in page], "is_selected": not place}
                    for place, page in enumerate(pages)
                ],
            }  # fmt: skip
            rows.append(row if split != "test" else {**row, "answers": []})
        json_lines(folder / f"{split}.jsonl", rows)


def dpr(folder: Path) -> None:
    """DPR's passages and questions, and the two files that a suite makes of its training questions."""
    made = collection("nq", documents=16, each=3, questions=20, id="{number}")
    rows = [(int(p.id) + 1, f'"{p.text}"', p.title) for p in made.passages]
    tabs(folder / "psgs_w100.tsv", [("id", "text", "title"), *rows])
    tabs(folder / "nq-test.qa.csv", ((q.text, [q.answer]) for q in made.questions[:12]))
    training = list(enumerate(made.questions[12:20]))
    tabs(folder / "nq-train.tsv", ((f"t{i}", q.text, json.dumps([q.answer])) for i, q in training))
    judged = (f"t{i} 0 {int(q.positive.id) + 1} 1" for i, q in training)
    lines(folder / "nq-train.qrels", judged)


def deepct(folder: Path, made: Collection) -> None:
    """Term weights in the form of Anserini."""
    rows = [{"id": p.id, "contents": "", "vector": dict.fromkeys(p.text.split(), 3)} for p in made.passages]
    json_lines(folder / "part-00.jsonl", rows)
