"""`dense` in fewer bytes: first numbers, int8 and bits, all from one encoding, searched as the peers do."""

import filecmp

import numpy as np
import pytest
import tiny_models

from harness import api, catalogue, testing
from harness.plugin import HarnessError
from harness.running import preparation
from harness.steps import Index
from harness.store.artifacts import Store
from harness.testing.texts import sentences
from harness.types import Facts, IndexPart
from harness_dense import DenseParams, hamming, resolve
from harness_dense.faiss_options import Faiss
from harness_dense.retriever import Dense

pytest.importorskip("tokenizers")
pytest.importorskip("torch")
pytest.importorskip("transformers")
pytestmark = pytest.mark.extras

QUERIES = ["castle of the island", "painter", ""]
FORMS = [
    {"dimensions": 16}, {"stored": "int8"}, {"stored": "binary"}, {"stored": "binary", "rescore": 0},
    {"stored": "binary", "rescore_by": "int8", "dimensions": 24},
]  # fmt: skip


def made(folder, **given):
    facts = Facts("en", "en", "passage")
    return Dense(resolve(DenseParams(model=folder, dtype="fp32", **given), facts))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_models.sentence_transformer(tmp_path_factory.mktemp("forms") / "model")


@pytest.fixture(scope="module")
def full(model, tmp_path_factory):
    """The folder with the full vectors, the texts, and the vectors of texts and queries."""
    folder, method, texts = tmp_path_factory.mktemp("full"), made(model), testing.texts(sentences(1500))
    method.index(texts, folder)
    return folder, texts, np.load(folder / "vectors.npy"), method.encode(QUERIES, True)


@pytest.mark.parametrize("given", FORMS, ids=str)
def test_a_form_is_the_same_from_the_full_vectors_from_the_texts_and_from_parts(given, model, full, tmp_path):
    source, texts, *_ = full
    derived, whole, joined = (tmp_path / name for name in ("derived", "whole", "joined"))
    parts = [IndexPart(0, 1024, tmp_path / "0"), IndexPart(1024, 1500, tmp_path / "1")]
    for folder in (derived, whole, joined, *(part.folder for part in parts)):
        folder.mkdir()
    method = made(model, **given)
    facts = method.derive(texts, source, derived)
    assert facts.items() <= method.index(texts, whole).items()
    for part in parts:
        method.index_part(texts, part.folder, part.start, part.stop)
    for _ in range(2):  # as after a kill
        method.join(texts, parts, joined)
    names = [path.relative_to(derived) for path in derived.rglob("*.npy")]
    for other in (whole, joined):
        assert not filecmp.cmpfiles(derived, other, names, shallow=False)[1:][0]
    size = sum((derived / name).stat().st_size - 128 for name in names if name.name != "neighbours.npy")
    assert size == 1500 * facts["bytes_a_text"]


def test_the_first_numbers_and_bits_are_those_of_sentence_transformers_and_of_faiss(model, full, tmp_path):
    quantization = pytest.importorskip("sentence_transformers.quantization")
    faiss = pytest.importorskip("faiss")
    source, texts, vectors, queries = full
    for given in FORMS:
        d = given.get("dimensions", 32)
        rows, asked = (
            part[:, :d] / np.linalg.norm(part[:, :d], axis=1)[:, None] for part in (vectors, queries)
        )
        folder = tmp_path / str(FORMS.index(given))
        folder.mkdir()
        method = made(model, **given)
        method.derive(texts, source, folder)
        hits = method.open(texts, folder).search(QUERIES, 20)
        if given.get("stored") != "binary":
            best = np.sort(asked @ rows.T, axis=1)[:, ::-1][:, :20]
            np.testing.assert_allclose(hits.scores, best, atol=0.01 if "stored" in given else 1e-5)
            continue
        codes, bits = (quantization.quantize_embeddings(part, "ubinary") for part in (rows, asked))
        assert (np.load(folder / "vectors.npy") == codes).all()
        index = faiss.IndexBinaryFlat(d)
        index.add(codes)
        wanted, _ = index.search(bits, 20 * (given.get("rescore", 4) or 1))
        if given.get("rescore") == 0:
            assert (hits.scores == d - 2 * wanted).all()  # the inner product of 1 and -1
            continue
        signs = np.unpackbits(codes, axis=1) * 2.0 - 1
        scored = rows if "rescore_by" in given else signs
        far = np.bitwise_count(codes[None] ^ bits[:, None]).sum(axis=2)
        for q in range(len(QUERIES)):  # of candidates that are equally far, the first ones
            near = np.argsort(far[q], kind="stable")[: wanted.shape[1]]
            best = np.sort(scored[near] @ asked[q])[::-1][:20]
            np.testing.assert_allclose(hits.scores[q], best, atol=0.01 if "rescore_by" in given else 1e-4)


def test_binary_fulfils_the_contract_of_retrievers(model, tmp_path):
    given = {"model": str(model), "dtype": "fp32", "stored": "binary", "rescore": 0}
    for case in testing.cases("retriever", "dense", given):
        if case.name in ("returns at most k", "fills short rows", "scores within exactly"):
            (tmp_path / case.name).mkdir()
            case(tmp_path / case.name)


def test_what_is_stored_in_full_anyway_has_one_key(model):
    assert made(model, keep_full=False)._params == made(model)._params
    assert made(model, keep_full=False, stored="int8")._params != made(model, stored="int8")._params


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"dimensions": 33}, "have 32 numbers"),
        ({"stored": "binary", "dimensions": 12}, "by eights"),
        ({"stored": "binary", "search": Faiss("Flat")}, "searched exactly"),
    ],
)
def test_what_cannot_be_is_refused(given, says, model, full, tmp_path):
    with pytest.raises(HarnessError, match=says):
        made(model, **given).derive(full[1], full[0], tmp_path)


SUITE = """
suite: forms
datasets: {{tour: tour}}
systems:
  form: {{retriever: {{dense: {{model: {model}, dtype: fp32, dimensions: [32, 16], stored: [fp32, int8, binary]}}}}}}
  alone: {{retriever: {{dense: {{model: {model}, dtype: fp32, stored: int8, keep_full: false}}}}}}
measures: [nDCG@10]
depth: 20
"""


@pytest.mark.slow
def test_a_grid_of_forms_encodes_once_and_each_row_has_the_bytes_of_its_own_form(model, tmp_path):
    (tmp_path / "suite.yaml").write_text(SUITE.format(model=model))
    store = Store(tmp_path / "store")
    plan = preparation.read(tmp_path / "suite.yaml", catalogue.load(), store).plan
    indexes = [step.record for step in plan.steps.values() if isinstance(step.record, Index)]
    assert sorted(index.source is None for index in indexes) == [False] * 5 + [True] * 2
    board = api.run(tmp_path / "suite.yaml", out=tmp_path / "out", store=store.root, quiet=True)
    rows = {row.system: row for row in board.rows}
    costs = {name: row.cost.bytes for name, row in rows.items()}
    grid = {name.removeprefix("form,"): row for name, row in rows.items() if name != "alone"}
    one = "dimensions=32,stored=int8"
    assert {row.status for row in rows.values()} == {"ok"}
    assert rows["alone"].measures == grid[one].measures
    assert costs["form,dimensions=16,stored=binary"] < costs["form,dimensions=32,stored=int8"]
    assert costs["form,dimensions=32,stored=int8"] < costs["form,dimensions=32,stored=fp32"]
    facts = [each.facts for each in grid["dimensions=16,stored=binary"].reported if each.step == "index"]
    assert [each["bytes_a_text"] for each in facts] == [32 * 4 + 8, 2 + 8]


@pytest.mark.parametrize("width", [48, 12, 5])
@pytest.mark.parametrize("queries", [2, 9])
def test_the_nearest_codes_are_those_of_fewest_different_bits_and_then_the_first(width, queries):
    random = np.random.default_rng(0)
    codes, asked = (random.integers(0, 256, (n, width), np.uint8) for n in (3000, queries))
    far = np.bitwise_count(asked[:, None] ^ codes[None]).sum(axis=2, dtype=np.int64)
    best = np.argsort(far, axis=1, kind="stable")
    for k, threads in ((1, 1), (100, 3), (4000, 2)):
        places, distances = hamming.search(asked, codes, k, threads=threads)
        assert (places == best[:, :k]).all()
        assert (distances == np.take_along_axis(far, best, axis=1)[:, :k]).all()
