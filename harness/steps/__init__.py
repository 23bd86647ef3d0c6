"""The kinds of steps: one frozen record for each. Inputs, keys and the wire follow from the types."""

from harness.steps.analyse import Analyse
from harness.steps.augment import Augment
from harness.steps.combine import Combine, Pick
from harness.steps.examples import Examples
from harness.steps.index import Index
from harness.steps.kinds import COLLECTION_PARTS, AnyKind, PartOfStep, Whole, ids_of_part, kinds, of_keyed
from harness.steps.label import Label
from harness.steps.make import MadePart, Make
from harness.steps.read import ReadCorpus, ReadJudgements, ReadQueries
from harness.steps.rerank import Rerank
from harness.steps.rewrite import Rewrite
from harness.steps.search import Search
from harness.steps.subset import Subset
from harness.steps.train import Train
from harness.steps.tune import Trials, Tune
from harness.steps.validate import Validate

__all__ = [
    "COLLECTION_PARTS",
    "Analyse",
    "AnyKind",
    "Augment",
    "Combine",
    "Examples",
    "Index",
    "Label",
    "MadePart",
    "Make",
    "PartOfStep",
    "Pick",
    "ReadCorpus",
    "ReadJudgements",
    "ReadQueries",
    "Rerank",
    "Rewrite",
    "Search",
    "Subset",
    "Train",
    "Trials",
    "Tune",
    "Validate",
    "Whole",
    "ids_of_part",
    "kinds",
    "of_keyed",
]  # fmt: skip
