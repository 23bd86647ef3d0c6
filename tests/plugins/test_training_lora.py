"""Low-rank adapters: they alone learn and are stored, `dense` and peft read them as they were trained."""

import dataclasses
import shutil

import pytest
import tiny_models

from harness.errors import HarnessError

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

pytestmark = pytest.mark.extras

from test_training_loop import TEXTS, assert_resumed_without_its_backbone, digests, trained  # noqa: E402

from harness.toolkit.neural import checkpoints, prefixes, tokens, torch_encoder  # noqa: E402
from harness_training import LoraParams, PromptsParams, loop, networks  # noqa: E402
from harness_training.lora import AdaptedTower, Lora  # noqa: E402
from harness_training.prompts import Prompts  # noqa: E402


def params(tmp_path, **more):
    folder = tmp_path / "init"
    if not folder.exists():
        tiny_models.sentence_transformer(folder)
    usual = {"epochs": 4, "batch": 5, "micro": 4, "lr": 0.02, "query_length": 8, "passage_length": 16}
    fixed = {"init": folder, "rank": 3, "alpha": 6.0, "dtype": "fp32", "device": "cpu"}
    return LoraParams(**fixed | usual | more)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The parameters of a training, the folder of its model, and its losses."""
    folder = tmp_path_factory.mktemp("made")
    given = params(folder, dropout=0.0, epochs=20)
    before = digests(given.init)
    _, losses = trained(Lora(given), folder / "out")
    assert digests(given.init) == before
    (folder / "out" / "model" / "backbone").symlink_to(given.init)
    return given, folder / "out" / "model", losses


def test_only_the_adapters_learn_and_are_stored(made):
    _, model, losses = made
    assert sum(losses[-5:]) < 0.9 * sum(losses[:5])
    assert not (model / "model.safetensors").exists()
    tensors = tiny_models.read_safetensors(model / "adapter_model.safetensors")
    assert {name.partition("self.")[2] for name in tensors} == {
        f"{matrix}.lora_{part}.weight" for matrix in ("query", "value") for part in "AB"
    }
    assert {tensor.shape for tensor in tensors.values()} == {(3, 32), (32, 3)}


def test_the_network_that_dense_reads_is_the_one_that_was_trained(made):
    """Merged there, and computed apart in training; without padding, and with it."""
    given, model, _ = made
    merged = networks.Tower(model, "auto", False, 0.0, "fp32").eval()
    apart, plain = (
        AdaptedTower(given, 0).eval(),
        networks.Tower(given.init, "auto", False, 0.0, "fp32").eval(),
    )
    tensors = tiny_models.read_safetensors(model / "adapter_model.safetensors")
    for name, module in apart.adapted.items():
        change = module.parametrizations.weight[0]
        for part, letter in ((change.down, "A"), (change.up, "B")):
            part.data = torch.tensor(tensors[f"base_model.model.{name}.lora_{letter}.weight"])
    with torch.no_grad():
        theirs, unchanged = merged(TEXTS, 16), plain(TEXTS, 16)
        assert torch.allclose(apart(TEXTS, 16), theirs, atol=1e-5)
        apart.packed = None
        assert torch.allclose(apart(TEXTS, 16), theirs, atol=1e-5)
    assert not torch.allclose(unchanged, theirs, atol=1e-2)


def test_an_adapter_begins_as_the_network_itself(tmp_path):
    given = params(tmp_path, dropout=0.0)
    adapted = AdaptedTower(given, 0).eval()
    plain = networks.Tower(given.init, "auto", False, 0.0, "fp32").eval()
    with torch.no_grad():
        assert torch.equal(adapted(TEXTS, 16), plain(TEXTS, 16))


def test_a_change_is_not_rounded_where_products_are_computed_in_bf16(tmp_path):
    """The matrices with their changes, and the gradients of A and B, are those of fp32; with padding too."""
    given = params(tmp_path, dropout=0.0, dtype="bf16", alpha=1.0)
    tower = AdaptedTower(given, 0).eval()
    [module, *_] = tower.adapted.values()
    change = module.parametrizations.weight[0]
    torch.nn.init.normal_(change.up, std=0.02)
    found = []
    for dtype in ("fp32", "bf16"):
        change.zero_grad()
        with networks.autocast(dtype, "cpu"):
            weight = module.weight
        (weight**2).sum().backward()
        found.append((weight.detach(), change.up.grad.clone(), change.down.grad.clone()))
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))
    with torch.no_grad():
        without_padding = tower(TEXTS, 16)
        tower.packed = None
        apart = (tower(TEXTS, 16) - without_padding).norm(dim=1) / without_padding.norm(dim=1)
    assert float(apart.max()) < 0.05


def test_an_adapter_of_a_network_with_a_prefix_keeps_the_prefix(tmp_path):
    start = params(tmp_path)
    prompted = PromptsParams(
        init=start.init, prefix=3, epochs=2, batch=5, lr=0.05, query_length=8, passage_length=16,
        dtype="fp32", device="cpu",
    )  # fmt: skip
    trained(Prompts(prompted), tmp_path / "prompted")
    (tmp_path / "prompted" / "model" / "backbone").symlink_to(start.init)
    given = dataclasses.replace(start, init=tmp_path / "prompted" / "model", dropout=0.0)
    trained(Lora(given), tmp_path / "out")
    (tmp_path / "out" / "model" / "backbone").symlink_to(given.init)
    begun = AdaptedTower(given, 0).eval()
    merged = checkpoints.load(tmp_path / "out" / "model")
    parts = tiny_models.read_safetensors(tmp_path / "out" / "model" / "adapter_model.safetensors")
    for name, module in begun.adapted.items():
        for part, letter in zip(("down", "up"), "AB", strict=True):
            tensor = torch.tensor(parts[f"base_model.model.{name}.lora_{letter}.weight"])
            getattr(module.parametrizations.weight[0], part).data = tensor
    encoded, _ = tokens.tokenise(begun.tokeniser, TEXTS, 16)
    with torch.no_grad():
        trained_vectors = begun(TEXTS, 16)
        [states] = torch_encoder.encoders(merged, begun.tokeniser.padding)
        rows = torch.split(states(encoded), (encoded.bounds[1:] - encoded.bounds[:-1]).tolist())
        assert torch.allclose(torch.stack([row.mean(dim=0) for row in rows]), trained_vectors, atol=1e-5)
        prefixes.place(merged, torch.zeros_like(prefixes.read(given.init)))
        assert not torch.allclose(states(encoded), torch.cat(rows), atol=1e-2)


@pytest.mark.filterwarnings("ignore")
def test_peft_reads_the_adapter(made):
    peft = pytest.importorskip("peft")
    from transformers import AutoModel

    given, model, _ = made
    theirs = peft.PeftModel.from_pretrained(AutoModel.from_pretrained(given.init), model).merge_and_unload()
    ours = checkpoints.load(model).state_dict()
    for name, tensor in theirs.state_dict().items():
        assert torch.allclose(tensor, ours[name], atol=1e-6), name


def test_a_killed_training_ends_in_the_same_bytes_and_keeps_no_backbone(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "SHARE", 0)
    assert_resumed_without_its_backbone(Lora, params(tmp_path), tmp_path)


def test_another_network_behind_an_adapter_is_refused(tmp_path):
    given = params(tmp_path, epochs=1)
    trained(Lora(given), tmp_path / "out")
    model = tmp_path / "out" / "model"
    shutil.copytree(given.init, model / "backbone")
    assert checkpoints.load(model) is not None
    other = tiny_models.random_tensors({"embeddings.word_embeddings.weight": (4, 32)}, seed=1)
    tiny_models.safetensors(model / "backbone" / "model.safetensors", other)
    with pytest.raises(HarnessError, match="model/backbone has other weights"):
        checkpoints.load(model)


def test_a_matrix_that_the_network_has_not_is_refused(tmp_path):
    with pytest.raises(HarnessError, match=r"matrices: .*'q_proj'"):
        trained(Lora(params(tmp_path, matrices=("query", "q_proj"))), tmp_path / "out")
