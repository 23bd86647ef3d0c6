"""One record of each kind of step, and the small steps of a plan that tests make of them."""

from typing import Any

from msgspec import structs

from harness import steps
from harness.plan.graph import Step, step_of
from harness.steps.analyse import Analysed, Column
from harness.steps.combine import Learned, Tuned, Within
from harness.steps.examples import Mined
from harness.steps.make import Parts
from harness.steps.read import Limits
from harness.steps.record import AnyRecord, Backbone, Bound, Found, Method, Model, Ref, Uses
from harness.steps.rules import Measured, Rules
from harness.steps.texts import Encoder, IndexedRetriever, Texts
from harness.steps.train import Source

# what a finished step of any of the kinds that tests finish must have in its manifest
FACTS: dict[str, Any] = {"texts": 3, "unit": "passage", "passages": 3, "candidates": 3, "documents": 1}
COST: dict[str, Any] = {"seconds": 1.0, "cpu_seconds": 1.0, "peak_mb": 9.0, "queries": 2}


def ref(step: str) -> Ref[Any]:
    return Ref(step)


CORPUS, QUERIES, JUDGEMENTS = ref("corpus-0"), ref("queries-0"), ref("judgements-0")
PLUGIN = Uses("english", "1", "0", {"numpy": "2"}, {"stop": ["the"]})
METHOD = Method(name="bm25", version="1", sources="0", params={"k1": 0.9}, uses=(PLUGIN,))
DENSE = Method(
    name="dense", version="1", sources="0", params={"models": ["m", None]},
    bound=(Bound("k", Found("trials-0", "k")), Bound("models", Model("train-0", "retriever"), 1)),
    backbones=(Backbone(Model("train-1", "model")),),
)  # fmt: skip
TEXTS = Texts(corpus=CORPUS, stages=(ref("augment-0"),), unit="document", language="en")
SEARCHER = IndexedRetriever(method=METHOD, texts=TEXTS, index=ref("index-0"), rewritten=ref("rewrite-0"))
MEASURED = Measured("nDCG@10", Rules(depth=10), PLUGIN)
DATASET: dict[str, Any] = {"corpus": CORPUS, "queries": QUERIES, "judgements": JUDGEMENTS}
PARTS = Parts(**DATASET, language="en", query_language=None, split="test")
READ: dict[str, Any] = {
    "method": METHOD,
    "reads": {"path": "x"},
    "files": ({"sha256": "0"},),
    "limits": Limits(3),
}
COMBINED: dict[str, Any] = {
    "method": METHOD, "hits": (ref("search-0"), ref("search-1")), "corpus": CORPUS, "queries": QUERIES, "depth": 9,
    "unit": "passage", "within": (Within(1, SEARCHER),),
}  # fmt: skip
INDEX = steps.Index(method=METHOD, texts=TEXTS)
SEARCH = steps.Search(method=DENSE, texts=TEXTS, index=ref("index-0"), queries=QUERIES, depth=9)
TRAIN = steps.Train(
    method=DENSE, sources=(Source(ref("examples-0"), QUERIES, CORPUS),), seed=1, segment=0, segments=2,
    before=ref("train-9"), take=3, draw="sample", share=0.0, apart=False, queries=500,
)  # fmt: skip
# no record has a value of its own in a field that is not keyed
SAMPLES: dict[type[AnyRecord], steps.AnyKind] = {type(record): record for record in (
    steps.ReadCorpus(**READ), steps.ReadQueries(**READ), steps.ReadJudgements(**READ),
    steps.Subset(**DATASET, hits=ref("search-0"), depth=4),
    steps.Make(method=METHOD, reads=PARTS, runs={"a": ref("search-0")}, others={"b/dev": PARTS}, encoder=Encoder(DENSE)),
    steps.MadePart(stage=ref("make-0"), part="corpus"),
    steps.Augment(method=METHOD, corpus=CORPUS, language="en"),
    INDEX, SEARCH,
    steps.Rewrite(method=METHOD, texts=TEXTS, queries=QUERIES, searcher=SEARCHER, feedback=2, hits=ref("search-0")),
    steps.Combine(**COMBINED, tuned=Tuned("weight", ref("tune-0")), learned=Learned(SEARCHER)),
    steps.Pick(trials=(ref("search-0"),), choice=ref("trials-0"), corpus=CORPUS, queries=QUERIES, unit="passage"),
    steps.Rerank(method=METHOD, below=ref("search-0"), texts=TEXTS, queries=QUERIES, depth=5, tail="keep"),
    steps.Tune(**COMBINED, judgements=JUDGEMENTS, parameter="weight", values=(0.0, 0.5), folds=None, measured=MEASURED),
    steps.Trials(
        **DATASET, method=METHOD, hits=(ref("search-0"), ref("search-1")), parameters=("k1",), points=((0.9,), (1.2,)),
        folds=5, unit="passage", measured=MEASURED,
    ),
    steps.Label(hits=ref("search-0"), corpus=CORPUS, queries=QUERIES, depth=5),
    steps.Examples(**DATASET, level=1, negatives=Mined(
        hits=ref("search-0"), depth=20, below=1.5, above=None, positives_above=None, undenoised=False, fill=0,
        apart=False, without_answer=False,
    )),
    TRAIN,
    steps.Validate(
        **DATASET, checkpoints=(ref("train-0"),), hits=(ref("search-0"),), whole=(ref("search-1"),),
        measured=MEASURED, unit="passage",
    ),
    steps.Analyse(
        **DATASET, method=METHOD, systems=(Analysed(name="a", hits=ref("search-0"), texts=TEXTS),),
        columns=(Column("nDCG@10", "passage"),), measures={"mine": PLUGIN}, dataset="d", notes=("small",), language="en",
        rules=Rules(), queries_of={"d/dev": ref("queries-1")}, encoder=Encoder(METHOD),
    ),
    steps.PartOfStep(of="index-0", start=2, stop=4),
)}  # fmt: skip


def changed(kind: type[AnyRecord], **fields: Any) -> Any:
    """The sample of a kind with other values in some fields."""
    return structs.replace(SAMPLES[kind], **fields)


def step(record: AnyRecord, dataset: str = "d", subject: str = "m") -> Step:
    return step_of(record, dataset, subject)


def alone(kind: type[AnyRecord] = steps.Index, **fields: Any) -> Step:
    """A step that reads nothing, as far as an engine knows."""
    return step(changed(kind, **fields))._replace(inputs=())
