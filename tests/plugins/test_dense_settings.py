"""What stands in the key of `dense`: settings of the suite, the registry and the model's folder, without torch."""

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import tiny_models

from harness import catalogue
from harness.catalogue import params as strict
from harness.errors import HarnessError
from harness.plan import methods
from harness.toolkit.neural import known_encoders
from harness.types import Facts
from harness_dense import DenseParams, missing_files, resolve
from harness_dense.faiss_options import Faiss

pytestmark = pytest.mark.extras

DOCS = Path(__file__).parents[2] / "docs" / "models.md"


def resolved(model, **given):
    return resolve(DenseParams(model=model, **given), Facts("en", "en", "passage"))


@pytest.fixture(autouse=True)
def no_hub(monkeypatch, tmp_path):
    """No model is in the cache, and the hub is not asked."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("harness.toolkit.neural.models._asked", lambda model, revision: None)
    monkeypatch.setattr("harness.toolkit.neural.models.reachable", lambda model, revision: False)


def test_a_sentence_transformers_folder_needs_nothing_said(tmp_path):
    settings = {"prompts": {"query": "q: ", "passage": "p: "}, "similarity_fn_name": "dot"}
    settled = resolved(tiny_models.sentence_transformer(tmp_path, pooling="cls_token", settings=settings))
    assert (settled.pooling, settled.normalise, settled.similarity) == ("cls", True, "dot")
    assert (settled.query_prompt, settled.passage_prompt) == ("q: ", "p: ")
    assert (settled.query_length, settled.passage_length) == (48, 48)


def test_a_default_prompt_goes_before_both(tmp_path):
    settings = {"prompts": {"all": "it: "}, "default_prompt_name": "all"}
    settled = resolved(tiny_models.sentence_transformer(tmp_path, settings=settings))
    assert (settled.query_prompt, settled.passage_prompt) == ("it: ", "it: ")


def test_later_versions_write_the_way_to_pool_as_one_word(tmp_path):
    folder = tiny_models.sentence_transformer(tmp_path)
    settings = {"embedding_dimension": 32, "pooling_mode": "lasttoken", "include_prompt": True}
    tiny_models.as_json(folder / "1_Pooling" / "config.json", settings)
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["type"] = "sentence_transformers.base.modules.transformer.Transformer"
    modules[1]["type"] = "sentence_transformers.sentence_transformer.modules.pooling.Pooling"
    tiny_models.as_json(folder / "modules.json", modules)
    assert resolved(folder).pooling == "last"


def test_the_network_may_lie_in_a_folder_of_its_own(tmp_path):
    folder = tiny_models.sentence_transformer(tmp_path / "model")
    inner = folder / "0_Transformer"
    inner.mkdir()
    for name in ("config.json", "sentence_bert_config.json", "tokenizer_config.json", "model.safetensors"):
        (folder / name).rename(inner / name)
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["path"] = inner.name
    tiny_models.as_json(folder / "modules.json", modules)
    assert resolved(folder).passage_length == 48


def test_a_plain_folder_is_taken_as_it_comes_but_for_pooling(tmp_path):
    folder = tiny_models.bert(tmp_path)
    with pytest.raises(HarnessError, match="pooling: "):
        resolved(folder)
    settled = resolved(folder, pooling="mean")
    assert (settled.normalise, settled.similarity, settled.query_prompt) == (False, "dot", "")
    assert settled.passage_length == tiny_models.POSITIONS


def test_positions_of_roberta_begin_after_the_padding(tmp_path):
    folder = tiny_models.roberta(tmp_path)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    tiny_models.as_json(folder / "tokenizer_config.json", settings | {"model_max_length": 512})
    assert resolved(folder, pooling="cls").passage_length == 66 - 2


def test_a_length_beyond_the_models_places_is_refused(tmp_path):
    folder = tiny_models.sentence_transformer(tmp_path)
    with pytest.raises(HarnessError, match=r"query_length: 65 .* 64;"):
        resolved(folder, query_length=65)


def test_a_folder_may_have_the_settings_of_a_known_model(tmp_path):
    settled = resolved(tiny_models.bert(tmp_path), settings="bge-small-zh-v1.5")
    assert (settled.pooling, settled.normalise, settled.similarity) == ("cls", True, "cosine")
    assert settled.query_prompt == "为这个句子生成表示以用于检索相关文章："
    assert settled.passage_length == 64  # what the checkpoint has places for, though the model has 512
    assert settled.settings is None


def test_an_unknown_name_of_settings_or_a_model_is_told():
    with pytest.raises(HarnessError, match=r"settings: .*'bge-small-zh-v1'; did you mean 'bge"):
        resolved(Path(), settings="bge-small-zh-v1")
    with pytest.raises(HarnessError, match=r"model: .*'dragonplus'; did you mean 'dragon-plus'"):
        resolved("dragonplus")


def test_a_short_name_stands_for_both_towers_with_their_settings():
    settled = resolved("dragon-plus")
    assert settled.model == "facebook/dragon-plus-context-encoder"
    assert settled.query_model == "facebook/dragon-plus-query-encoder"
    assert (settled.pooling, settled.normalise, settled.similarity) == ("cls", False, "dot")
    assert (settled.query_length, settled.passage_length) == (512, 512)
    assert resolved("facebook/dragon-plus-context-encoder") == settled
    assert len(missing_files(settled)) >= 2  # both towers
    assert "hf download facebook/dragon-plus-query-encoder" in " ".join(map(str, missing_files(settled)))


def test_a_model_in_the_hubs_cache_is_read_there_at_its_commit(tmp_path):
    commit = "c" * 40
    at = tmp_path / "hub" / "models--some--model"
    tiny_models.sentence_transformer(at / "snapshots" / commit, pooling="max_tokens", length=40)
    (at / "refs").mkdir()
    (at / "refs" / "main").write_text(commit)
    settled = resolved("some/model")
    assert (settled.model, settled.revision) == ("some/model", commit)
    assert (settled.pooling, settled.query_length) == ("max", 40)
    (at / "snapshots" / commit / "model.safetensors").unlink()
    assert f"`hf download some/model --revision {commit}`" in missing_files(resolved("some/model"))[0]


def test_settings_of_two_towers_on_a_folder_need_the_other_folder(tmp_path):
    folder = tiny_models.bert(tmp_path)
    with pytest.raises(HarnessError, match=r"settings: dpr-nq .*query_model"):
        resolved(folder, settings="dpr-nq")
    assert resolved(folder, settings="dpr-nq", query_model=folder).query_model == folder


def test_a_prompt_of_the_suite_may_be_empty():
    assert resolved("e5-small-v2").query_prompt == "query: "
    assert resolved("e5-small-v2", query_prompt="").query_prompt == ""


def test_what_the_suite_says_comes_first():
    settled = resolved("e5-small-v2", pooling="cls", similarity="dot", normalise=False, passage_length=99)
    assert (settled.pooling, settled.similarity, settled.normalise) == ("cls", "dot", False)
    assert (settled.passage_length, settled.query_length) == (99, 512)


@pytest.mark.parametrize("known", known_encoders.MODELS, ids=lambda known: known.name)
def test_every_known_model_resolves_once_and_for_all(known):
    settled = resolved(known.name)
    assert settled.model == known.passages
    open_ = [name for name in DenseParams.__dataclass_fields__ if getattr(settled, name) == "auto"]
    assert open_ == []
    assert resolve(settled, Facts("en", "en", "passage")) == settled


def test_short_names_are_told_apart_and_lie_on_the_hub():
    names = [known.name for known in known_encoders.MODELS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[\w-]+/[\w.-]+", known.passages) for known in known_encoders.MODELS)


def test_the_page_of_models_has_every_known_model_with_its_settings():
    rows = {}
    for line in DOCS.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if line.startswith("| `") and len(cells) == 7:
            rows[cells[0].strip("`")] = cells[1:]
    assert list(rows) == known_encoders.names()
    for known in known_encoders.MODELS:
        assert rows[known.name] == row(known)


def row(known):
    """A model's cells in docs/models.md after its name."""
    towers = f"`{known.passages}`" + (f", `{known.queries}`" if known.queries else "")
    length = known.query_length or known.length
    prompts = [f"`{text}`" for text in (known.query_prompt, known.passage_prompt) if text]
    prompts = [
        text.replace("\n", "\\n").replace("|", "\\|") for text in prompts
    ]  # as a cell of a table has it
    lengths = str(known.length) if length == known.length else f"{length} / {known.length}"
    unit = f"{known.pooling}, length 1" if known.normalise else known.pooling
    return [towers, unit, known.similarity, lengths, " ".join(prompts), known.cite]


class TestBackend:
    def test_torch_unless_the_folder_holds_nothing_but_an_export(self, tmp_path):
        exported = tiny_models.onnx(tmp_path / "exported")
        given = {"pooling": "mean", "passage_length": 16, "query_length": 16}
        settled = resolved(exported, **given)
        assert (settled.backend, settled.dtype, settled.device) == ("onnx", "stored", "cpu")
        tiny_models.bert(exported)  # the folder has both now
        assert resolved(exported, **given).backend == "torch"

    @pytest.mark.parametrize(
        ("files", "backend"),
        [
            (("onnx/model.onnx", "onnx/model.onnx_data"), "onnx"),
            (("onnx/model.onnx", "model.safetensors"), "torch"),
            (
                ("onnx/model.onnx", "model.safetensors.index.json", "model-00001-of-00002.safetensors"),
                "torch",
            ),
            (("onnx/model.onnx", "2_Dense/model.safetensors"), "onnx"),
            (("onnx/model.onnx", "pytorch_model.bin"), "torch"),
            (("openvino/model.onnx",), "torch"),
        ],
    )
    def test_what_is_not_here_is_planned_by_what_the_hub_lists(self, tmp_path, monkeypatch, files, backend):
        commit = "c" * 40
        at = tmp_path / "hub" / "models--some--model" / "snapshots" / commit
        tiny_models.sentence_transformer(at)
        (at / "model.safetensors").unlink()  # only what describes the model is here
        answer = SimpleNamespace(commit=commit, files=("config.json", *files))
        monkeypatch.setattr("harness.toolkit.neural.models._asked", lambda model, revision: answer)
        assert resolved("some/model", revision=commit).backend == backend

    def test_an_export_has_its_own_dtype(self, tmp_path):
        folder = tiny_models.onnx(tmp_path)
        with pytest.raises(HarnessError, match="dtype: an ONNX file"):
            resolved(folder, pooling="mean", dtype="bf16")
        with pytest.raises(HarnessError, match="dtype: stored"):
            resolved(tiny_models.sentence_transformer(tmp_path / "st"), dtype="stored")

    def test_no_gpu_for_what_runs_on_the_cpu(self, tmp_path):
        with pytest.raises(HarnessError, match=r"device: .*onnx"):
            resolved(tiny_models.onnx(tmp_path), pooling="mean", device="cuda")

    def test_a_backend_that_is_not_installed_is_told_with_its_extra(self, tmp_path, monkeypatch):
        monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
        settled = resolved(tiny_models.onnx(tmp_path), pooling="mean")
        [need] = missing_files(settled)
        assert (need.modules, need.command) == (("onnxruntime",), "pip install 'passage-harness[onnx]'")


class TestRefused:
    def test_a_way_to_pool_that_is_not_supported(self, tmp_path):
        folder = tiny_models.sentence_transformer(tmp_path, pooling="mean_sqrt_len_tokens")
        with pytest.raises(HarnessError, match="by mean_sqrt_len_tokens"):
            resolved(folder)

    def test_a_module_that_is_not_supported(self, tmp_path):
        folder = tiny_models.sentence_transformer(tmp_path)
        modules = json.loads((folder / "modules.json").read_text())
        modules.append({"idx": 3, "name": "3", "path": "", "type": "sentence_transformers.models.LSTM"})
        tiny_models.as_json(folder / "modules.json", modules)
        with pytest.raises(HarnessError, match=r"a module 'LSTM'"):
            resolved(folder)

    def test_code_of_its_own_unless_the_suite_trusts_it(self, tmp_path):
        code = {"AutoModel": "modeling_other.Other"}
        folder = tiny_models.bert(tmp_path, auto_map=code, position_embedding_type="alibi")
        with pytest.raises(HarnessError, match="trust_remote_code"):
            resolved(folder, pooling="mean", passage_length=64, query_length=64)
        settled = resolved(folder, pooling="mean", passage_length=64, query_length=64, trust_remote_code=True)
        assert strict.plain(settled)["trust_remote_code"] is True  # as the key and the leaderboard have it


class TestCodeOfAnotherModel:
    """Jina's models name another model of the hub, which has the code."""

    COMMIT = "d" * 40
    CODE = "some/code--modeling_other.Other"

    def folder(self, tmp_path, **auto):
        said = auto or {"AutoConfig": "some/code--configuration.Its", "AutoModel": self.CODE}
        return tiny_models.bert(tmp_path / "model", auto_map=said, position_embedding_type="alibi")

    def given(self, **more):
        usual = {"pooling": "mean", "passage_length": 64, "query_length": 64, "trust_remote_code": True}
        return usual | more

    def in_the_cache(self, tmp_path):
        at = tmp_path / "hub" / "models--some--code"
        (at / "snapshots" / self.COMMIT).mkdir(parents=True)
        (at / "snapshots" / self.COMMIT / "modeling_other.py").touch()
        (at / "refs").mkdir()
        (at / "refs" / "main").write_text(self.COMMIT)

    def test_its_commit_stands_in_the_key(self, tmp_path):
        self.in_the_cache(tmp_path)
        settled = resolved(self.folder(tmp_path), **self.given())
        assert settled.code_revision == self.COMMIT
        assert "code_revision" not in catalogue.load().find("retrievers", "dense").record.search_only
        assert not [need for need in missing_files(settled) if "some/code" in need]
        assert resolve(settled, Facts("en", "en", "passage")) == settled

    def test_what_is_not_here_is_told_while_planning(self, tmp_path):
        settled = resolved(self.folder(tmp_path), **self.given(code_revision=self.COMMIT))
        assert f"`hf download some/code --revision {self.COMMIT}`" in missing_files(settled)[0]

    @pytest.mark.parametrize(("auto", "given", "fault"), [
        ({}, {"trust_remote_code": False}, "trust_remote_code"),
        ({"AutoModel": "modeling_other.Other"}, {"code_revision": COMMIT}, "code_revision: "),
        ({"AutoConfig": "other/code--configuration.Its", "AutoModel": CODE}, {}, "other/code and some/code"),
    ])  # fmt: skip
    def test_what_nobody_vouches_for_is_refused(self, tmp_path, auto, given, fault):
        with pytest.raises(HarnessError, match=fault):
            resolved(self.folder(tmp_path, **auto), **self.given(**given))


def test_planning_does_not_import_torch(tmp_path):
    pytest.importorskip("torch")
    folder = tiny_models.sentence_transformer(tmp_path)
    program = (
        "import sys; from pathlib import Path; from harness.types import Facts\n"
        "from harness_dense import DenseParams, missing_files, resolve\n"
        f"found = resolve(DenseParams(model=Path({str(folder)!r})), Facts('en', 'en', 'passage')); missing_files(found)\n"
        "print([name for name in ('torch', 'transformers', 'tokenizers') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("backend", "named"),
    [
        ("onnx", {"onnxruntime"}),
        ("torch", {"torch", "transformers"}),
        ("openvino", {"openvino", "torch", "transformers"}),
    ],
)
def test_versions_of_what_runs_a_model_count_for_the_index_and_of_a_search_for_the_search_alone(
    tmp_path, backend, named
):
    given = {"pooling": "mean", "passage_length": 16, "query_length": 16, "search": Faiss("Flat")}
    values = resolved(tiny_models.onnx(tmp_path), backend=backend, **given)
    entry = catalogue.load().find("retrievers", "dense")
    index, search = (
        set(methods.uses(entry, values, lambda path: "", leave_out).libraries)
        for leave_out in (entry.record.search_only, ())
    )
    assert index == {"tokenizers"} | named
    assert search - index == {"numba", "faiss-cpu", "faiss-gpu"}
    exact = dataclasses.replace(values, search="exact")
    assert "numba" in methods.uses(entry, exact, lambda path: "").libraries
