"""Cross-encoders against a plain reading of their papers, on tiny checkpoints in the formats of real ones."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import slow_bert
import slow_t5
import tiny_crossencoders
import tiny_models

from harness import testing
from harness.catalogue import params as strict
from harness.errors import HarnessError
from harness.testing.texts import WORDS
from harness.types import Facts
from harness_crossencoder import CrossEncoderParams, libraries_by_param, missing_files, registry, resolve
from harness_crossencoder.scorer import CrossEncoder

pytestmark = pytest.mark.extras

TEXTS = ["the castle of the island", "", "river", " ".join(WORDS * 3), "!?", "a painter, of winter"]
QUERIES = ["castle island", "", "when was the old railway bridge of the town built " * 5, "painter"]
EVERY = np.tile(np.arange(len(TEXTS)), (len(QUERIES), 1))


def needed(*modules):
    for module in modules:
        pytest.importorskip(module)


def given(**said):
    value, problems = strict.convert(CrossEncoderParams, {"dtype": "fp32", **said}, Path())
    assert problems == []
    return resolve(value, Facts("en", "en", "passage"))


def opened(params, texts=TEXTS):
    return CrossEncoder(params).open(testing.texts(list(texts)), None)


def scored(folder, **said):
    """float32[Q, n]"""
    return opened(given(model=str(folder), **said)).score(QUERIES, EVERY)


def tokenised(folder, query, text, length):
    """The pair as the tokenizer's own library cuts and marks it: ids and types."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(length, strategy="longest_first")
    found = tokenizer.encode(query, text)
    return found.ids, found.type_ids


def plain(folder, length=64):
    """float64[Q, n, classes]: the logits of every pair, alone and without padding."""
    return np.array([[_logits(folder, *tokenised(folder, q, t, length)) for t in TEXTS] for q in QUERIES])


def _logits(folder, ids, types):
    tensors = tiny_models.read_safetensors(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    prefix = {"bert": "bert.", "ernie": "ernie."}.get(config["model_type"], "roberta.")
    body = {name.removeprefix(prefix): array for name, array in tensors.items()}
    if "embeddings.task_type_embeddings.weight" in body:  # every token has task 0
        task = body["embeddings.task_type_embeddings.weight"][0]
        words = "embeddings.word_embeddings.weight"
        body[words] = body[words] + task
    first = slow_bert.hidden_states(body, config, ids, types)[0]
    if prefix == "roberta.":
        pooled = np.tanh(slow_bert.linear(body, "classifier.dense", first))
        return slow_bert.linear(body, "classifier.out_proj", pooled)
    pooled = np.tanh(slow_bert.linear(body, "pooler.dense", first))
    return slow_bert.linear(body, "classifier", pooled)


class TestClassifiers:
    @pytest.fixture(autouse=True)
    def libraries(self):
        needed("torch", "transformers", "tokenizers", "safetensors")

    @pytest.fixture(params=["padded", "padding-free"])
    def batches(self, request, monkeypatch):
        """Both ways through an encoder, where the CPU has both."""
        from harness.toolkit.neural import torch_packed

        if request.param == "padded":
            monkeypatch.setattr(torch_packed, "layout", lambda model: None)
        return request.param

    @pytest.mark.parametrize(
        "make",
        [
            lambda folder: tiny_crossencoders.bert(folder),
            lambda folder: tiny_crossencoders.roberta(folder),
            lambda folder: tiny_crossencoders.roberta(folder, kind="xlm-roberta"),
        ],
        ids=["bert", "roberta", "xlm-roberta"],
    )
    def test_one_logit_equals_the_plain_reading_for_short_long_and_empty_texts(self, make, batches, tmp_path):
        folder = make(tmp_path / "model")
        assert scored(folder) == pytest.approx(plain(folder)[:, :, 0], abs=1e-4)

    @pytest.mark.parametrize("kind", ["bert", "ernie"])
    def test_of_two_classes_the_score_is_the_log_odds_of_the_second(self, kind, batches, tmp_path):
        make = {"bert": lambda at: tiny_crossencoders.bert(at, 2), "ernie": tiny_crossencoders.ernie}[kind]
        folder = make(tmp_path / "model")
        expected = np.exp(plain(folder))
        likely = expected[:, :, 1] / expected.sum(axis=2)
        assert scored(folder) == pytest.approx(np.log(likely / (1 - likely)), abs=1e-4)

    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize("kind", ["DistilBert", "Electra"])
    def test_other_families_give_what_transformers_computes(self, kind, batches, tmp_path):
        import torch
        import transformers

        folder = tiny_crossencoders.bert(tmp_path / "model")  # of which the tokenizer stays
        settings = {"vocab_size": len(tiny_models.VOCABULARY), "max_position_embeddings": 64, "num_labels": 2}
        settings |= {"DistilBert": {"dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 4}}.get(
            kind,
            {"hidden_size": 32, "embedding_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
             "num_attention_heads": 4},
        )  # fmt: skip
        torch.manual_seed(1)
        config = getattr(transformers, f"{kind}Config")(initializer_range=0.3, **settings)
        model = getattr(transformers, f"{kind}ForSequenceClassification")(config).eval()
        model.save_pretrained(folder)
        computed = scored(folder)
        for row, query in enumerate(QUERIES):
            for column, text in enumerate(TEXTS):
                ids, types = (torch.tensor([array]) for array in tokenised(folder, query, text, 64))
                given = {"token_type_ids": types} if kind == "Electra" else {}
                logits = model(input_ids=ids, **given).logits[0].tolist()
                assert computed[row, column] == pytest.approx(logits[1] - logits[0], abs=1e-4)

    @pytest.mark.filterwarnings("ignore")
    def test_sentence_transformers_gives_the_same_scores(self, tmp_path):
        """Somebody else's reading of the same checkpoint, where it is installed."""
        other = pytest.importorskip("sentence_transformers").CrossEncoder
        import torch

        folder = tiny_crossencoders.bert(tmp_path / "model")
        theirs = other(str(folder), max_length=64, device="cpu", activation_fn=torch.nn.Identity())
        expected = theirs.predict([(query, text) for query in QUERIES for text in TEXTS])
        assert scored(folder).ravel() == pytest.approx(expected, abs=1e-4)

    def test_half_precision_changes_scores_little_and_does_not_tie_them(self, tmp_path):
        folder = tiny_crossencoders.bert(tmp_path / "model")
        computed = scored(folder, dtype="bf16")
        assert computed == pytest.approx(plain(folder)[:, :, 0], abs=0.3)
        assert len(np.unique(computed)) == len(np.unique(scored(folder)))

    def test_the_passage_is_cut_first_and_the_query_to_its_own_length(self, tmp_path):
        folder = tiny_crossencoders.bert(tmp_path / "model")
        params = given(model=str(folder), length=24, query_length=4)
        scorer = opened(params)
        query = " ".join(WORDS[:9])
        computed = scorer.score([query], np.array([[3]]))
        short = " ".join(WORDS[:4])
        ids, types = tokenised(folder, short, TEXTS[3], 24)
        assert len(ids) == 24
        assert computed[0, 0] == pytest.approx(_logits(folder, ids, types)[0], abs=1e-4)
        from tokenizers import Tokenizer

        whole = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(query, TEXTS[3])
        assert scorer.report() == {"pairs": 1, "pairs_cut": 1, "tokens_lost": len(whole.ids) - 24}

    def test_only_what_is_no_filler_is_scored_and_counted(self, tmp_path):
        folder = tiny_crossencoders.bert(tmp_path / "model")
        scorer = opened(given(model=str(folder)))
        candidates = np.array([[5, -1, 0], [-1, -1, -1], [3, 3, 1], [2, 0, -1]])
        expected = np.take_along_axis(plain(folder)[:, :, 0], np.maximum(candidates, 0), axis=1)
        filled = candidates >= 0
        assert scorer.score(QUERIES, candidates)[filled] == pytest.approx(expected[filled], abs=1e-4)
        assert scorer.report()["pairs"] == 7

    def test_an_ensemble_averages_probabilities_or_logits(self, tmp_path):
        folders = [tiny_crossencoders.bert(tmp_path / f"{seed}", seed=seed) for seed in (1, 2)]
        folders.append(tiny_crossencoders.roberta(tmp_path / "other"))
        logits = np.array([plain(folder)[:, :, 0] for folder in folders])
        models = [str(folder) for folder in folders]
        computed = opened(given(models=models)).score(QUERIES, EVERY)
        assert computed == pytest.approx((1 / (1 + np.exp(-logits))).mean(axis=0), abs=1e-4)
        computed = opened(given(models=models, average="logits")).score(QUERIES, EVERY)
        assert computed == pytest.approx(logits.mean(axis=0), abs=1e-4)
        # a list of one gives probabilities, a single model its logits
        computed = opened(given(models=models[:1])).score(QUERIES, EVERY)
        assert computed == pytest.approx(1 / (1 + np.exp(-logits[0])), abs=1e-4)
        computed = opened(given(model=models[0])).score(QUERIES, EVERY)
        assert computed == pytest.approx(logits[0], abs=1e-4)

    def test_a_batch_that_does_not_fit_the_memory_is_halved_and_counted(self, tmp_path, monkeypatch, capsys):
        from harness_crossencoder import classifier

        folder = tiny_crossencoders.bert(tmp_path / "model")
        monkeypatch.setattr(classifier.torch_packed, "layout", lambda model: None)
        whole = classifier.Whole.__call__

        def scarce(self, batch):
            if len(batch.bounds) - 1 > 3:
                raise RuntimeError(
                    "DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"
                )
            return whole(self, batch)

        monkeypatch.setattr(classifier.Whole, "__call__", scarce)
        scorer = opened(given(model=str(folder)))
        assert scorer.score(["castle"], EVERY[:1]) == pytest.approx(
            np.array([[_logits(folder, *tokenised(folder, "castle", t, 64))[0] for t in TEXTS]]), abs=1e-4
        )
        assert scorer.report()["batches_split"] == 1
        assert "out of memory with 6 texts" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            (lambda tensors: tensors.pop("classifier.weight"), r"it lacks classifier\.weight; check that"),
            (lambda tensors: tensors.pop("bert.pooler.dense.bias"), r"it lacks bert\.pooler\.dense\.bias"),
            (
                lambda tensors: tensors.update({"bert.strange": np.zeros(3, np.float32)}),
                r"it has bert\.strange, which have no place",
            ),
        ],
        ids=["no head", "no pooler", "strange"],
    )
    def test_a_checkpoint_with_missing_or_strange_tensors_is_refused_by_name(self, change, problem, tmp_path):
        folder = tiny_crossencoders.bert(tmp_path / "model")
        tensors = tiny_models.read_safetensors(folder / "model.safetensors")
        change(tensors)
        tiny_models.safetensors(folder / "model.safetensors", tensors)
        with pytest.raises(HarnessError, match=problem):
            opened(given(model=str(folder)))

    def test_three_classes_are_refused(self, tmp_path):
        with pytest.raises(HarnessError, match="3 classes"):
            opened(given(model=str(tiny_crossencoders.bert(tmp_path / "model", 3))))

    def test_pickled_weights_give_the_same_scores(self, tmp_path):
        folder = tiny_crossencoders.bert(tmp_path / "model")
        expected = opened(given(model=str(folder))).score(QUERIES, EVERY)
        scorer = opened(given(model=str(tiny_models.pickled(folder))))
        assert np.array_equal(scorer.score(QUERIES, EVERY), expected)


class TestMonoT5:
    @pytest.fixture(autouse=True)
    def libraries(self):
        needed("torch", "transformers", "tokenizers", "safetensors")

    def test_the_score_is_the_log_probability_of_true_for_short_long_and_empty_texts(self, tmp_path):
        folder = tiny_crossencoders.t5(tmp_path / "model")
        assert given(model=str(folder)).kind == "monot5"
        computed = opened(given(model=str(folder))).score(QUERIES, EVERY)
        alone = opened(given(model=str(folder)))
        for row, query in enumerate(QUERIES):
            for column, text in enumerate(TEXTS):
                expected = answer(folder, f"Query: {query} Document: {text} Relevant:")
                assert computed[row, column] == pytest.approx(expected, abs=1e-4)
        assert alone.score(QUERIES[:1], EVERY[:1, 3:4])[0, 0] == pytest.approx(computed[0, 3], abs=1e-4)

    def test_the_prompt_is_never_cut(self, tmp_path):
        folder = tiny_crossencoders.t5(tmp_path / "model")
        scorer = opened(given(model=str(folder), length=20))
        computed = scorer.score(["castle"], np.array([[3]]))
        kept = " ".join(TEXTS[3].split()[: 20 - len(words(folder, "Query: castle Document: Relevant:"))])
        expected = answer(folder, f"Query: castle Document: {kept} Relevant:")
        assert computed[0, 0] == pytest.approx(expected, abs=1e-4)
        assert scorer.report()["pairs_cut"] == 1

    def test_a_checkpoint_that_lacks_a_tensor_is_refused_by_name(self, tmp_path):
        folder = tiny_crossencoders.t5(tmp_path / "model")
        tensors = tiny_models.read_safetensors(folder / "model.safetensors")
        name = "decoder.block.1.layer.1.EncDecAttention.q.weight"
        tensors.pop(name)
        tiny_models.safetensors(folder / "model.safetensors", tensors)
        with pytest.raises(HarnessError, match=f"it lacks {name}"):
            opened(given(model=str(folder)))

    def test_it_has_no_exported_form(self, tmp_path):
        with pytest.raises(HarnessError, match="monot5 runs by torch alone"):
            given(model=str(tiny_crossencoders.t5(tmp_path / "model")), backend="onnx", dtype="auto")


def words(folder, text):
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids


def answer(folder, prompt):
    """log p(true), over the two answers alone (Nogueira et al. 2020, section 3)."""
    tensors = tiny_models.read_safetensors(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    logits = slow_t5.first_logits(tensors, config, words(folder, prompt))
    true, false = (logits[tiny_crossencoders.T5_VOCABULARY.index(f"▁{word}")] for word in ("true", "false"))
    return true - np.logaddexp(true, false)


class TestOnnx:
    @pytest.fixture(autouse=True)
    def libraries(self):
        needed("onnxruntime", "tokenizers")

    def exported(self, folder, classes):
        return tiny_models.onnx(folder, pooled=True, width=classes)

    @pytest.mark.parametrize("classes", [1, 2])
    def test_an_exported_model_scores_each_pair_alone(self, classes, tmp_path):
        folder = self.exported(tmp_path / "model", classes)
        params = given(model=str(folder), dtype="auto", length=32)
        assert (params.backend, params.kind, params.dtype) == ("onnx", "classifier", "stored")
        table = tiny_models.random_tensors({"words": (len(tiny_models.VOCABULARY), classes)}, 1)["words"]
        logits = np.array(
            [[table[tokenised(folder, q, t, 32)[0]].mean(axis=0) for t in TEXTS] for q in QUERIES]
        )
        expected = logits[:, :, 1] - logits[:, :, 0] if classes == 2 else logits[:, :, 0]
        assert opened(params).score(QUERIES, EVERY) == pytest.approx(expected, abs=1e-4)

    def test_an_encoder_without_a_classifier_is_refused(self, tmp_path):
        folder = tiny_models.onnx(tmp_path / "model")
        with pytest.raises(HarnessError, match="only last_hidden_state"):
            opened(given(model=str(folder), dtype="auto"))

    def test_vectors_are_no_logits(self, tmp_path):
        folder = tiny_models.onnx(tmp_path / "model", pooled=True)
        with pytest.raises(HarnessError, match="32 numbers a pair"):
            opened(given(model=str(folder), dtype="auto")).score(QUERIES, EVERY)

    def test_a_gpu_is_refused(self, tmp_path):
        with pytest.raises(HarnessError, match=r"device: .*onnx"):
            given(model=str(self.exported(tmp_path / "model", 1)), dtype="auto", device="cuda")


class TestSettings:
    def test_a_short_name_stands_for_its_model(self, monkeypatch):
        monkeypatch.setattr("harness.toolkit.neural.models._asked", lambda model, revision: None)
        params = given(model="ms-marco-minilm-l12-v2", device="cpu")
        assert params.model == "cross-encoder/ms-marco-MiniLM-L-12-v2"
        assert (params.kind, params.length, params.backend) == ("classifier", 512, "torch")
        assert given(model="monot5-base-msmarco").kind == "monot5"
        assert missing_files(params)[0].startswith(
            "model cross-encoder/ms-marco-MiniLM-L-12-v2 at revision 7792850f"
        )

    @pytest.mark.parametrize(
        ("other", "backend"), [("pytorch_model.bin", "torch"), ("a.safetensors", "onnx")]
    )
    def test_what_is_not_here_is_planned_by_what_the_hub_lists(self, tmp_path, monkeypatch, other, backend):
        commit = "c" * 40
        at = tmp_path / "models--some--model" / "snapshots" / commit
        (tiny_crossencoders.bert(at) / "model.safetensors").unlink()  # only what describes it is here
        answer = SimpleNamespace(commit=commit, files=("onnx/model.onnx", other))
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
        monkeypatch.setattr("harness.toolkit.neural.models._asked", lambda model, revision: answer)
        assert given(model="some/model", revision=commit, dtype="auto").backend == backend

    def test_an_unknown_short_name_is_told_with_those_that_are_known(self):
        with pytest.raises(HarnessError, match="did you mean 'bge-reranker-base'"):
            given(model="bge-reranker-bas")

    def test_the_page_of_models_lists_what_is_known(self):
        page = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
        rows = [line for line in page.partition("## Re-rankers")[2].splitlines() if line.startswith("| `")]
        assert rows == [
            f"| `{known.name}` | `{known.model}` | {known.kind} | {known.length} | {known.cite} |"
            for known in registry.MODELS
        ]

    def test_names_and_ids_are_unique(self):
        for values in zip(*[(known.name, known.model) for known in registry.MODELS], strict=True):
            assert len(set(values)) == len(values)

    def test_a_model_that_is_not_there_is_named_while_planning(self, tmp_path):
        params = given(models=[str(tmp_path / "nothing"), str(tmp_path / "neither")])
        assert [need for need in missing_files(params) if "no such folder" in need] == [
            f"model {tmp_path / name} (there is no such folder)" for name in ("nothing", "neither")
        ]
        with pytest.raises(HarnessError, match=r"no folder .*nothing"):
            opened(params)

    def test_a_missing_library_says_what_to_install(self, tmp_path, monkeypatch):
        from harness.toolkit.neural import backends

        monkeypatch.setitem(backends.MODULES, "torch", ("no_such_module",))
        folder = tiny_crossencoders.bert(tmp_path / "model")
        [need] = missing_files(given(model=str(folder)))
        assert (need.method, need.modules) == ("crossencoder", ("no_such_module",))
        assert need.command == "pip install 'passage-harness[dense]'"

    def test_a_length_without_places_is_refused(self, tmp_path):
        folder = tiny_crossencoders.bert(tmp_path / "model")
        with pytest.raises(HarnessError, match=r"length: 65 .* 64;"):
            given(model=str(folder), length=65)
        assert given(model=str(folder)).length == 64

    def test_models_of_two_kinds_are_not_averaged(self, tmp_path):
        folders = [tiny_crossencoders.bert(tmp_path / "a"), tiny_crossencoders.t5(tmp_path / "b")]
        with pytest.raises(HarnessError, match="kind: "):
            given(models=[str(folder) for folder in folders])

    def test_code_of_its_own_is_refused(self, tmp_path):
        settings = {"auto_map": {"AutoModelForSequenceClassification": "other.Other"}, "model_type": "other"}
        folder = tiny_crossencoders.bert(tmp_path / "model", **settings)
        with pytest.raises(HarnessError, match="trust_remote_code"):
            given(model=str(folder))
        assert given(model=str(folder), trust_remote_code=True).trust_remote_code

    def test_the_version_of_what_runs_the_model_counts(self):
        assert libraries_by_param(CrossEncoderParams("./a", backend="onnx")) == {"backend": ("onnxruntime",)}
        assert libraries_by_param(CrossEncoderParams("./a", backend="torch")) == {
            "backend": ("torch", "transformers")
        }
