"""faiss indexes behind one parameter: what they find is scored exactly, and what they miss is told."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from harness.catalogue import params as strict
from harness.errors import HarnessError
from harness.toolkit.search import exact
from harness_dense.faiss_options import Faiss

pytestmark = pytest.mark.extras

KINDS = ["Flat", "HNSW16", "IVF16,Flat", "PQ8x4", "IVF16,SQ8", "PCA16,Flat"]
KINDS += [pytest.param("OPQ8,IVF8,PQ8x4", marks=pytest.mark.slow)]  # it learns a rotation in many rounds


@pytest.fixture
def faiss():
    pytest.importorskip("faiss", reason="needs the extra faiss")
    from harness_dense import faiss_search

    return faiss_search


def made(count=3000, d=32, seed=5):
    """Vectors around twenty centres, as texts are around topics."""
    chance = np.random.default_rng(seed)
    centres = chance.standard_normal((20, d), np.float32) * 2
    return centres[chance.integers(20, size=count)] + chance.standard_normal((count, d), np.float32)


VECTORS, QUERIES = made(), made(40, seed=6)


def test_a_flat_index_finds_what_exact_search_finds(faiss):
    index = faiss.build(VECTORS, Faiss("Flat"))
    places, scores = faiss.search(index, QUERIES, VECTORS, 20)
    wanted, values = exact.search(QUERIES, VECTORS, 20)
    assert places.tolist() == wanted.tolist()
    assert scores.tobytes() == values.tobytes()
    assert faiss.measured(index, QUERIES, VECTORS, 20) == {
        "recall": 1.0,
        "recall_at": 20,
        "recall_queries": 40,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_finds_much_of_it_and_says_how_much(faiss, kind):
    index = faiss.build(VECTORS, Faiss(kind))
    report = faiss.measured(index, QUERIES, VECTORS, 10)
    places, _ = faiss.search(index, QUERIES, VECTORS, 10)
    wanted, _ = exact.search(QUERIES, VECTORS, 10)
    share = np.mean(
        [len(set(a) & set(b)) / 10 for a, b in zip(places.tolist(), wanted.tolist(), strict=True)]
    )
    assert report["recall"] == pytest.approx(share)
    assert report["recall"] > 0.1  # chance is 0.003
    assert (np.diff(exact.score(QUERIES, VECTORS, places), axis=1) <= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_is_the_same_every_time(faiss, kind):
    import faiss as library

    first, second = (library.serialize_index(faiss.build(VECTORS[:1000], Faiss(kind))) for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize(
    ("few", "many"),
    [
        (Faiss("IVF64,Flat", probes=1), Faiss("IVF64,Flat", probes=64)),
        (Faiss("HNSW4", ef_search=10), Faiss("HNSW4", ef_search=2000)),
    ],
)
def test_more_cells_and_more_neighbours_find_more(faiss, few, many):
    less, more = (
        faiss.measured(faiss.build(VECTORS, options), QUERIES, VECTORS, 10)["recall"]
        for options in (few, many)
    )
    assert less < more
    assert more > 0.8


def test_half_precision_and_short_lists_are_no_matter(faiss):
    halves = VECTORS[:5].astype(np.float16)
    index = faiss.build(halves, Faiss("HNSW4"))
    places, _ = faiss.search(index, QUERIES, halves, 20)
    assert np.sort(places, axis=1).tolist() == [[0, 1, 2, 3, 4]] * len(QUERIES)


def test_no_queries_and_no_vectors_are_no_error(faiss):
    index = faiss.build(VECTORS[:0], Faiss("Flat"))
    assert faiss.search(index, QUERIES, VECTORS[:0], 5)[0].shape == (40, 0)
    assert faiss.search(index, QUERIES[:0], VECTORS[:0], 5)[0].shape[0] == 0


def test_an_index_that_the_vectors_do_not_fit_says_what_to_do(faiss):
    with pytest.raises(HarnessError, match="'PQ7' of 3000 vectors of 32 numbers"):
        faiss.build(VECTORS, Faiss("PQ7"))
    with pytest.raises(HarnessError, match="'IVF64,Flat' of 10 vectors"):
        faiss.build(VECTORS[:10], Faiss("IVF64,Flat"))


def test_the_seed_chooses_what_is_learnt_from(faiss, monkeypatch):
    monkeypatch.setattr(faiss, "TRAINING", 1100)
    first, again, other = (
        faiss.search(faiss.build(VECTORS, Faiss("IVF16,Flat", seed=seed, probes=1)), QUERIES, VECTORS, 10)[0]
        for seed in (1, 1, 2)
    )
    assert first.tolist() == again.tolist() != other.tolist()


def test_threads_are_as_before(faiss):
    import faiss as library

    before = library.omp_get_max_threads()
    faiss.build(VECTORS[:50], Faiss("Flat"))
    assert library.omp_get_max_threads() == before


@dataclass(frozen=True)
class Params:
    search: Literal["exact"] | Faiss = "exact"


def test_a_suite_says_it_in_one_parameter():
    for given, wanted in (
        ("exact", "exact"),
        ({"faiss": "HNSW32"}, Faiss("HNSW32")),
        (
            {"faiss": "OPQ16_64,IVF256_HNSW32,PQ16x4fs", "probes": 4},
            Faiss("OPQ16_64,IVF256_HNSW32,PQ16x4fs", probes=4),
        ),
    ):
        value, problems = strict.convert(Params, {"search": given}, Path())
        assert (value, problems) == (Params(wanted), [])


@pytest.mark.parametrize("name", ["HNWS32", "IVF,Flat", "Flat,", "", "IVF0,Flat"])
def test_what_is_no_index_is_refused_while_planning(name):
    _, problems = strict.convert(Params, {"search": {"faiss": name}}, Path())
    assert len(problems) == 1
    assert "are Flat, HNSW32" in problems[0].text


@pytest.fixture
def two_gpus(faiss, monkeypatch):
    """A faiss that was built for GPUs, in a machine that has two; what it is asked to put there is listed."""
    import faiss as library

    asked = []

    class Cloning:
        shard = False

    def to_gpus(index, cloning):
        if type(index).__name__.startswith("IndexHNSW"):
            raise RuntimeError(
                "Error in faiss/gpu/GpuCloner.cpp:293: This index type is not implemented on GPU."
            )
        asked.append(cloning.shard)
        return index

    monkeypatch.setattr(library, "StandardGpuResources", object, raising=False)
    monkeypatch.setattr(library, "GpuMultipleClonerOptions", Cloning, raising=False)
    monkeypatch.setattr(library, "get_num_gpus", lambda: 2)
    monkeypatch.setattr(library, "index_cpu_to_all_gpus", to_gpus, raising=False)
    return asked


def test_an_index_goes_to_all_gpus_whole_or_in_parts(faiss, two_gpus):
    for gpus in ("replicate", "shard"):
        options = Faiss("Flat", gpus=gpus)
        _, facts = faiss.placed(faiss.build(VECTORS, options), options, "cuda")
        assert facts == {"faiss_device": "cuda", "faiss_gpus": 2, "faiss_spread": gpus}
    assert two_gpus == [False, True]


def test_no_gpu_is_used_where_the_device_is_a_cpu(faiss, two_gpus):
    index = faiss.build(VECTORS, Faiss("Flat"))
    assert faiss.placed(index, Faiss("Flat"), "cpu") == (index, {"faiss_device": "cpu"})
    assert two_gpus == []


def test_an_index_that_gpus_do_not_have_stays_on_the_cpu_and_the_row_says_why(faiss, two_gpus):
    index = faiss.build(VECTORS[:50], Faiss("HNSW4"))
    assert faiss.placed(index, Faiss("HNSW4"), "cuda") == (
        index,
        {"faiss_device": "cpu", "faiss_fallback": "This index type is not implemented on GPU"},
    )


def test_a_faiss_without_gpus_says_so_where_a_gpu_was_asked_for(faiss):
    import faiss as library

    if hasattr(library, "StandardGpuResources"):
        pytest.skip("this faiss is built for GPUs")
    index = faiss.build(VECTORS[:50], Faiss("Flat"))
    _, facts = faiss.placed(index, Faiss("Flat"), "cuda")
    assert "install faiss-gpu" in facts["faiss_fallback"]
