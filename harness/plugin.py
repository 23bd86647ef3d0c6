"""The door: everything that a plugin imports from the core. Other modules of the core may change at any time.

Machinery that methods share stands beside it in `harness.toolkit`, tests of contracts in `harness.testing`.
`harness plugins --api` prints which names these have and how long a name stays (docs/api.md).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from harness import contracts, functions
from harness.contracts import IdSearcher, Rescore, Searcher, TermSearcher, Texts, VectorSearcher
from harness.errors import ContractError, HarnessError, NoLanguage, Problems, StoreError
from harness.findings import Finding
from harness.hookspecs import hookimpl
from harness.problems import Need, Problem, nearest, shown_path, unknown
from harness.records import (
    Analyser,
    Analysis,
    Column,
    Combiner,
    Command,
    Context,
    Dataset,
    IndexBytes,
    Maker,
    Meant,
    Measure,
    NoParams,
    Protocol,
    Reranker,
    Retriever,
    Rewriter,
    Trainer,
    named,
    param,
)
from harness.step_context import CURRENT, StepContext
from harness.types import (
    ANSWER_PATTERN,
    JSON,
    Addition,
    Asked,
    Batch,
    Card,
    ColumnUnit,
    Document,
    Edit,
    Examples,
    Facts,
    Form,
    Hits,
    IndexPart,
    Inputs,
    Judgement,
    Made,
    Official,
    Part,
    Passage,
    Pool,
    Query,
    Rewritten,
    Structure,
    TermStatistics,
    Training,
    TrainingSize,
    Unit,
    WholeDocument,
)

# The version of the hooks, the records and the names below. It is raised when a plugin can rely on something
# new. A plugin says in its module for which version it was written: `HARNESS_API = 1`.
API = 1

if TYPE_CHECKING:
    from harness.collection.cards import exported as exported_card
    from harness.collection.composed_texts import View
    from harness.collection.corpus import ROWS
    from harness.collection.held_texts import HeldTexts
    from harness.collection.judgements import Judged, judging
    from harness.collection.maker_input import MakerInput, Parts
    from harness.scoring.analysis_input import AnalysisInput, SystemRun, TrainedModel
    from harness.scoring.measures import FILL, UNJUDGED
    from harness.scoring.measures.grades import Ideal
    from harness.types import Floats, Ints

# Imported when they are first used, because their modules import numpy, and `harness list` imports this one.
_HEAVY = {
    "AnalysisInput": "harness.scoring.analysis_input:AnalysisInput",
    "FILL": "harness.scoring.measures:FILL",
    "Floats": "harness.types:Floats",
    "HeldTexts": "harness.collection.held_texts:HeldTexts",
    "Ideal": "harness.scoring.measures.grades:Ideal",
    "Ints": "harness.types:Ints",
    "Judged": "harness.collection.judgements:Judged",
    "MakerInput": "harness.collection.maker_input:MakerInput",
    "Parts": "harness.collection.maker_input:Parts",
    "ROWS": "harness.collection.corpus:ROWS",
    "SystemRun": "harness.scoring.analysis_input:SystemRun",
    "TrainedModel": "harness.scoring.analysis_input:TrainedModel",
    "UNJUDGED": "harness.scoring.measures:UNJUDGED",
    "View": "harness.collection.composed_texts:View",
    "exported_card": "harness.collection.cards:exported",
    "judging": "harness.collection.judgements:judging",
}
# A name that goes, and what replaces it, as "module:name". It stays for two minor versions.
_DEPRECATED: dict[str, str] = {}

__all__ = [
    "ANSWER_PATTERN", "API", "CURRENT", "FILL", "JSON", "ROWS", "UNJUDGED", "Addition", "Analyser",
    "Analysis", "AnalysisInput", "Asked", "Batch", "Card", "Column", "ColumnUnit", "Combiner", "Command",
    "Context", "ContractError", "Dataset", "Document", "Edit", "Examples", "Facts", "Finding", "Floats",
    "Form", "HarnessError", "HeldTexts", "Hits", "IdSearcher", "Ideal", "IndexBytes", "IndexPart", "Inputs",
    "Ints", "Judged", "Judgement", "Made", "Maker", "MakerInput", "Meant", "Measure", "Need", "NoLanguage",
    "NoParams", "Official", "Part", "Parts", "Passage", "Pool", "Problem", "Problems", "Protocol", "Query",
    "Reranker", "Rescore", "Retriever", "Rewriter", "Rewritten", "Searcher", "StepContext", "StoreError",
    "Structure", "SystemRun", "TermSearcher", "TermStatistics", "Texts", "TrainedModel", "Trainer",
    "Training", "TrainingSize", "Unit", "VectorSearcher", "View", "WholeDocument", "contracts",
    "exported_card", "functions", "hookimpl", "judging", "nearest", "param", "shown_path", "unknown",
]  # fmt: skip

if not TYPE_CHECKING:  # a type checker would take any name to exist

    def __getattr__(name: str) -> object:
        if name in _DEPRECATED:
            module, _, new = _DEPRECATED[name].partition(":")
            text = f"harness.plugin.{name} is deprecated; import {new} from {module}"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return named(_DEPRECATED[name])
        if name not in _HEAVY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals().setdefault(name, named(_HEAVY[name]))
