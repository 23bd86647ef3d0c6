"""What can be wrong with a model, told by `dense` with what to do; and memory that runs out, which is survived."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import tiny_models

from harness import testing
from harness.errors import HarnessError
from harness.types import Facts

pytest.importorskip("transformers")
pytest.importorskip("tokenizers")

from harness_dense import DenseParams, resolve, towers
from harness_dense.retriever import Dense

pytestmark = pytest.mark.extras


def resolved(model, **given):
    params = DenseParams(model=model, **{"dtype": "fp32", "pooling": "mean", **given})
    return resolve(params, Facts("en", "en", "passage"))


def index(folder, params, texts=("the castle", "a painter of the harbour " * 5, "")):
    folder.mkdir(exist_ok=True)
    return Dense(params).index(testing.texts(list(texts)), folder)


class Hub:
    """A hub that knows one model with one branch."""

    def __init__(self, refusals):
        self.refusals = refusals

    def model_info(self, model, revision, timeout):
        def refused(kind):
            error = kind.__new__(kind)
            Exception.__init__(error, "404")
            return error

        if model != "some/model":
            raise refused(self.refusals.RepositoryNotFoundError)
        if revision != "main":
            raise refused(self.refusals.RevisionNotFoundError)
        raise AssertionError("not asked for here")


@pytest.mark.parametrize(("model", "revision", "culprit"), [
    ("some/model", "v9", "revision 'v9'"),
    ("no/model", "main", "no/model"),
])  # fmt: skip
def test_a_model_or_a_revision_that_the_hub_has_not_is_told_while_planning(
    model, revision, culprit, tmp_path, monkeypatch
):
    from harness.toolkit.neural import hub, models

    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub, "HfApi", lambda: Hub(hub.refusals))
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", False)
    models._asked.cache_clear()
    with pytest.raises(HarnessError, match=f"model: .*{culprit}"):
        resolved(model, revision=revision)


def test_a_tower_of_dpr_that_lacks_a_tensor(tmp_path):
    folder = tiny_models.bert(
        tmp_path / "model", prefix="ctx_encoder.bert_model.", pooler=False, model_type="dpr", projection_dim=0
    )
    tensors = tiny_models.read_safetensors(folder / "model.safetensors")
    del tensors["ctx_encoder.bert_model.embeddings.LayerNorm.bias"]
    tiny_models.safetensors(folder / "model.safetensors", tensors)
    with pytest.raises(HarnessError, match=r"lacks ctx_encoder\.bert_model\.embeddings\.LayerNorm\.bias"):
        index(tmp_path / "index", resolved(folder))


def with_a_head(folder, activation):
    """A model whose vectors go through a dense layer."""
    tiny_models.sentence_transformer(folder)
    modules = json.loads((folder / "modules.json").read_text())
    modules.append({"idx": 3, "name": "3", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    tiny_models.as_json(folder / "modules.json", modules)
    settings = {"in_features": 32, "out_features": 8, "activation_function": f"torch.nn.modules.{activation}"}
    tiny_models.as_json(folder / "2_Dense" / "config.json", settings)
    tensors = tiny_models.random_tensors({"linear.weight": (8, 32), "linear.bias": (8,)}, 1)
    tiny_models.safetensors(folder / "2_Dense" / "model.safetensors", tensors)
    return folder


def test_pickled_weights_of_network_and_layers_give_the_same_vectors(tmp_path):
    folder = with_a_head(tmp_path / "model", "linear.Identity")
    index(tmp_path / "index", resolved(folder))
    vectors = (tmp_path / "index" / "vectors.npy").read_bytes()
    index(tmp_path / "again", resolved(tiny_models.pickled(folder)))
    assert (tmp_path / "again" / "vectors.npy").read_bytes() == vectors


def test_a_module_outside_of_the_model_is_refused(tmp_path):
    folder = with_a_head(tmp_path / "model", "linear.Identity")
    listing = (folder / "modules.json").read_text()
    for path in ("../other", "/etc"):
        (folder / "modules.json").write_text(listing.replace("2_Dense", path))
        with pytest.raises(HarnessError, match=f"names the folder '{path}', which is outside"):
            index(tmp_path / "index", resolved(folder))


def test_towers_that_do_not_belong_together(tmp_path):
    passages = tiny_models.bert(tmp_path / "passages")
    queries = tiny_models.bert(tmp_path / "queries", hidden_size=16)
    params = resolved(passages, query_model=queries)
    index(tmp_path / "index", params)
    with pytest.raises(HarnessError, match=r"query_model: .* 16 .* 32"):
        Dense(params).open(testing.texts(["the castle"]), tmp_path / "index")


def test_an_activation_that_is_not_supported(tmp_path):
    folder = with_a_head(tmp_path / "model", "activation.Hardswish")
    with pytest.raises(HarnessError, match=r"2_Dense .*'Hardswish'"):
        index(tmp_path / "index", resolved(folder))


def test_a_batch_that_does_not_fit_the_memory_is_halved_and_said_so(tmp_path, monkeypatch, capsys):
    folder = tiny_models.sentence_transformer(tmp_path / "model")
    whole = towers.Vectors.__call__

    def scarce(self, batch):
        if len(batch.bounds) - 1 > 3:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")
        return whole(self, batch)

    texts = [f"castle number {i}" for i in range(10)]
    index(tmp_path / "roomy", resolved(folder), texts)
    monkeypatch.setattr(towers.Vectors, "__call__", scarce)
    report = index(tmp_path / "scarce", resolved(folder), texts)
    assert report["batches_split"] == 3  # 10 -> 5 + 5 -> 2 + 3 + 2 + 3
    assert "out of memory with 10 texts" in capsys.readouterr().err
    rows = [np.load(tmp_path / name / "vectors.npy") for name in ("roomy", "scarce")]
    assert rows[1] == pytest.approx(rows[0], abs=1e-5)


CODE = """
import torch
from transformers import BertConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput


class OtherConfig(BertConfig):
    model_type = "other"


class Other(PreTrainedModel):
    config_class = OtherConfig

    def __init__(self, config):
        super().__init__(config)
        self.words = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.post_init()

    def forward(self, input_ids, attention_mask=None, **others):
        return BaseModelOutput(last_hidden_state=self.words(input_ids))
"""


PROGRAM = """
import sys
from pathlib import Path

from harness import testing
from harness.types import Facts
from harness_dense import DenseParams, missing_files, resolve
from harness_dense.retriever import Dense

asked = DenseParams(
    model="some/model", dtype="fp32", pooling="mean", device="cpu", trust_remote_code=True,
    code_revision=sys.argv[2],
)
found = resolve(asked, Facts("en", "en", "passage"))
print(found.code_revision, missing_files(found))
Dense(found).index(testing.texts(["the castle"]), Path(sys.argv[1]))
"""


def test_code_of_another_model_of_the_hub_runs_at_the_commit_that_stands_in_the_key(tmp_path):
    """In a process of its own, as the hub's library reads where its cache is when it is imported."""
    hub, first, second = tmp_path / "hub", "a" * 40, "b" * 40
    model = hub / "models--some--model" / "snapshots" / ("c" * 40)
    code = {"AutoConfig": "some/code--other.OtherConfig", "AutoModel": "some/code--other.Other"}
    words = with_code(model, code)
    for commit, source in ((first, CODE), (second, CODE.replace("self.words(", "2 * self.words("))):
        folder = hub / "models--some--code" / "snapshots" / commit
        folder.mkdir(parents=True)
        (folder / "other.py").write_text(source)
    for name, commit in (("model", "c" * 40), ("code", first)):
        (hub / f"models--some--{name}" / "refs").mkdir()
        (hub / f"models--some--{name}" / "refs" / "main").write_text(commit)
    known = [tiny_models.VOCABULARY.index(piece) for piece in ("[CLS]", "the", "castle", "[SEP]")]
    for revision, commit, times in (("main", first, 1), (second, second, 2)):
        out = tmp_path / revision
        out.mkdir()
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(out), revision],
            env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_CACHE": str(hub), "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
        )
        assert (ran.returncode, ran.stdout) == (0, f"{commit} []\n"), ran.stderr
        assert np.load(out / "vectors.npy")[0] == pytest.approx(times * words[known].mean(axis=0), abs=1e-5)


def test_code_of_another_model_is_refused_where_its_commit_is_not_named(tmp_path):
    from harness.toolkit.neural import checkpoints

    with_code(tmp_path, {"AutoConfig": "some/code--other.OtherConfig", "AutoModel": "some/code--other.Other"})
    with pytest.raises(HarnessError, match="code from some/code"):
        checkpoints.load(tmp_path, trust_remote_code=True)


def with_code(folder, code):
    """A checkpoint that `CODE` reads, which its configuration looks for there; its words' vectors."""
    tiny_models.bert(folder, auto_map=code)
    config = json.loads((folder / "config.json").read_text()) | {"model_type": "other"}
    shape = (config["vocab_size"], config["hidden_size"])
    tensors = tiny_models.random_tensors({"words.weight": shape}, 1)
    tiny_models.write(folder, config, tensors)
    return tensors["words.weight"]


def test_code_that_comes_with_a_model_runs_only_where_the_suite_trusts_it(tmp_path, monkeypatch):
    folder = tmp_path / "model"
    words = with_code(folder, {"AutoConfig": "other.OtherConfig", "AutoModel": "other.Other"})
    (folder / "other.py").write_text(CODE)
    with pytest.raises(HarnessError, match="trust_remote_code: true"):
        resolved(folder)
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "code"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    report = index(tmp_path / "index", resolved(folder, trust_remote_code=True))
    assert report["dimension"] == 32
    rows = np.load(tmp_path / "index" / "vectors.npy")
    known = [tiny_models.VOCABULARY.index(piece) for piece in ("[CLS]", "the", "castle", "[SEP]")]
    assert rows[0] == pytest.approx(words[known].mean(axis=0), abs=1e-5)
