"""Prompt tuning: the prefix is past key-values, it alone learns and is stored, and `dense` reads it as it is."""

import pytest
import tiny_models

from harness.errors import HarnessError

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

pytestmark = pytest.mark.extras

from test_training_loop import QUERIES, TEXTS, assert_resumed_without_its_backbone, digests, trained  # noqa: E402

from harness.toolkit.neural import checkpoints, prefixes, tokens, torch_encoder  # noqa: E402
from harness_training import (  # noqa: E402
    CrossEncoderParams,
    DualEncoderParams,
    PromptsParams,
    RocketQAv2Params,
    loop,
    prompts,
)
from harness_training.cross_encoder import CrossEncoder  # noqa: E402
from harness_training.dual_encoder import DualEncoder  # noqa: E402
from harness_training.prompts import Prompts  # noqa: E402
from harness_training.rocketqav2 import RocketQAv2  # noqa: E402


def params(tmp_path, **more):
    folder = tmp_path / "init"
    if not folder.exists():
        tiny_models.sentence_transformer(folder)
    usual = {"epochs": 4, "batch": 5, "micro": 4, "lr": 0.05, "query_length": 8, "passage_length": 16}
    return PromptsParams(**{"init": folder, "prefix": 3, "dtype": "fp32", "device": "cpu"} | usual | more)


def test_a_prefix_is_what_transformers_calls_past_key_values(tmp_path):
    from transformers import DynamicCache

    folder = params(tmp_path).init
    own = checkpoints.load(folder)
    config = own.config
    heads, width = config.num_attention_heads, config.hidden_size // config.num_attention_heads
    torch.manual_seed(0)
    prefix = torch.randn(config.num_hidden_layers, 2, heads, 3, width)
    ids, mask = torch.tensor([[5, 6, 7, 8], [5, 9, 0, 0]]), torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
    cache = DynamicCache()
    for number, (key, value) in enumerate(prefix):
        cache.update(key.expand(2, -1, -1, -1), value.expand(2, -1, -1, -1), number)
    whole = torch.nn.functional.pad(mask, (3, 0), value=1)[:, None, None, :].bool()
    hidden = own.embeddings(input_ids=ids)
    theirs = own.encoder(hidden, attention_mask=whole, past_key_values=cache).last_hidden_state
    prefixes.install(own, prefix)
    ours = own(input_ids=ids, attention_mask=mask).last_hidden_state
    assert torch.allclose(ours[mask.bool()], theirs[mask.bool()], atol=1e-5)


@pytest.mark.parametrize("mlp", [False, True])
def test_only_the_prefix_learns_and_is_stored(tmp_path, mlp):
    given = params(tmp_path, mlp=mlp, mlp_width=8, epochs=20, dropout=0.0, lr=0.02)
    before = digests(given.init)
    _, losses = trained(Prompts(given), tmp_path / "out")
    assert sum(losses[-5:]) < sum(losses[:5])
    model = tmp_path / "out" / "model"
    assert not (model / "model.safetensors").exists()
    assert list(tiny_models.read_safetensors(model / "prefix.safetensors")) == ["prefix"]
    assert digests(given.init) == before


def test_inference_reads_the_prefix_as_training_saw_it(tmp_path):
    given = params(tmp_path, dropout=0.0)
    trained(Prompts(given), tmp_path / "out")
    model = tmp_path / "out" / "model"
    (model / "backbone").symlink_to(given.init)
    tower = prompts.PromptedTower(given, 0)
    tower.prefix.forward = lambda: prefixes.read(model)
    with torch.no_grad():
        ours = tower.eval()(TEXTS, 16)
    tokeniser = tokens.load(model)
    encoded, _ = tokens.tokenise(tokeniser, TEXTS, 16)
    [states] = torch_encoder.encoders(checkpoints.load(model), tokeniser.padding)
    rows = torch.split(states(encoded), (encoded.bounds[1:] - encoded.bounds[:-1]).tolist())
    theirs = torch.stack([row.mean(dim=0) for row in rows])
    assert torch.allclose(ours, theirs, atol=1e-5)
    plain = checkpoints.load(given.init)
    [states] = [torch_encoder.through(plain, tokeniser.padding, "cpu")]
    assert not torch.allclose(states(encoded), torch.cat(rows), atol=1e-2)


def test_a_killed_training_ends_in_the_same_bytes_and_keeps_no_backbone(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "SHARE", 0)
    assert_resumed_without_its_backbone(Prompts, params(tmp_path), tmp_path)


def test_another_network_behind_a_prefix_is_refused(tmp_path, monkeypatch):
    given = params(tmp_path, epochs=1)
    trained(Prompts(given), tmp_path / "out")
    model = tmp_path / "out" / "model"
    with pytest.raises(
        HarnessError, match=r"changes a network, whose weights .* not here; copy its folder to "
    ):
        checkpoints.load(model)
    monkeypatch.setenv("HARNESS_BACKBONES", f"{tmp_path / 'gone'}:{given.init}")
    assert checkpoints.load(model) is not None
    tensors = tiny_models.read_safetensors(given.init / "model.safetensors")
    tiny_models.safetensors(given.init / "model.safetensors", {name: tensors[name] + 1 for name in tensors})
    with pytest.raises(HarnessError, match="changes a network, whose weights"):
        checkpoints.load(model)


def test_queries_and_passages_may_have_a_prefix_each(tmp_path):
    trained(Prompts(params(tmp_path, untied=True, epochs=1)), tmp_path / "out")
    one, other = (
        tiny_models.read_safetensors(tmp_path / "out" / part / "prefix.safetensors")["prefix"]
        for part in ("query", "passage")
    )
    assert one.shape == other.shape
    assert (one != other).any()
    assert len(QUERIES) == 5


@pytest.mark.parametrize("kind", ["dual-encoder", "cross-encoder", "rocketqav2", "prompts"])
def test_a_trainer_that_would_lose_a_prefix_refuses_its_network(tmp_path, kind):
    trained(Prompts(params(tmp_path, epochs=1)), tmp_path / "out")
    start, common = tmp_path / "out" / "model", {"dtype": "fp32", "device": "cpu"}
    trainer = {
        "dual-encoder": lambda: DualEncoder(DualEncoderParams(init=start, **common)),
        "cross-encoder": lambda: CrossEncoder(CrossEncoderParams(init=start, **common)),
        "rocketqav2": lambda: RocketQAv2(RocketQAv2Params(init=start, init_reranker=start, **common)),
        "prompts": lambda: Prompts(params(tmp_path, init=start)),
    }[kind]()
    with pytest.raises(HarnessError, match=r"init: .*/out/model .*prefix"):
        trained(trainer, tmp_path / "again")
