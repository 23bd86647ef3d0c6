"""Token vectors in few bits and few of them: against plain readings of ColBERTv2's codec and of token pooling."""

import dataclasses

import numpy as np
import pytest
import tiny_heads

from harness import testing
from harness.errors import HarnessError
from harness.testing.texts import sentences
from harness.types import Facts, IndexPart
from harness_colbert import Approximate, Ivf, RetrieverParams, resolve, settings

pytest.importorskip("torch")
pytest.importorskip("transformers")

from harness_colbert import clusters, codec, compressing, model, pooling, storage
from harness_colbert.retriever import LateRetriever
from harness_colbert.storage import Index, Part

pytestmark = pytest.mark.extras

TEXTS = [*sentences(40), ""]
QUERIES = ["castle of the island", "painter", ""]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return tiny_heads.colbert(tmp_path_factory.mktemp("model") / "model")


def params(checkpoint, **more):
    return resolve(RetrieverParams(checkpoint, dtype="fp32", **more), Facts("en", "en", "passage"))


def opened(checkpoint, folder, texts=TEXTS, **more):
    corpus, method = testing.texts(texts), LateRetriever(params(checkpoint, **more))
    folder.mkdir(exist_ok=True)
    method.index(corpus, folder)
    return method.open(corpus, folder)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def unit(count, dimension=30, seed=0):
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def held(vectors):
    """An index of one part, with 10 vectors a text."""
    texts = len(vectors) // 10
    part = Part(np.arange(texts + 1) * 10, vectors.astype(np.float16))
    return Index(np.arange(texts), np.array([0, texts]), [part], vectors.shape[1])


@pytest.mark.parametrize(("bits", "likeness"), [(1, 0.87), (2, 0.95), (4, 0.99)])
def test_a_row_is_the_nearest_centroid_and_the_bucket_of_each_residual(bits, likeness):
    vectors = unit(4000)
    known = compressing.learnt(held(vectors), bits)
    rows = compressing.rows(known, vectors)
    nearest = (vectors @ known.centroids.T).argmax(axis=1)
    residuals = vectors - known.centroids[nearest]
    buckets = np.searchsorted(known.borders, residuals)  # as torch.bucketize has it
    spread = (buckets[:, :, None] >> np.arange(bits - 1, -1, -1)) & 1
    packed = np.packbits(spread.reshape(len(vectors), -1), axis=1)
    numbers = nearest.astype("<u2").view(np.uint8).reshape(-1, 2)  # 1,024 centroids
    assert rows.tolist() == np.hstack([numbers, packed]).tolist()
    read = codec.Compressed(known, rows)
    plain = known.centroids[nearest] + known.values[buckets]
    plain /= np.linalg.norm(plain, axis=1, keepdims=True)
    assert read[:] == pytest.approx(plain, abs=1e-6)
    assert np.array_equal(read[np.array([7, 3])], read[:][[7, 3]])
    assert np.array_equal(read.numbers(), nearest)
    assert (plain * vectors).sum(axis=1).mean() > likeness
    others = unit(2000, seed=5)
    residuals = others - known.centroids[(others @ known.centroids.T).argmax(axis=1)]
    shares = np.bincount(np.searchsorted(known.borders, residuals).ravel()) / residuals.size
    assert shares == pytest.approx(np.full(1 << bits, 1 / (1 << bits)), abs=0.03)


def test_a_passage_of_100_tokens_takes_less_than_4_kb_in_2_bits():
    sizes = {bits: 3 + codec.residual_bytes(128, bits) for bits in (1, 2, 4)}  # 3 bytes: 16 million centroids
    assert (sizes[1] * 100, sizes[2] * 100, sizes[4] * 100) == (1900, 3500, 6700)
    assert [codec.code_bytes(count) for count in (1, 256, 257, 65536, 65537)] == [1, 1, 2, 2, 3]


def test_compressed_vectors_score_nearly_as_stored_ones_and_less_with_fewer_bits(checkpoint, tmp_path):
    exact = opened(checkpoint, tmp_path / "exact", stored="fp32").search(QUERIES, 41)
    lost = []
    for bits in ("4bit", "2bit", "1bit"):
        hits = opened(checkpoint, tmp_path / bits, stored=bits).search(QUERIES, 41)
        scores, wanted = (np.take_along_axis(h.scores, h.passages.argsort(axis=1), 1) for h in (hits, exact))
        lost.append(float(np.abs(scores - wanted).mean()))
    assert lost[0] < lost[1] < lost[2]
    assert lost[1] < 0.2  # of 12


def test_parts_join_to_the_bytes_of_one_index_and_a_killed_compression_goes_on(
    checkpoint, tmp_path, monkeypatch
):
    monkeypatch.setattr(storage, "SHARD", 8)
    given, corpus = params(checkpoint, stored="2bit", pool=2), testing.texts(TEXTS)
    opened(checkpoint, tmp_path / "whole", stored="2bit", pool=2)
    whole, parts = files(tmp_path / "whole"), []
    assert not [name for name in whole if "vectors" in name]
    for start, stop in ((0, 16), (16, len(TEXTS))):
        folder = tmp_path / f"part{start}"
        folder.mkdir()
        LateRetriever(given).index_part(corpus, folder, start, stop)
        parts.append(IndexPart(start, stop, folder))
    (joined := tmp_path / "joined").mkdir()
    LateRetriever(given).join(corpus, parts, joined)
    assert files(joined) == whole
    (killed := tmp_path / "killed").mkdir()
    rows, calls = compressing.rows, []

    def thrice(*given):
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return rows(*given)

    monkeypatch.setattr(compressing, "rows", thrice)
    with pytest.raises(KeyboardInterrupt):
        LateRetriever(given).index(corpus, killed)
    monkeypatch.setattr(model.Passages, "__call__", lambda *_: pytest.fail("encoded again"))
    LateRetriever(given).index(corpus, killed)
    assert files(killed) == whole
    assert len(calls) == 3 + 4  # six shards, of which two had been compressed


def test_a_lost_compressed_shard_is_encoded_again(checkpoint, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "SHARD", 8)
    opened(checkpoint, folder := tmp_path / "index", stored="2bit")
    whole = files(folder)
    for name in ("000001.rows.bin", "000001.texts.npy", "codec.npz"):
        (folder / name).unlink()
        opened(checkpoint, folder, stored="2bit")
        assert files(folder) == whole


def test_the_centroids_of_compressed_vectors_choose_candidates(checkpoint, tmp_path):
    every = opened(checkpoint, tmp_path / "index", stored="2bit").search(QUERIES, 10)
    search = Approximate(Ivf(probes=1 << 10))
    hits = opened(checkpoint, tmp_path / "index", stored="2bit", search=search)
    assert hits.search(QUERIES, 10).passages.tolist() == every.passages.tolist()
    assert hits.report()["recall"] == 1
    with pytest.raises(HarnessError, match="2bit have centroids of their own"):
        params(checkpoint, stored="2bit", search=Approximate(Ivf(centroids=8)))


def test_an_empty_corpus_and_one_of_a_single_text_can_be_compressed(checkpoint, tmp_path):
    assert (opened(checkpoint, tmp_path / "none", [], stored="1bit").search(QUERIES, 3).passages == -1).all()
    assert (
        opened(checkpoint, tmp_path / "one", ["castle"], stored="1bit").search(QUERIES, 1).passages[0, 0] == 0
    )


def test_pooled_vectors_are_means_of_the_clusters_of_ward(checkpoint, tmp_path):
    vectors = unit(60, 8)
    for factor in (2, 3, 4):
        assert len(pooling.pooled(vectors, factor)) == 1 + 59 // factor
        late = pytest.importorskip("sentence_transformers", "6.0").multi_vector_encoder.modules
        torch = pytest.importorskip("torch")
        others = late.HierarchicalTokenPooling(factor, normalize_embeddings=False)
        assert pooling.pooled(vectors, factor) == pytest.approx(
            others.pool([torch.from_numpy(vectors)])[0].numpy(), abs=1e-6
        )
    assert pooling.pooled(vectors[:2], 4).tolist() == vectors[:2].tolist()


def test_pooling_reaches_the_index_the_stream_and_the_estimate_of_its_size(checkpoint, tmp_path):
    one, two = (storage.read(tmp_path / str(pool)) for pool in (1, 2) if opened(
        checkpoint, tmp_path / str(pool), stored="fp32", pool=pool
    ))  # fmt: skip
    for text in range(len(TEXTS)):
        begin, end = one.parts[0].bounds[text : text + 2]
        wanted = pooling.pooled(np.array(one.parts[0].vectors[begin:end]), 2)
        begin, end = two.parts[0].bounds[text : text + 2]
        assert np.array_equal(two.parts[0].vectors[begin:end], wanted)
    stream = opened(checkpoint, tmp_path / "none", stored="none", pool=2)
    stored = opened(checkpoint, tmp_path / "2", stored="fp32", pool=2)
    assert stream.search(QUERIES, 5).scores.tolist() == stored.search(QUERIES, 5).scores.tolist()
    sizes = [
        settings.index_bytes(dataclasses.replace(params(checkpoint, stored=stored, pool=pool))).token
        for stored, pool in (("fp16", 1), ("fp16", 2), ("2bit", 1), ("2bit", 2))
    ]
    assert sizes == [16, 8, 5, 2.5]  # of 8 dimensions
    for count in range(1, 40):
        assert len(pooling.pooled(unit(count), 3)) <= 2 + count / 3  # as the estimate has it


@pytest.mark.parametrize("stored", ["fp32", "2bit"])
def test_the_row_says_how_many_bytes_the_files_of_a_text_have(checkpoint, tmp_path, stored):
    facts = LateRetriever(params(checkpoint, stored=stored)).index(testing.texts(TEXTS), tmp_path)
    size = sum(len(data) for name, data in files(tmp_path).items() if name.endswith((".bin", ".npy", ".npz")))
    assert facts["bytes_a_text"] == pytest.approx(size / len(TEXTS), abs=0.05)


@pytest.mark.parametrize(("stored", "pool"), [("fp16", 1), ("1bit", 1), ("fp16", 2)])
def test_a_vector_that_is_not_finite_is_refused(checkpoint, tmp_path, monkeypatch, stored, pool):
    monkeypatch.setattr(model, "_projected", lambda states, _: np.full((len(states), 8), np.nan, np.float32))
    with pytest.raises(HarnessError, match="a token's is not finite; compute in fp32"):
        LateRetriever(params(checkpoint, stored=stored, pool=pool)).index(testing.texts(TEXTS), tmp_path)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(monkeypatch, threads):
    from harness.toolkit.neural import hardware

    vectors = unit(4000)
    expected = compressing.learnt(held(vectors), 2)
    monkeypatch.setattr(hardware, "threads", lambda: threads)
    again = compressing.learnt(held(vectors), 2)
    assert all(np.array_equal(one, two) for one, two in zip(expected, again, strict=True))
    assert np.array_equal(
        clusters.nearest(vectors, again.centroids), clusters.nearest(vectors, expected.centroids)
    )
