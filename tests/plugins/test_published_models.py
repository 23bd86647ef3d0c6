"""Every model that is named is fetched and read in the form in which it is published, by the product's own code."""

import shutil
from typing import NamedTuple

import numpy as np
import pytest
from standins import models as standins
from standins.server import HubServer

from harness import testing
from harness.toolkit.neural import known_encoders as dense
from harness.types import Facts
from harness_colbert import registry as colbert
from harness_crossencoder import registry as crossencoder
from harness_splade import registry as splade

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytestmark = [pytest.mark.extras, pytest.mark.slow]

TEXTS = [
    "the castle of the island",
    "winter",
    "北京是中国的首都。",
    "painter of the harbour, naïve café! " * 3,
    "",
]
QUERIES = ["castle island", "when was the railway built", "北京"]
FACTS = Facts("en", "en", "passage")
UNREAD = (".onnx", ".onnx_data", ".h5", ".msgpack", ".ot", ".py", ".xml", "weight.bin", "openvino_model.bin")


class Case(NamedTuple):
    plugin: str
    name: str  # as a suite writes it
    repositories: tuple[str, ...]


CASES = [
    *(Case("dense", known.name, (known.passages, *filter(None, [known.queries]))) for known in dense.MODELS),
    *(
        Case("splade", known.name, (known.passages, *filter(None, [known.queries])))
        for known in splade.MODELS
    ),
    *(Case("colbert", known.name, (known.passages,)) for known in colbert.MODELS),
    *(Case("crossencoder", known.name, (known.model,)) for known in crossencoder.MODELS),
    Case("doct5query", "castorini/doc2query-t5-base-msmarco", ("castorini/doc2query-t5-base-msmarco",)),
]
STARTS = [  # what trainers start from, and what encodes queries for a split
    *("nghuyong/ernie-1.0-base-zh", "nghuyong/ernie-2.0-base-en", "google-bert/bert-base-chinese"),
    *("google-bert/bert-base-multilingual-cased", "hfl/chinese-roberta-wwm-ext", "hfl/chinese-macbert-base"),
]
CASES += [Case("start", name, (name,)) for name in STARTS]


def test_every_model_that_is_named_has_a_stand_in_and_every_stand_in_is_named():
    named = {name for case in CASES for name in case.repositories}
    assert named ^ set(standins.NAMES) == {
        "jinaai/jina-bert-implementation",  # code, of which nothing is read
        "HuggingFaceTB/SmolLM2-135M-Instruct",  # of a committed suite, which is rehearsed
    }


@pytest.fixture(scope="module")
def roots(tmp_path_factory):
    """The stand-ins as they are published, and with the same weights as safetensors alone."""
    return tmp_path_factory.mktemp("published"), tmp_path_factory.mktemp("safetensors")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.plugin}-{case.name}".replace("/", "-"))
def test_a_published_model_gives_what_its_weights_give_as_safetensors(case, roots, tmp_path, monkeypatch):
    published, converted = roots
    for name in case.repositories:
        as_safetensors(name, standins.make(name, published), converted)
    with HubServer(published) as hub, HubServer(converted) as other:
        here = computed(case, hub, tmp_path / "published", monkeypatch)
        assert here == computed(case, other, tmp_path / "safetensors", monkeypatch)
        asked = {
            line.rpartition("/resolve/")[2].partition("/")[2] for line in hub.requests if "/resolve/" in line
        }
    assert [name for name in asked if name.endswith(UNREAD)] == []
    assert not {"model.safetensors", "pytorch_model.bin"} <= asked
    assert not [
        name for name in asked if name.endswith("_0_MLMTransformer/model.safetensors")
    ]  # the other tower's


def as_safetensors(name, folder, root):
    from safetensors.torch import save_file

    to = root / folder.relative_to(folder.parents[2])
    if to.is_dir():
        return
    for old in standins.MOVED:
        if name == old:
            shutil.copytree(folder.parents[2] / "models" / old, root / "models" / old)
    weights = {path.stem: path for path in [*folder.glob("*_linear.pt"), *folder.glob("pytorch_model.bin")]}
    shutil.copytree(
        folder,
        to,
        ignore=shutil.ignore_patterns(
            "*.bin", "*.pt", *("*.safetensors" if "pytorch_model" in weights else "-",)
        ),
    )
    for stem, path in weights.items():
        tensors = torch.load(path, weights_only=True)
        target = to / f"{'model' if stem == 'pytorch_model' else stem}.safetensors"
        save_file({name: tensor.clone() for name, tensor in tensors.items()}, target, {"format": "pt"})


def computed(case, hub, folder, monkeypatch):
    """What the plugin computes, as bytes, with an empty cache of the hub's client."""
    from huggingface_hub import constants

    from harness.toolkit.neural import models

    models._asked.cache_clear()
    cache = str(folder / "cache")
    monkeypatch.setenv("HF_HUB_CACHE", cache)
    monkeypatch.setenv("HF_TOKEN", "hf_standin")  # one model is gated
    for name, value in {
        "ENDPOINT": hub.url,
        "HUGGINGFACE_CO_URL_TEMPLATE": hub.url + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": cache,
        "HF_HUB_OFFLINE": False,
        "HF_HUB_DISABLE_XET": True,
    }.items():
        monkeypatch.setattr(constants, name, value)
    return {"crossencoder": scored, "doct5query": asked_for}.get(case.plugin, searched)(case, folder)


def searched(case, folder):
    if case.plugin == "splade":
        from harness_splade import SpladeParams as Params
        from harness_splade import resolve
        from harness_splade.retriever import Sparse as Method
    elif case.plugin == "colbert":
        from harness_colbert import RetrieverParams as Params
        from harness_colbert import resolve
        from harness_colbert.retriever import LateRetriever as Method
    else:
        from harness_dense import DenseParams as Params
        from harness_dense import resolve
        from harness_dense.retriever import Dense as Method
    more = {"pooling": "cls", "similarity": "dot", "normalise": False} if case.plugin == "start" else {}
    given = Params(model=case.name, dtype="fp32", **more)
    params = resolve(given, FACTS)
    corpus = testing.texts(TEXTS)
    index = folder / "index"
    index.mkdir(parents=True)
    method = Method(params)
    method.index(corpus, index)
    hits = method.open(corpus, index).search(QUERIES, len(TEXTS))
    assert resolve(given, FACTS) == params  # a model that is here by now has the key that it was planned with
    assert np.isfinite(hits.scores[hits.passages >= 0]).all()
    assert (hits.passages >= 0).any()
    files = {path.name: path.read_bytes() for path in sorted(index.rglob("*")) if path.is_file()}
    return {**files, "passages": hits.passages.tolist(), "scores": hits.scores.tobytes()}


def scored(case, folder):
    from harness_crossencoder import CrossEncoderParams, resolve
    from harness_crossencoder.scorer import CrossEncoder

    given = CrossEncoderParams(model=case.name, dtype="fp32")
    params = resolve(given, FACTS)
    scorer = CrossEncoder(params).open(testing.texts(TEXTS), None)
    scores = scorer.score(QUERIES, np.tile(np.arange(len(TEXTS)), (len(QUERIES), 1)))
    assert len(set(scores.ravel().tolist())) > 5
    assert resolve(given, FACTS) == params
    return scores.tobytes()


def asked_for(case, folder):
    from harness_doct5query import DocT5QueryParams, resolve
    from harness_doct5query.augmenter import Augmenter

    augmenter = Augmenter(resolve(DocT5QueryParams(model=case.name, queries=2, query_length=4), FACTS))
    return [augmenter.queries(text) for text in TEXTS]
