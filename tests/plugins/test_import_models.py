"""Imported checkpoints compute what rocketqa on Paddle computed from the same files, and nothing of a
checkpoint is lost unseen."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from standins import paddle as standin
from standins import t2ranking_models

from harness import cli, testing
from harness.errors import HarnessError
from harness.types import Facts

pytest.importorskip("safetensors")
from harness_import_models import ernie, paddle_files, paddle_pickles, t2ranking

pytestmark = pytest.mark.extras
FACTS = json.loads(Path(standin.__file__).with_name("paddle_facts.json").read_bytes())
T2RANKING = json.loads(Path(standin.__file__).with_name("t2ranking_facts.json").read_bytes())
QUERIES, TITLES, TEXTS = FACTS["queries"], FACTS["titles"], FACTS["texts"]
NO_TITLES = [""] * len(TEXTS)


def imported(tmp_path, name, form="separate"):
    arguments = standin.release(tmp_path / "release", name, form)
    assert cli.main(["import-model", *arguments, "--out", str(tmp_path / "out" / name)]) == 0
    return tmp_path / "out" / name


def vectors(folder, texts, titles=None, length=384):
    dense = pytest.importorskip("harness_dense")
    towers = pytest.importorskip("harness_dense.towers")
    params = dense.DenseParams(
        model=folder, titles="none" if titles is None else "pair", dtype="fp32", passage_length=length
    )
    tower = towers.passages(dense.resolve(params, Facts("en", "en", "passage")))
    tokens, _ = towers.prepared(tower, texts, titles)
    return np.stack(tower.forwards[0](tokens))


def scores(folder, texts, queries=QUERIES, **which):
    crossencoder = pytest.importorskip("harness_crossencoder")
    scorer = pytest.importorskip("harness_crossencoder.scorer")
    params = crossencoder.CrossEncoderParams(**{"model": folder, "dtype": "fp32", **which})
    opened = scorer.CrossEncoder(crossencoder.resolve(params, Facts("en", "en", "passage"))).open(
        testing.texts(list(texts)), None
    )
    return opened.score(queries, np.arange(len(texts))[:, None])[:, 0]


@pytest.mark.parametrize("name", ["v1_marco_de", "zh_dureader_de", "v2_marco_de"])
def test_vectors_are_those_of_rocketqa(name, tmp_path):
    folder, facts = imported(tmp_path, name), FACTS["models"][name]
    query, passage = (folder, folder) if name == "v2_marco_de" else (folder / "query", folder / "passage")
    for computed, wanted in (
        (vectors(query, QUERIES, length=32), facts["queries"]),
        (vectors(passage, TEXTS, TITLES, 128), facts["titled"]),
        (vectors(passage, TEXTS, NO_TITLES, 128), facts["untitled"]),
    ):
        np.testing.assert_allclose(computed, wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["v1_marco_ce", "zh_dureader_ce", "v2_marco_ce"])
def test_scores_are_those_of_rocketqa(name, tmp_path):
    folder, facts = imported(tmp_path, name), FACTS["models"][name]
    # rocketqa gives the probability of the second class, and the logit of a joint encoder
    which = {} if name == "v2_marco_ce" else {"model": None, "models": (folder,)}
    # a space between title and text would be dropped with the others, and make one word of two
    apart = "\n" if name.startswith("zh") else " "
    titled = [f"{title}{apart}{text}".strip() for title, text in zip(TITLES, TEXTS, strict=True)]
    np.testing.assert_allclose(scores(folder, TEXTS, **which), facts["untitled"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(scores(folder, titled, **which), facts["titled"], rtol=0, atol=1e-5)


@pytest.mark.parametrize("form", ["combined", "pdparams"])
@pytest.mark.parametrize("name", ["v1_marco_de", "v2_marco_ce", "cross_params"])
def test_every_form_of_a_checkpoint_gives_the_same_bytes(name, form, tmp_path):
    one, other = imported(tmp_path / "1", name), imported(tmp_path / "2", name, form)
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert files
    assert all((one / path).read_bytes() == (other / path).read_bytes() for path in files)


@pytest.mark.parametrize("name", standin.ARCHIVES)
def test_each_archive_becomes_the_folders_that_the_page_names(name, tmp_path):
    page = Path(__file__).parents[2].joinpath("docs/import-model.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.count("|") == 4 and f"`{name}`" in line)
    folder = imported(tmp_path, name)
    made = {path.parent for path in folder.rglob("model.safetensors")}
    named = [part.strip("`") for part in row.split("|")[2].strip().split(", ")]
    assert made == {folder.parent / part.replace("NAME", name, 1) for part in named}


def plain(**more):
    """The tensors and the configuration of a cross-encoder, in memory."""
    settings = standin.configuration(chinese=False) | more
    return standin.network("", settings, 1) | standin.classifier("_cls_out", True, 1), settings


def test_what_training_left_is_counted_and_what_is_missing_or_strange_is_refused():
    tensors, settings = plain()
    one = tensors["pooled_fc.b_0"]
    spare = ("encoder_layer_0_ffn_fc_0.b_0_moment1_0", "_cls_out_w_beta1_pow_acc_0", "learning_rate_0")
    pretraining = ("mask_lm_trans_fc.w_0", "next_sent_fc.w_0")
    tasks = ("task_embedding", "query_pos_embedding")
    _, left = ernie.networks(tensors | dict.fromkeys((*spare, *pretraining, *tasks), one), settings, {})
    assert list(left.values()) == [3, 2, 1, 1]
    with pytest.raises(HarnessError, match="has adapter_w, which have no place"):
        ernie.networks(tensors | {"adapter_w": one}, settings, {})
    with pytest.raises(HarnessError, match=r"lacks encoder_layer_2_ffn_fc_0.b_0, .* and 12 more"):
        ernie.networks(tensors, settings | {"num_hidden_layers": 3}, {})
    with pytest.raises(HarnessError, match=r"encoder_layer_1_.* and 12 more, which have no place"):
        ernie.networks(tensors, settings | {"num_hidden_layers": 1}, {})
    with pytest.raises(HarnessError, match="vocab_size is 99 in the configuration and 1"):
        ernie.networks(tensors, settings | {"vocab_size": 99}, {})


def test_paddlenlps_names_are_known_and_task_ids_need_ernie():
    tensors, settings = plain(use_task_id=True)
    [static], _ = ernie.networks(tensors, settings, {})
    assert static.config["architectures"] == ["ErnieForSequenceClassification"]
    rows = (*ernie._EMBEDDINGS, ernie._TASKS, ernie._NORM, ernie._POOLER, *ernie._LAYER)
    ends = {".w_0": ".weight", ".b_0": ".bias", "_scale": ".weight", "_bias": ".bias", "": ""}
    renamed = {"classifier.weight": tensors["_cls_out_w"], "classifier.bias": tensors["_cls_out_b"]}
    for name, tensor in tensors.items():
        layer = name[14:15] if name.startswith("encoder_layer_") else ""
        bare = name.removeprefix(f"encoder_layer_{layer}_")
        new = [b + ends[bare[len(a) :]] for _, a, b in rows if bare.startswith(a) and bare[len(a) :] in ends]
        renamed |= {f"ernie.{f'encoder.layers.{layer}.' if layer else ''}{name}": tensor for name in new}
    [dynamic], left = ernie.networks(renamed, settings, {})
    assert (dynamic.config, dynamic.tensors.keys()) == (static.config, static.tensors.keys())
    assert not left
    assert all(np.array_equal(dynamic.tensors[name], static.tensors[name]) for name in static.tensors)


class Evil:
    def __init__(self, module, name, *arguments):
        self.made = (getattr(__import__(module), name), arguments)

    def __reduce__(self):
        return self.made


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (pickle.dumps({"w": Evil("os", "mkdir", "executed")}), r"asks for \w+.mkdir, which can run code"),
        (pickle.dumps({"w": Evil("builtins", "eval", "1")}, 2), "asks for __builtin__.eval"),
        (pickle.dumps({"w": np.array([object()])}), "asks for builtins.object"),
        (pickle.dumps({"w": np.array(["a"], dtype=object)}), "its type is"),
        (pickle.dumps({"w": 1}), "'w' is no array"),
        (pickle.dumps([1]), "it holds a list"),
        (pickle.dumps({"w": np.ones(9)})[:-20], "no file of parameters"),
        (b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x00.", "no file of parameters"),
        (b"\x80\x05\x96\0\0\0\0\0\x80\0\0.", "cut short"),  # 128 TB of bytes, says the file
        (pickle.dumps({(1, 2): 1}), "no text"),
        (b"", "no file of parameters"),
    ],
)
def test_a_pickle_of_anything_but_arrays_is_refused_and_not_executed(content, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("model.pdparams").write_bytes(content)
    with pytest.raises(HarnessError, match=why):
        paddle_pickles.read(Path("model.pdparams"))
    assert not Path("executed").exists()


@pytest.mark.parametrize("protocol", range(6))
def test_pickled_arrays_of_every_protocol_are_read(protocol, tmp_path):
    saved = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.asfortranarray(np.ones((2, 3)))}
    (tmp_path / "p").write_bytes(pickle.dumps(saved | {"StructuredToParameterName@@": {"a": "x"}}, protocol))
    read = paddle_pickles.read(tmp_path / "p")
    assert read.keys() == saved.keys()
    assert all(np.array_equal(read[name], saved[name]) for name in saved)


WHOLE = standin.tensor(np.ones((2, 3), np.float32))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (WHOLE[:-1], "23 bytes for the shape"),
        (WHOLE[:10], "cut short"),
        (WHOLE[:22], "cut short"),
        (WHOLE + b"1", "1 bytes follow"),
        (b"{}" * 20, "does not begin as a tensor"),
        (WHOLE.replace(b"\x08\x05\x10", b"\x08\x03\x10"), "Paddle's type 3"),
        (WHOLE.replace(b"\x08\x05\x10", b"\x0b\x05\x10"), "no message of protobuf"),
        (b"", "cut short"),
    ],
)
def test_a_damaged_file_of_a_tensor_is_refused(content, why, tmp_path):
    (tmp_path / "w").write_bytes(content)
    with pytest.raises(HarnessError, match=why):
        paddle_files.Separate(tmp_path)["w"]


@pytest.mark.parametrize(("count", "why"), [(1, "ends after 1 of the 2"), (3, "goes on after the 2")])
def test_a_program_and_its_parameters_must_have_the_same_tensors(count, why, tmp_path):
    (tmp_path / "__params__").write_bytes(WHOLE * count)
    (tmp_path / "__model__").write_bytes(standin.program({"a": (2, 3), "b": (2, 3)}))
    with pytest.raises(HarnessError, match=why):
        paddle_files.combined(tmp_path / "__params__", tmp_path / "__model__")


def test_nothing_is_written_over_and_missing_parts_are_named(tmp_path, capsys):
    arguments = standin.release(tmp_path, "marco_dual_encoder_v0")
    assert cli.main(["import-model", *arguments, "--out", str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert cli.main(["import-model", *arguments[:3], "--out", str(tmp_path / "out")]) == 2
    assert "has no configuration; name it by --config" in capsys.readouterr().err


WORDS = b"[CLS]\t0\n[SEP]\t1\n[PAD]\t2\n[UNK]\t3\n"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("vocab.txt", WORDS + b"a\tb\n", "vocab.txt:5: 'b' is not the number of a token"),
        ("vocab.txt", WORDS + b"a\t999999999999\n", "is not the number of a token"),  # so many lines
        ("vocab.txt", b"\xff\xfe", "cannot be read as a vocabulary"),
        ("ernie_config.json", b'{"init_args": ["x"]}', "has no num_hidden_layers"),
        ("config.json", b'{"model_checkpoint_path": "x"}', "has no model_conf_path, model_vocab_path"),
    ],
)
def test_a_strange_vocabulary_or_configuration_is_refused(name, content, why, tmp_path, capsys):
    place = Path(standin.release(tmp_path, "v1_marco_de")[2])
    for path in place.rglob("*"):
        if path.name == name or (path.suffix == ".txt" and name == "vocab.txt"):
            path.write_bytes(content)
    (place / name).write_bytes(content)
    if name == "ernie_config.json":
        (place / "config.json").unlink()
        (place / "vocab.txt").write_bytes(WORDS)
    assert cli.main(["import-model", "--from", "paddle", str(place), "--out", str(tmp_path / "out")]) == 2
    assert why in capsys.readouterr().err


@pytest.fixture
def base(tmp_path):
    """The model that T2Ranking's checkpoints begin as, and the shapes of its tensors."""
    return tmp_path / "base", t2ranking_models.base(tmp_path / "base")


@pytest.mark.parametrize(("name", "module"), [("DE1", ""), ("DE2", "module."), ("CE", ""), ("CE", "module.")])
def test_t2rankings_checkpoints_compute_what_its_code_does(name, module, base, tmp_path):
    pytest.importorskip("torch")
    checkpoint = t2ranking_models.release(tmp_path / "data", name, base[1], module)
    out, command = tmp_path / "out", ["import-model", "--from", "t2ranking", str(checkpoint)]
    assert cli.main([*command, "--base", str(base[0]), "--out", str(out)]) == 0
    facts = T2RANKING.get(name)
    if name == "CE":
        computed = scores(out, T2RANKING["texts"], T2RANKING["queries"], length=64)
        np.testing.assert_allclose(computed, facts, rtol=0, atol=1e-5)
    elif facts:
        for part, texts in (("query", "queries"), ("passage", "texts")):
            computed = vectors(out / part, T2RANKING[texts], length=64)
            np.testing.assert_allclose(computed, facts[texts], rtol=0, atol=1e-5)
    assert json.loads(next(out.rglob("config.json")).read_bytes())["vocab_size"] == len(standin.VOCABULARY)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (
            {"encoder.layer.1.output.dense.bias": None},
            r"lacks lm_q.encoder.layer.1.output.dense.bias \(1 such",
        ),
        ({"adapter.weight": (2,)}, r"has no place for lm_q.adapter.weight"),
        ({"embeddings.word_embeddings.weight": (9, 32)}, "vocab_size is .* and 9"),
    ],
)
def test_a_checkpoint_of_another_network_is_refused(changed, why, base, tmp_path):
    torch = pytest.importorskip("torch")
    shapes = {name: shape for name, shape in (base[1] | changed).items() if shape}
    checkpoint = t2ranking_models.release(tmp_path, "DE1", shapes)
    with pytest.raises(HarnessError, match=why):
        t2ranking.read(checkpoint, base[0])
    torch.save({"lm_q.a": torch.ones(1), "head": torch.ones(1)}, checkpoint)
    with pytest.raises(HarnessError, match="has head, which is of none"):
        t2ranking.read(checkpoint, base[0])
