"""The files that ir_datasets downloads for the committed suites, by their addresses."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from standins.data.addresses import downloads
from standins.data.releases import beir
from standins.data.texts import Collection, collection
from standins.data.writing import gzipped, lines, tarred, zipped

# name in ir_datasets' list -> splits, and what documents and queries say beside their text
BEIR: dict[str, tuple[tuple[str, ...], dict[str, Any], dict[str, Any]]] = {
    "trec-covid": (("test",), {"url": "-", "pubmed_id": "0"}, {"query": "-", "narrative": "-"}),
    "nfcorpus": (("test", "dev", "train"), {"url": "-"}, {"url": "-"}),
    "fiqa": (("test", "dev", "train"), {}, {}),
    "arguana": (("test",), {}, {}),
    "webis-touche2020/v2": (
        ("test",), {"stance": "PRO", "url": "-"}, {"description": "-", "narrative": "-"}
    ),
    "quora": (("test", "dev"), {}, {}),
    "scidocs": (
        ("test",), *({"authors": [], "year": 2000, "cited_by": [], "references": []} for _ in range(2))
    ),
    "scifact": (("test", "train"), {}, {}),
    "cqadupstack": (("test",), {"tags": []}, {"tags": []}),
}  # fmt: skip
FORUMS = (
    "android", "english", "gaming", "gis", "mathematica", "physics", "programmers", "stats", "tex", "unix",
    "webmasters", "wordpress",
)  # fmt: skip


def files(folder: Path) -> dict[str, Path]:
    """Write all files into `folder`; address -> file."""
    listed = downloads()
    made = {listed["beir"][name]["url"]: _beir(folder, name) for name in BEIR}
    passages = listed["msmarco-passage"]
    return made | {passages[name]["url"]: file for name, file in _msmarco(folder / "msmarco").items()}


def _beir(folder: Path, name: str) -> Path:
    splits, of_documents, of_queries = BEIR[name]
    top = name.partition("/")[0]
    home, path = folder / f"{top}-files", folder / f"{top}.zip"
    for part in FORUMS if name == "cqadupstack" else ("",):
        made = collection(f"beir-{name}-{part}", documents=12, each=2, questions=6 * len(splits))
        if name in ("arguana", "quora"):  # whose queries are passages of the collection
            n = len(made.passages)
            renamed = [q._replace(id=made.passages[(7 * i + 1) % n].id) for i, q in enumerate(made.questions)]
            made = Collection(made.passages, renamed)
        by_split = {split: made.questions[at :: len(splits)] for at, split in enumerate(splits)}
        beir(home / part, made, by_split, of_documents=of_documents, of_queries=of_queries)
    zipped(path, home, top)
    return path


def _msmarco(folder: Path) -> Mapping[str, Path]:
    """MS MARCO's passages, TREC's deep learning tracks and DL-HARD over them."""
    from ir_datasets.datasets.msmarco_passage import DL_HARD_QIDS

    made = msmarco_passages()
    train, dev, small = made.questions[:8], made.questions[24:], made.questions[24:36]

    def asked(questions: list[Any]) -> str:
        return "".join(f"{int(q.id.partition('-q')[2])}\t{q.text}\n" for q in questions)

    def judged(questions: list[Any]) -> str:
        return "".join(f"{int(q.id.partition('-q')[2])}\t0\t{q.positive.id}\t1\n" for q in questions)

    texts = "".join(f"{p.id}\t{p.text}\n" for p in made.passages)
    queries = {
        "queries.train.tsv": asked(train),
        "queries.dev.tsv": asked(dev),
        "queries.eval.tsv": asked(dev),
    }
    small_files = {"queries.dev.small.tsv": asked(small), "qrels.dev.small.tsv": judged(small)}
    all_files = {"collection.tsv": texts, **queries, **small_files, "qrels.train.tsv": judged(train)}
    paths = {name: folder / name.replace("/", "-") for name in _NAMES}
    tarred(paths["collectionandqueries"], all_files)
    tarred(paths["queries"], queries)
    lines(paths["train/qrels"], judged(train).splitlines())
    lines(paths["dev/qrels"], judged(dev).splitlines())
    hard = sorted(DL_HARD_QIDS)
    graded: dict[str, list[str]] = {}
    for year, ids in (("2019", hard[:8]), ("2020", hard[8:16])):
        topics = [(id, made.questions[at]) for at, id in enumerate(ids)]
        gzipped(paths[f"trec-dl-{year}/queries"], "".join(f"{id}\t{q.text}\n" for id, q in topics).encode())
        graded[year] = [
            f"{id} 0 {(int(q.positive.id) + 3 - grade) % len(made.passages)} {grade}"
            for id, q in topics
            for grade in (3, 2, 1, 0)
        ]
        lines(paths[f"trec-dl-{year}/qrels"], graded[year])
    lines(paths["trec-dl-hard/qrels"], graded["2019"] + graded["2020"])
    return paths


_NAMES = (
    "collectionandqueries", "queries", "train/qrels", "dev/qrels", "trec-dl-2019/queries",
    "trec-dl-2019/qrels", "trec-dl-2020/queries", "trec-dl-2020/qrels", "trec-dl-hard/qrels",
)  # fmt: skip


def msmarco_passages() -> Collection:
    return collection("msmarco", documents=40, each=1, questions=48, id="{number}")
