"""Checkpoints and token states by torch: strict loading, and a packed pass that equals transformers' own."""

import json

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.toolkit.neural.tokens import Tokens, select

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from harness.toolkit.neural import checkpoints, torch_encoder, torch_packed  # noqa: E402

pytestmark = pytest.mark.extras

SIZES = {"vocab_size": 50, "max_position_embeddings": 40}
BERT = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 40} | SIZES
FAMILY = {
    "BertModel": ("BertConfig", BERT),
    "RobertaModel": ("RobertaConfig", BERT | {"type_vocab_size": 1, "pad_token_id": 1}),
    "XLMRobertaModel": ("XLMRobertaConfig", BERT | {"type_vocab_size": 1, "pad_token_id": 1}),
    "DistilBertModel": (
        "DistilBertConfig",
        {"dim": 24, "n_layers": 2, "n_heads": 3, "hidden_dim": 40} | SIZES,
    ),
}


def network(kind, **more):
    """A random network whose every part matters: large weights, biases and scales."""
    config, said = FAMILY[kind]
    torch.manual_seed(1)
    model = getattr(transformers, kind)(getattr(transformers, config)(**said | more))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape) * 0.2)
    return model.eval()


def some_tokens(lengths, types=False, padding=1):
    chance = np.random.default_rng(1)
    bounds = np.cumsum([0, *lengths])
    ids = chance.integers(4, 50, bounds[-1]).astype(np.int32)
    return Tokens(ids, bounds, chance.integers(0, 2, bounds[-1]).astype(np.int32) if types else None)


def packed(model):
    return torch_encoder.packed(torch_packed.pack(model, torch_packed.layout(model)))


LENGTHS = [30, 30, 30, 17, 5, 5, 2, 1]


@pytest.mark.parametrize("kind", FAMILY)
def test_the_packed_pass_equals_transformers(kind):
    model, tokens = network(kind), some_tokens(LENGTHS)
    expected = torch_encoder.through(model, model.config.pad_token_id, "cpu")(tokens)
    torch.testing.assert_close(packed(model)(tokens), expected, atol=1e-5, rtol=1e-5)


def test_types_of_a_pair_matter_and_are_equal_too():
    model, tokens = network("BertModel"), some_tokens(LENGTHS, types=True)
    found = packed(model)(tokens)
    torch.testing.assert_close(found, torch_encoder.through(model, 0, "cpu")(tokens), atol=1e-5, rtol=1e-5)
    assert (found - packed(model)(tokens._replace(types=None))).abs().max() > 0.1


def test_roberta_does_not_count_its_padding_token_within_a_text():
    model, tokens = network("RobertaModel"), some_tokens([6, 4])
    tokens.ids[2] = 1
    ids = torch.from_numpy(tokens.ids[None, :6].astype(np.int64))
    expected = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0]
    torch.testing.assert_close(packed(model)(tokens)[:6], expected, atol=1e-5, rtol=1e-5)


def test_a_text_does_not_depend_on_its_neighbours():
    model, tokens = network("BertModel"), some_tokens(LENGTHS)
    together = packed(model)(tokens)
    for text in range(len(LENGTHS)):
        alone = packed(model)(select(tokens, np.array([text])))
        own = together[tokens.bounds[text] : tokens.bounds[text + 1]]
        torch.testing.assert_close(alone, own, atol=1e-5, rtol=1e-5)


def test_a_text_without_tokens_leaves_its_neighbours_alone():
    model, tokens = network("BertModel"), some_tokens([4, 0, 0, 3])
    alone = packed(model)(select(tokens, np.array([0, 3])))
    torch.testing.assert_close(packed(model)(tokens), alone)


def test_long_texts_are_cut_into_runs_that_fit_the_cache(monkeypatch):
    model, tokens = network("BertModel"), some_tokens([20] * 5)
    whole = packed(model)(tokens)
    monkeypatch.setattr(torch_packed, "CACHED", 3 * 20 * 20 * 2)
    assert [run.texts for run in torch_packed.alike_runs(tokens.bounds, heads=3)] == [2, 2, 1]
    torch.testing.assert_close(packed(model)(tokens), whole)


@pytest.mark.parametrize(("dtype", "close"), [(torch.float32, 1e-5), (torch.bfloat16, 0.02)])
def test_attention_over_a_text_that_exceeds_the_cache_is_the_same_formula(dtype, close):
    if not torch_packed._supported(dtype):
        pytest.skip("this CPU does not multiply bf16")
    torch.manual_seed(1)
    qkv = torch.randn(1300, 3, 2, 8).to(dtype) / 2
    q, k, v = qkv.double().permute(1, 2, 0, 3)
    expected = (torch.softmax(q @ k.transpose(1, 2), -1) @ v).transpose(0, 1).reshape(1300, 16)
    alike = list(torch_packed.alike_runs(np.array([0, 1300]), 2))
    found = torch_packed._attention(qkv.reshape(1300, 48), 2, alike)
    torch.testing.assert_close(found.double(), expected, atol=close, rtol=close)


def test_bf16_is_close_to_fp32():
    model, tokens = network("BertModel"), some_tokens(LENGTHS)
    exact = packed(model)(tokens)
    rounded = model.to(torch.bfloat16)
    if torch_packed.layout(rounded) is None:
        pytest.skip("this CPU does not multiply bf16")
    found = packed(rounded)(tokens)
    assert found.dtype == torch.bfloat16
    assert torch.nn.functional.cosine_similarity(found.float(), exact).min() > 0.99


def test_a_pass_leaves_the_number_of_threads_as_it_was():
    before = torch.get_num_threads()
    packed(network("BertModel"))(some_tokens([3]))
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("more", [{"hidden_act": "relu"}, {"is_decoder": True}])
def test_a_relative_that_differs_is_left_to_transformers(more):
    assert torch_packed.layout(network("BertModel", **more)) is None


def test_other_networks_are_run_by_transformers_on_all_cores():
    config = transformers.MPNetConfig(**BERT | {"vocab_size": 60})
    model = transformers.MPNetModel(config).eval()
    tokens = some_tokens([5, 3])
    (encoder,) = torch_encoder.encoders(model, 1)
    ids = torch.from_numpy(tokens.ids[None, :5].astype(np.int64))
    expected = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0]
    torch.testing.assert_close(encoder(tokens)[:5], expected, atol=1e-5, rtol=1e-5)


def test_openvino_equals_transformers():
    openvino_encoder = pytest.importorskip("harness_dense.openvino_encoder", exc_type=ImportError)
    model, tokens = network("BertModel"), some_tokens(LENGTHS, types=True)
    expected = torch_encoder.through(model, 0, "cpu")(tokens)
    for encoder in openvino_encoder.encoders(model, 0, "fp32"):
        np.testing.assert_allclose(encoder(tokens), expected.numpy(), atol=1e-4, rtol=1e-4)


@pytest.fixture
def folder(tmp_path):
    network("BertModel").save_pretrained(tmp_path)
    return tmp_path


def rename(folder, change):
    """Change the names of a folder's tensors; those that become None are left out."""
    from safetensors.torch import save_file

    tensors = {change(name): tensor for name, tensor in checkpoints.weights(folder).items()}
    tensors.pop(None, None)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def test_a_whole_checkpoint_is_loaded_without_a_word(folder, capfd):
    model = checkpoints.load(folder, dtype="bf16")
    assert model.dtype == torch.bfloat16
    assert not model.training
    assert "".join(capfd.readouterr()) == ""


def test_a_missing_tensor_is_named(folder):
    gone = "encoder.layer.1.output.dense.weight"
    rename(folder, lambda name: None if name == gone else name)
    with pytest.raises(HarnessError, match=f"lacks {gone};"):
        checkpoints.load(folder)


def test_an_unexpected_tensor_is_named(folder):
    rename(folder, lambda name: name.replace("layer.1.output.dense.bias", "layer.1.output.other"))
    with pytest.raises(HarnessError, match=r"lacks .*dense\.bias and it has .*output\.other"):
        checkpoints.load(folder)


def test_heads_and_positions_that_a_bare_encoder_has_no_use_for_are_no_error(folder):
    rename(folder, lambda name: name.replace("pooler.dense", "cls.predictions.transform.dense"))
    checkpoints.load(folder)


def test_a_head_that_is_needed_and_not_there_is_an_error(folder):
    with pytest.raises(HarnessError, match=r"lacks cls\.predictions"):
        checkpoints.load(folder, "AutoModelForMaskedLM")
    with pytest.raises(HarnessError, match=r"lacks classifier\.bias, classifier\.weight"):
        checkpoints.load(folder, "AutoModelForSequenceClassification")


def test_a_configuration_of_other_shapes_is_an_error(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"intermediate_size": 44}))
    with pytest.raises(HarnessError, match=r"shapes to encoder\.layer\.0\.intermediate"):
        checkpoints.load(folder)


@pytest.mark.parametrize("shards", [1, 3])
def test_a_model_of_torch_s_archives_is_the_same_as_one_of_safetensors(folder, shards):
    expected = checkpoints.load(folder).state_dict()
    tensors = list(checkpoints.weights(folder).items())
    (folder / "model.safetensors").unlink()
    if shards == 1:
        torch.save(dict(tensors), folder / "pytorch_model.bin")
    else:
        names = {name: f"pytorch_model-{i % shards}.bin" for i, (name, _) in enumerate(tensors)}
        for file in sorted(set(names.values())):
            torch.save({name: tensor for name, tensor in tensors if names[name] == file}, folder / file)
        (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": names}))
    found = checkpoints.load(folder).state_dict()
    assert list(found) == list(expected)
    assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())


def test_a_folder_without_weights_is_refused(tmp_path):
    with pytest.raises(HarnessError, match=r"has none of model\.safetensors"):
        checkpoints.weights(tmp_path)


def test_weights_in_several_files_are_read_and_a_missing_file_is_named(folder):
    from safetensors.torch import save_file

    whole = checkpoints.weights(folder)
    (folder / "model.safetensors").unlink()
    names = sorted(whole)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, inside in parts.items():
        save_file({name: whole[name] for name in inside}, folder / file)
    settings = {name: file for file, inside in parts.items() for name in inside}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": settings}))
    found = checkpoints.weights(folder)
    assert all(torch.equal(found[name], whole[name]) for name in names)
    (folder / "b.safetensors").unlink()
    with pytest.raises(HarnessError, match=r"lacks b\.safetensors"):
        checkpoints.weights(folder)


def test_damaged_weights_are_refused(folder):
    (folder / "model.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(HarnessError, match=r"model\.safetensors is no file of safetensors"):
        checkpoints.weights(folder)
