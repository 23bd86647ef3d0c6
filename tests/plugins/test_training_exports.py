"""Other libraries read a made model as it was trained: the same vectors, the same scores."""

import numpy as np
import pytest
import tiny_models

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("ignore")]

from test_training_loop import QUERIES, TEXTS, encoder, trained  # noqa: E402

from harness_training import CrossEncoderParams, networks  # noqa: E402
from harness_training.cross_encoder import CrossEncoder  # noqa: E402
from harness_training.dual_encoder import DualEncoder  # noqa: E402

PROMPTS = {"query_prompt": "the north: ", "passage_prompt": "old "}


@pytest.fixture(scope="module", params=[("cls", "dot"), ("mean", "cosine")], ids=lambda how: how[0])
def bi_encoder(request, tmp_path_factory):
    """The folder of a made bi-encoder with prompts, and its vectors of queries and of passages."""
    folder = tmp_path_factory.mktemp("made")
    pooling, similarity = request.param
    params = encoder(folder, pooling=pooling, similarity=similarity, **PROMPTS)
    trained(DualEncoder(params), folder / "out")
    tower = networks.Tower(folder / "out" / "model", "auto", similarity == "cosine", 0.0, "fp32").eval()
    with torch.no_grad():
        queries = tower([params.query_prompt + text for text in QUERIES], 16)
        passages = tower([params.passage_prompt + text for text in TEXTS], 16)
    return folder / "out" / "model", queries.numpy(), passages.numpy()


def test_sentence_transformers_gives_the_vectors_of_a_made_bi_encoder(bi_encoder):
    """With its prompts, its pooling and its length, none of which has to be said."""
    folder, queries, passages = bi_encoder
    model = pytest.importorskip("sentence_transformers").SentenceTransformer(str(folder), device="cpu")
    assert model.max_seq_length == 16
    assert model.encode(QUERIES, prompt_name="query") == pytest.approx(queries, abs=1e-5)
    assert model.encode(TEXTS, prompt_name="document") == pytest.approx(passages, abs=1e-5)
    theirs = model.similarity(queries, passages).numpy()
    assert theirs == pytest.approx(queries @ passages.T, abs=1e-4)
    start = type(model)(str(folder.parents[1] / "init"), device="cpu")
    assert np.abs(start.encode(TEXTS) - passages).max() > 1e-3


def test_transformers_gives_the_states_of_a_made_bi_encoder(bi_encoder):
    from transformers import AutoModel, AutoTokenizer

    folder, queries, _ = bi_encoder
    model, tokeniser = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    texts = [PROMPTS["query_prompt"] + text for text in QUERIES]
    given = tokeniser(texts, truncation=True, max_length=16, padding=True, return_tensors="pt")
    with torch.no_grad():
        states, mask = model(**given).last_hidden_state, given["attention_mask"][:, :, None]
    vectors = states[:, 0]
    if abs(np.linalg.norm(queries[0]) - 1) < 1e-5:
        vectors = torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1))
    assert vectors.numpy() == pytest.approx(queries, abs=1e-5)


@pytest.mark.parametrize("loss", ["one-logit", "two-classes"])
def test_other_libraries_give_the_logits_of_a_made_cross_encoder(tmp_path, loss):
    tiny_models.bert(tmp_path / "init")
    params = CrossEncoderParams(
        init=tmp_path / "init", loss=loss, epochs=4, batch=5, micro=6, lr=2e-3, length=24, query_length=8,
        dtype="fp32", device="cpu",
    )  # fmt: skip
    trained(CrossEncoder(params), tmp_path / "out")
    folder, classes = tmp_path / "out" / "model", 1 if loss == "one-logit" else 2
    texts = TEXTS[: len(QUERIES)]
    scorer = networks.Scorer(folder, classes, 0.0, "fp32", 0).eval()
    with torch.no_grad():
        ours = scorer(QUERIES, texts, 24, 8).numpy()
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    given = AutoTokenizer.from_pretrained(folder)(QUERIES, texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        assert model(**given).logits.numpy() == pytest.approx(ours, abs=1e-5)
    theirs = pytest.importorskip("sentence_transformers").CrossEncoder(str(folder), device="cpu")
    pairs = list(zip(QUERIES, texts, strict=True))
    logits = theirs.predict(pairs, activation_fn=torch.nn.Identity()).reshape(ours.shape)
    assert logits == pytest.approx(ours, abs=1e-5)
