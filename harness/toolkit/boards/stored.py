"""What the store has of a leaderboard's rows, for commands of plugins: collections, examples, made models.

Status: provisional.
"""

from harness.collection.corpus import Corpus
from harness.collection.qrels_files import write_qrels
from harness.collection.queries import Judgements, Queries, read_judgements, read_queries
from harness.leaderboard.ids_only import JUDGEMENTS
from harness.leaderboard.made_models import USERS, MadeModel, models_of
from harness.made_models import BACKBONE, BESIDE, FOLDERS, backbone_folders
from harness.scoring.measures.grades import of_documents
from harness.steps import Examples, Validate
from harness.steps.record import method_of
from harness.store.artifacts import Store
from harness.store.manifest import Artifact, Corrupt

__all__ = [
    "BACKBONE", "BESIDE", "FOLDERS", "JUDGEMENTS", "USERS", "Artifact", "Corpus", "Corrupt", "Examples",
    "Judgements", "MadeModel", "Queries", "Store", "Validate", "backbone_folders", "method_of", "models_of",
    "of_documents", "read_judgements", "read_queries", "write_qrels",
]  # fmt: skip
