"""Scores by a peer, in its own environment, which needs nothing of the harness. `run.py` runs it.

python benchmarks/peers/theirs.py JOB.json SCORES.json"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ABSENT = 3  # the exit code


def pylate(job: dict) -> list[list[float]]:
    import torch
    from pylate import models

    model = models.ColBERT(
        job["passages"], query_length=job["query_length"], document_length=job["length"], device="cpu",
        model_kwargs={"torch_dtype": torch.float32},
    )  # fmt: skip
    with torch.inference_mode():
        queries = model.encode(job["asked"], is_query=True, batch_size=2, show_progress_bar=False)
        passages = model.encode(job["read"], is_query=False, batch_size=2, show_progress_bar=False)
    return [[float((q @ p.T).max(axis=1).sum()) for p in passages] for q in queries]


def clddp(job: dict) -> list[list[float]]:
    """DRAGON+, SPLADE and ColBERT; its ColBERT is that of colbert-ai."""
    import torch
    from clddp.dm import Passage, Query, Separator
    from clddp.retriever import Retriever, RetrieverConfig

    late = job["plugin"] == "colbert"
    own = job["queries"] != job["passages"]
    config = RetrieverConfig(
        query_model_name_or_path=job["queries"], passage_model_name_or_path=job["passages"] if own else None,
        shared_encoder=not own, sep=Separator.blank,
        pooling={"dense": "cls", "splade": "splade", "colbert": "no_pooling"}[job["plugin"]],
        similarity_function="maxsim" if late else "dot_product",
        query_max_length=job["query_length"], passage_max_length=job["length"],
    )  # fmt: skip
    model = Retriever(config).eval()
    with torch.inference_mode():
        queries = model.encode_queries([Query(query_id=str(i), text=t) for i, t in enumerate(job["asked"])])
        if late:  # the vectors of colbert-ai itself; the class around it asks for a GPU
            encode = model.passage_encoder.docFromText
            flat, counts = encode(docs=job["read"], bsize=8, keep_dims="flatten", showprogress=False)[:2]
            passages = torch.split(flat.float(), [int(count) for count in counts])
            scores = [[(q.float() @ p.T).max(1).values.sum().item() for p in passages] for q in queries]
        else:
            texts = [Passage(passage_id=str(i), text=t) for i, t in enumerate(job["read"])]
            vectors, mask = model.encode_passages(texts)
            more = () if mask is None else (mask,)
            scores = model.similarity_function(queries, vectors, *more).float().tolist()
    return scores


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_bytes())
    try:
        computed = {"clddp": clddp, "pylate": pylate}[given["peer"]](given)
    except ModuleNotFoundError as error:
        print(f"not installed: {error.name}")
        raise SystemExit(ABSENT) from None
    Path(sys.argv[2]).write_text(json.dumps(computed), encoding="utf-8")
