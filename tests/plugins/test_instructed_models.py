"""Instruction-tuned language models as embedders and re-rankers, from tiny checkpoints with random weights."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.extras

from harness.testing.texts import texts  # noqa: E402
from harness_crossencoder import CrossEncoderParams  # noqa: E402
from harness_crossencoder.scorer import CrossEncoder  # noqa: E402
from harness_crossencoder.settings import resolved  # noqa: E402
from harness_dense import DenseParams  # noqa: E402
from harness_dense.resolving import resolved as resolved_dense  # noqa: E402
from harness_dense.retriever import Dense  # noqa: E402

TEXTS = [
    "The capital of China is Beijing.",
    "Gravity pulls.",
    "yes, a longer passage about no castle at all?",
]
QUERIES = ["What is the capital of China?", "castle no"]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def tokeniser_in(folder, end=False):
    """Byte pairs over a few texts, with Qwen's special tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet)
    backend.train_from_iterator([*TEXTS, *QUERIES, "yes no yes no yes no"], trainer)
    if end:
        backend.post_processor = processors.TemplateProcessing(
            single="$A <|endoftext|>", pair="$A $B <|endoftext|>",
            special_tokens=[("<|endoftext|>", backend.token_to_id("<|endoftext|>"))],
        )  # fmt: skip
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="<|endoftext|>", eos_token="<|endoftext|>", model_max_length=512
    )
    fast.save_pretrained(folder)
    return fast


def network_in(folder, kind, tokeniser, tied=True, config_class=transformers.Qwen3Config, **more):
    torch.manual_seed(1)
    config = config_class(
        vocab_size=len(tokeniser), hidden_size=32, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=tied,
        **{"max_position_embeddings": 512} | more,
    )  # fmt: skip
    network = kind(config).eval()
    network.save_pretrained(folder, safe_serialization=True)
    return network


def official(network, tokeniser, instruction, query, text, length=512):
    """The score as Qwen3-Reranker's model card computes it: the probability of yes against no."""
    prefix = (
        "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
        'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
    )
    suffix = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    before, after = (tokeniser.encode(part, add_special_tokens=False) for part in (prefix, suffix))
    body = f"<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {text}"
    inner = tokeniser.encode(body, add_special_tokens=False)[: length - len(before) - len(after)]
    with torch.no_grad():
        logits = network(input_ids=torch.tensor([before + inner + after])).logits[0, -1]
    pair = torch.stack([logits[tokeniser.convert_tokens_to_ids(word)] for word in ("no", "yes")])
    return float(torch.softmax(pair, 0)[1])


@pytest.mark.parametrize("tied", [True, False])
def test_a_yes_no_reranker_has_the_probabilities_of_its_model_card(tied, tmp_path):
    tokeniser = tokeniser_in(tmp_path)
    network = network_in(tmp_path, transformers.Qwen3ForCausalLM, tokeniser, tied)
    params = resolved(CrossEncoderParams(model=tmp_path, dtype="fp32", device="cpu"))
    assert params.kind == "yes-no"
    scores = CrossEncoder(params).open(texts(TEXTS), None).score(QUERIES, np.array([[0, 1, 2], [2, 1, -1]]))
    chances = 1 / (1 + np.exp(-scores.astype(np.float64)))
    for row, query in enumerate(QUERIES):
        for column, position in enumerate([[0, 1, 2], [2, 1]][row]):
            expected = official(network, tokeniser, params.instruction, query, TEXTS[position])
            assert chances[row, column] == pytest.approx(expected, abs=1e-5)


def test_another_instruction_and_a_cut_passage_are_the_same_as_the_model_cards(tmp_path):
    tokeniser = tokeniser_in(tmp_path)
    network = network_in(tmp_path, transformers.Qwen3ForCausalLM, tokeniser)
    params = resolved(
        CrossEncoderParams(model=tmp_path, dtype="fp32", device="cpu", instruction="Find facts", length=300)
    )
    long = "a castle " * 200
    scorer = CrossEncoder(params).open(texts([long]), None)
    [[score]] = scorer.score(["castle"], np.array([[0]]))
    expected = official(network, tokeniser, "Find facts", "castle", long, 300)
    assert 1 / (1 + np.exp(-float(score))) == pytest.approx(expected, abs=1e-5)
    assert scorer.report()["pairs_cut"] == 1


def official_mxbai(network, tokeniser, instruction, query, text, length):
    """The logit as the code of mxbai-rerank-v2 computes it: 1 against 0, each part of the prompt tokenised
    alone; `length` is how many tokens of query and passage are read."""

    def ids(part):
        return tokeniser.encode(part, add_special_tokens=False)

    before = (
        "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n"
        "<|im_start|>user\n"
    )
    task = (
        "You are a search relevance expert who evaluates how well documents match search queries. For each "
        "query-document pair, carefully analyze the semantic relationship between them, then provide your "
        "binary relevance judgment (0 for not relevant, 1 for relevant).\nRelevance:"
    )
    asked = f"instruction: {instruction}\nquery: {query}" if instruction else f"query: {query}"
    pair = [*ids(asked), *ids("\n"), *ids(f"document: {text}")][:length]
    after = [*ids("\n"), *ids(task), *ids("<|im_end|>\n<|im_start|>assistant\n")]
    with torch.no_grad():
        logits = network(input_ids=torch.tensor([[*ids(before), *pair, *after]])).logits[0, -1]
    return float(logits[ids("1")[0]] - logits[ids("0")[0]]), len(ids(before)) + len(after)


@pytest.mark.parametrize("instruction", ["", "Find facts"])
def test_a_reranker_as_mxbai_v2_has_the_logits_of_its_authors_code(instruction, tmp_path):
    tokeniser = tokeniser_in(tmp_path)
    network = network_in(
        tmp_path, transformers.Qwen2ForCausalLM, tokeniser, config_class=transformers.Qwen2Config,
        max_position_embeddings=1024,
    )  # fmt: skip
    every = [*TEXTS, "a castle? " * 60]
    _, prompt = official_mxbai(network, tokeniser, "", "", "", 100)
    settings = {"instruction": instruction} if instruction else {}
    params = resolved(
        CrossEncoderParams(
            model=tmp_path, kind="mxbai-v2", dtype="fp32", device="cpu", length=prompt + 150, **settings
        )
    )
    assert params.instruction == instruction
    scorer = CrossEncoder(params).open(texts(every), None)
    scores = scorer.score(QUERIES, np.array([[0, 1, 2, 3], [3, 2, 1, -1]]))
    for row, columns in enumerate([[0, 1, 2, 3], [3, 2, 1]]):
        for column, position in enumerate(columns):
            expected, _ = official_mxbai(network, tokeniser, instruction, QUERIES[row], every[position], 150)
            assert scores[row, column] == pytest.approx(expected, abs=1e-4)
    assert scorer.report()["pairs_cut"] == 2


def test_mxbai_v2_is_known_by_name_with_its_kind_and_no_instruction():
    params = resolved(CrossEncoderParams(model="mxbai-rerank-base-v2"))
    assert (params.model, params.kind, params.instruction, params.length) == (
        "mixedbread-ai/mxbai-rerank-base-v2", "mxbai-v2", "", 8192,
    )  # fmt: skip


def test_an_embedder_pools_its_last_token_behind_the_instruction(tmp_path):
    model = tmp_path / "model"
    tokeniser = tokeniser_in(model, end=True)
    network = network_in(model, transformers.Qwen3Model, tokeniser)
    prompt = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
    params = DenseParams(
        model=model, pooling="last", similarity="cosine", normalise=True, query_prompt=prompt, dtype="fp32",
        device="cpu",
    )  # fmt: skip
    method = Dense(resolved_dense(params))
    folder = tmp_path / "index"
    folder.mkdir()
    method.index(texts(TEXTS), folder)
    searcher = method.open(texts(TEXTS), folder)

    def slow(text):
        with torch.no_grad():
            state = network(input_ids=torch.tensor([tokeniser.encode(text)])).last_hidden_state[0, -1].numpy()
        return state / np.linalg.norm(state)

    np.testing.assert_allclose(
        searcher.encode(QUERIES), [slow(prompt + query) for query in QUERIES], atol=1e-5
    )
    np.testing.assert_allclose(searcher.vectors(np.arange(3)), [slow(text) for text in TEXTS], atol=1e-5)
