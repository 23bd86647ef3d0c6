"""Exact search against the plainest reading of it."""

import numpy as np
import pytest

from harness.toolkit.search import exact, exact_kernels, exact_scan, hamming

pytestmark = pytest.mark.extras


def every_pair(queries, vectors):
    """float32[Q, N]: the score of every pair."""
    places = np.broadcast_to(np.arange(len(vectors)), (len(queries), len(vectors)))
    return exact.score(queries, vectors, places)


def slow(queries, vectors, k):
    """Every pair scored, then sorted by score and place."""
    scores = every_pair(queries, vectors)
    places = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return places, np.take_along_axis(scores, places, axis=1)


def assert_same(found, wanted):
    """To the last bit."""
    assert found[0].tolist() == wanted[0].tolist()
    assert found[1].tobytes() == wanted[1].tobytes()
    assert (found[0].dtype, found[1].dtype) == (np.int64, np.float32)


@pytest.fixture
def random():
    return np.random.default_rng(7)


@pytest.fixture(params=["estimates in float32", "estimates in bfloat16", "estimates by a device of torch's"])
def scan(request, monkeypatch):
    if "device" in request.param:
        pytest.importorskip("torch")  # its device `cpu` stands in for a GPU
        monkeypatch.setattr(exact_scan, "choose", lambda asked, rows, centre: exact_scan.Torch(asked, "cpu"))
        return
    half = request.param == "estimates in bfloat16"
    if half and not exact_scan.has_bf16():
        pytest.skip("needs torch and a CPU that multiplies bfloat16")
    monkeypatch.setattr(exact_scan, "has_bf16", lambda: half)


def of_kind(random, kind, count, d):
    vectors = random.standard_normal((count, d), np.float32)
    if kind == "a narrow cone":  # as the vectors of many a model lie
        vectors = vectors * np.float32(0.2) + 1
    if kind == "of all lengths":
        vectors *= 10 ** random.uniform(-3, 3, (count, 1)).astype(np.float32)
    if kind == "many ties":
        vectors = np.sign(vectors)
    return vectors


KINDS = ["all directions", "a narrow cone", "of all lengths", "many ties"]


def test_scores_are_the_inner_products(random):
    queries, vectors = of_kind(random, "", 5, 100), of_kind(random, "", 50, 100)
    wanted = queries.astype(np.float64) @ vectors.astype(np.float64).T
    assert every_pair(queries, vectors) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.usefixtures("scan")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("queries", "d", "k"), [(70, 24, 10), (9, 100, 300), (20, 1, 3)])
def test_the_k_best_are_those_of_scoring_every_pair(random, kind, queries, d, k):
    asked, vectors = of_kind(random, kind, queries, d), of_kind(random, kind, 5000, d)
    assert_same(exact.search(asked, vectors, k), slow(asked, vectors, k))


@pytest.mark.usefixtures("scan")
def test_it_goes_on_over_blocks_and_passes(random, monkeypatch):
    monkeypatch.setattr(exact, "CELLS", 2 * exact.TILE * 16)
    monkeypatch.setattr(exact, "QUERIES", 11)
    asked, vectors = of_kind(random, "", 30, 16), of_kind(random, "", 9001, 16)
    assert_same(exact.search(asked, vectors, 20), slow(asked, vectors, 20))


@pytest.mark.parametrize("queries", [1, 3, 8])
def test_few_queries_are_compared_with_every_vector(random, queries):
    asked, vectors = of_kind(random, "", queries, 40), of_kind(random, "", 3000, 40)
    for threads in (1, 2, 5):
        assert_same(exact.search(asked, vectors, 7, threads=threads), slow(asked, vectors, 7))


def test_estimates_that_are_too_coarse_give_way_to_finer_ones(random, monkeypatch):
    class Useless(exact_scan.Singles):
        half, loaded = False, 0

        def load(self, block, pool):
            Useless.loaded += 1
            self.half = True  # as if in bfloat16, so that giving up is allowed
            return np.full(len(self._queries), np.inf)

        def estimates(self, a, z, first, last):
            return np.zeros((z - a, last - first), np.uint16)

    monkeypatch.setattr(exact, "CELLS", exact.TILE * 16)
    monkeypatch.setattr(exact_scan, "choose", lambda queries, rows, centre: Useless(queries))
    asked, vectors = of_kind(random, "", 30, 16), of_kind(random, "", 5000, 16)
    assert_same(exact.search(asked, vectors, 5), slow(asked, vectors, 5))
    assert Useless.loaded < 3


@pytest.mark.usefixtures("scan")
def test_an_estimate_is_never_further_below_its_score_than_is_said(random):
    for kind in KINDS:
        asked, vectors = of_kind(random, kind, 64, 50), of_kind(random, kind, 1024, 50)
        scan = exact_scan.choose(asked, 1024, vectors.mean(axis=0))
        with exact_scan.workers(1) as pool:
            slack = scan.load(vectors, pool)
        estimates = scan.estimates(0, 64, 0, 1024)
        if scan.half:
            estimates = (estimates.astype(np.uint32) << 16).view(np.float32)
        lowest = every_pair(asked, vectors).astype(np.float64) - slack[:, None]
        assert (estimates >= lowest - scan.coarse * np.abs(lowest)).all()


def test_vectors_of_half_precision_are_read_as_what_they_are(random):
    asked, vectors = of_kind(random, "", 20, 24), of_kind(random, "", 3000, 24).astype(np.float16)
    whole = vectors.astype(np.float32)
    assert_same(exact.search(asked, vectors, 10), slow(asked, whole, 10))
    within = random.integers(-1, 3000, (20, 30))
    assert_same(exact.search(asked, vectors, 10, within), exact.search(asked, whole, 10, within))


def test_vectors_may_be_mapped_from_a_file(random, tmp_path):
    np.save(tmp_path / "v.npy", of_kind(random, "", 3000, 24))
    asked, vectors = of_kind(random, "", 20, 24), np.load(tmp_path / "v.npy", mmap_mode="r")
    assert_same(exact.search(asked, vectors, 10), slow(asked, vectors, 10))


@pytest.mark.usefixtures("scan")
@pytest.mark.parametrize("queries", [2, 12])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_number_that_is_none_comes_first_and_is_not_lost(random, queries, bad):
    """So that the harness refuses the hits; a passage that is silently never found helps nobody."""
    vectors = of_kind(random, "", 3000, 8)
    vectors[2000, 3] = bad
    asked = np.abs(of_kind(random, "", queries, 8))
    places, scores = exact.search(asked, vectors, 3)
    assert (places[:, 0] == 2000).all()
    assert not np.isfinite(scores[:, 0]).any()


def test_ties_are_in_order_of_place():
    vectors = np.array([[1, 0], [0, 1], [1, 0], [1, 0]], np.float32)
    for queries in (1, 12):
        places, scores = exact.search(np.tile(np.float32([1, 0]), (queries, 1)), vectors, 2)
        assert places.tolist() == [[0, 2]] * queries
        assert scores.tolist() == [[1, 1]] * queries


def test_a_zero_is_a_zero_of_either_sign():
    places, _ = exact.search(np.float32([[1]]), np.float32([[-1], [-0.0], [0], [1]]), 4)
    assert places.tolist() == [[3, 1, 2, 0]]


def test_asking_for_more_than_there_is_gives_what_there_is():
    vectors = np.array([[-1.0], [-2.0]], np.float32)
    places, scores = exact.search(np.ones((1, 1), np.float32), vectors, 5)
    assert places.tolist() == [[0, 1]]
    assert scores.tolist() == [[-1, -2]]


def test_no_vectors_and_no_queries_are_no_error():
    assert exact.search(np.ones((2, 3), np.float32), np.ones((0, 3), np.float32), 5)[0].shape == (2, 0)
    assert exact.search(np.ones((0, 3), np.float32), np.ones((4, 3), np.float32), 5)[0].shape[0] == 0


def test_within_looks_only_at_the_places_named_and_once_at_each():
    vectors = np.array([[3.0], [-2.0], [1.0], [9.0]], np.float32)
    within = np.array([[2, 0, 1, 2], [-1, 1, -1, 1]])
    places, scores = exact.search(np.ones((2, 1), np.float32), vectors, 3, within)
    assert places.tolist() == [[0, 2, 1], [1, -1, -1]]
    assert scores.tolist() == [[3, 1, -2], [-2, -np.inf, -np.inf]]


def test_score_keeps_the_order_of_the_places():
    vectors = np.array([[3.0], [-2.0]], np.float32)
    scores = exact.score(np.ones((1, 1), np.float32), vectors, np.array([[1, -1, 0]]))
    assert scores.tolist() == [[-2, -np.inf, 3]]


def test_a_place_that_is_not_there_is_refused():
    with pytest.raises(IndexError, match="2 is not in 0 to 1"):
        exact.score(np.ones((1, 1), np.float32), np.ones((2, 1), np.float32), np.array([[2]]))


def test_keys_order_as_scores_do_and_are_read_back(random):
    scores = np.sort(np.concatenate([random.standard_normal(50), [0, -np.inf, np.inf]]).astype(np.float32))
    keys = exact_kernels.encode(scores, np.arange(len(scores)))
    assert (np.diff(keys.astype(object)) < 0).all()
    places, values = exact_kernels.decode(keys)
    assert places.tolist() == list(range(len(scores)))
    assert values.tolist() == scores.tolist()


def test_torch_keeps_its_threads():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    with exact_scan.workers(1) as pool:
        assert pool.submit(torch.get_num_threads).result() == 1
    assert torch.get_num_threads() == before


def test_every_number_of_16_bits_is_read_as_numpy_reads_it():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).reshape(256, 256)
    np.testing.assert_array_equal(exact._plain(halves), halves.astype(np.float32))


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
