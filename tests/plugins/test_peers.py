"""Registered models on their stand-ins give the scores that sentence-transformers gives (DPR: transformers)."""

import numpy as np
import pytest
from standins import peers

from harness.toolkit.neural import known_encoders as dense
from harness_colbert import registry as colbert
from harness_crossencoder import registry as crossencoder
from harness_splade import registry as splade

pytest.importorskip("sentence_transformers")
pytestmark = [pytest.mark.extras, pytest.mark.slow]
OTHER = {  # what sentence-transformers does not read, and what is compared with it elsewhere
    "ance-msmarco",  # tests/plugins/test_dense.py: the paper's formula
    *("jina-v2-small-en", "jina-v2-base-en", "jina-v2-base-zh"),  # test_jina_bert.py: the authors' vectors
    *("unicoil", "unicoil-noexp"),  # test_splade.py
    "monobert-large-msmarco",  # its configuration names no type
    # test_static_embeddings.py: model2vec leaves unknown tokens out, sentence-transformers does not
    *("potion-base-8m", "potion-base-32m", "potion-retrieval-32m", "potion-multilingual-128m"),
    "dapr-colbertv2",  # lengths that are not those of the folder: benchmarks/peers
}
ONE_OF_THREE = {("splade", "bge-m3"), ("colbert", "bge-m3")}  # heads that it does not have: test_bge_m3.py
CASES = [
    (plugin, known)
    for plugin, registry in {
        "dense": dense, "splade": splade, "colbert": colbert, "crossencoder": crossencoder
    }.items()
    for known in registry.MODELS
    if known.name not in OTHER and (plugin, known.name) not in ONE_OF_THREE
    and getattr(known, "kind", "classifier") == "classifier"  # the others' prompts: test_instructed_models.py
]  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("standins")


@pytest.mark.parametrize(("plugin", "known"), CASES, ids=lambda case: getattr(case, "name", case))
def test_a_registered_model_scores_as_sentence_transformers(plugin, known, root, tmp_path):
    ours, theirs = peers.ours(plugin, known, root, tmp_path / "index"), peers.theirs(plugin, known, root)
    assert np.ptp(theirs) > 1e-3
    assert np.abs(ours - theirs).max() < 1e-5 * max(1.0, np.abs(theirs).max()), (ours, theirs)
