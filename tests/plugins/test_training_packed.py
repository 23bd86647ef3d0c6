"""Training without padding equals the network's own code on padded batches, dropout included."""

import numpy as np
import pytest
import tiny_models

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

pytestmark = pytest.mark.extras

from harness_training import networks, packed  # noqa: E402

TEXTS = ["river", "stone old garden", "the winter north the river", "stone north", "old the", "garden"]


@pytest.fixture
def small_shares(monkeypatch):
    """Six texts make several shares, and two cores compute them."""
    monkeypatch.setattr(packed, "SHARE", 6)
    monkeypatch.setattr(packed, "SMALL", 0)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def slopes(tower, run):
    """The output, and the gradients by the names of the weights."""
    tower.train().keys.set((3, 1), range(len(TEXTS)))
    out = run(tower)
    (out * torch.arange(out.numel()).view(out.shape).sin()).sum().backward()
    given = {name: weight.grad for name, weight in tower.network.named_parameters()}
    return out.detach(), {name: slope for name, slope in given.items() if slope is not None}


def assert_alike(one, other):
    (first, first_slopes), (second, second_slopes) = one, other
    assert torch.allclose(first, second, atol=1e-5)
    assert first_slopes.keys() == second_slopes.keys()
    assert len(first_slopes) > 20
    for name, slope in second_slopes.items():
        assert torch.allclose(first_slopes[name], slope, atol=1e-5), name


@pytest.mark.parametrize("family", [tiny_models.bert, tiny_models.roberta])
@pytest.mark.parametrize("pooling", ["cls", "mean", "max", "last"])
def test_a_tower_without_padding_equals_the_padded_one(tmp_path, small_shares, family, pooling):
    family(tmp_path)
    results = []
    for padded in (False, True):
        tower = networks.Tower(tmp_path, pooling, True, 0.3, "fp32")
        assert tower.packed is not None
        tower.packed = None if padded else tower.packed
        results.append(slopes(tower, lambda tower: tower(TEXTS, 16)))
    assert_alike(*results)


def test_a_network_with_a_prefix_is_left_to_its_own_code(tmp_path):
    tiny_models.bert(tmp_path)
    tower = networks.Tower(tmp_path, "cls", True, 0.0, "fp32")
    assert packed.network(tower.network) is not None
    tower.network.encoder.layer[1].attention.self.harness_prefix = torch.zeros(2, 4)
    assert packed.network(tower.network) is None


@pytest.mark.parametrize("family", [tiny_models.bert, tiny_models.roberta])
def test_a_scorer_without_padding_equals_the_padded_one(tmp_path, small_shares, family):
    family(tmp_path)
    results = []
    for padded in (False, True):
        scorer = networks.Scorer(tmp_path, 2, 0.3, "fp32", seed=1)
        assert scorer.packed is not None
        scorer.packed = None if padded else scorer.packed
        results.append(slopes(scorer, lambda scorer: scorer(TEXTS[::-1], TEXTS, 24, 8)))
    assert_alike(*results)


def test_how_many_cores_there_are_changes_no_bit(tmp_path, small_shares):
    tiny_models.bert(tmp_path)
    results = []
    for cores in (1, 2, 3):
        torch.set_num_threads(cores)
        tower = networks.Tower(tmp_path, "mean", False, 0.3, "fp32")
        results.append(slopes(tower, lambda tower: tower(TEXTS, 16)))
    for out, given in results[1:]:
        assert torch.equal(out, results[0][0])
        assert all(torch.equal(given[name], slope) for name, slope in results[0][1].items())


def test_shares_are_neighbouring_texts_of_about_equal_size():
    lengths = np.array([300, 20, 384, 384, 7, 384, 90, 384, 384, 384, 384])
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    shares = packed._shares(bounds, np.arange(11, dtype=np.uint64))
    assert len(shares) == 2
    assert np.concatenate([share.lengths for share in shares]).tolist() == lengths.tolist()
    assert np.concatenate([share.keys for share in shares]).tolist() == list(range(11))
    sizes = [int(share.lengths.sum()) for share in shares]
    assert [share.start for share in shares] == [0, sizes[0]]
    assert abs(sizes[0] - sizes[1]) <= 2 * 384


def test_bf16_is_close_to_fp32(tmp_path):
    tiny_models.bert(tmp_path)
    towers = [networks.Tower(tmp_path, "cls", True, 0.1, dtype) for dtype in ("fp32", "bf16")]
    (exact, _), (rounded, given) = (slopes(tower, lambda tower: tower(TEXTS, 16)) for tower in towers)
    assert float((exact - rounded).abs().max()) < 0.02
    assert all(slope.dtype == torch.float32 for slope in given.values())


def test_a_network_that_is_not_known_is_trained_by_its_own_code(tmp_path):
    tiny_models.bert(tmp_path, hidden_act="gelu_new")
    tower = networks.Tower(tmp_path, "cls", True, 0.1, "fp32")
    assert tower.packed is None
    out, given = slopes(tower, lambda tower: tower(TEXTS, 16))
    assert out.shape == (6, 32)
    assert len(given) > 20
