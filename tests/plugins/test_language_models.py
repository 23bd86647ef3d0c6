"""Re-rankers and embeddings by models behind an address: each method beside a slow form, and every fault."""

import itertools
import random
import re
import shutil

import numpy as np
import pytest
from stand_in_service import standing_in, vector

from harness import api, testing
from harness.store import responses
from harness.testing.texts import texts

pytest.importorskip("httpx")
pytestmark = pytest.mark.extras

from harness.toolkit.services import Service  # noqa: E402
from harness_language_models import (  # noqa: E402
    EmbeddingParams,
    ListwiseParams,
    PairwiseParams,
    PointwiseParams,
    SetwiseParams,
    orders,
)
from harness_language_models.embedding import Embedding  # noqa: E402
from harness_language_models.reranking import Reading  # noqa: E402

TEXTS = [f"passage worth {value}" for value in random.Random(5).sample(range(100, 999), 30)]


def worth(text: str) -> int:
    return int(re.search(r"worth (\d+)", text)[1])


def oracle(messages):
    """A model that knows the worth of passages, whatever it is asked."""
    asked = messages[-1]["content"]
    if listed := re.findall(r"^\[(\d+)\] passage worth (\d+)", asked, re.M):
        return " > ".join(f"[{number}]" for number, _ in sorted(listed, key=lambda item: -int(item[1])))
    if lettered := re.findall(r"^Passage ([A-Z]): passage worth (\d+)", asked, re.M):
        return max(lettered, key=lambda item: int(item[1]))[0]
    return "yes" if worth(asked) > 500 else "no"


def order_of(params, service, count=30, queries=1):
    scorer = Reading(params(Service(url=service.url, model="m", timeout=250.0))).open(texts(TEXTS), None)
    candidates = np.tile(np.arange(count), (queries, 1))
    scores = scorer.score([f"query {i}" for i in range(queries)], candidates)
    return [np.argsort(-row, kind="stable").tolist() for row in scores], scorer.report()


def best_first(count=30):
    return sorted(range(count), key=lambda i: -worth(TEXTS[i]))


def slow_windows(items, size, step, sort):
    """RankGPT's sliding window, as its paper describes it."""
    items, end = list(items), len(items)
    while True:
        start = max(0, end - size)
        items[start:end] = sort(items[start:end])
        if start == 0:
            return items
        end -= step


@pytest.mark.parametrize(
    ("window", "step", "count"), [(20, 10, 30), (4, 2, 30), (5, 5, 30), (20, 10, 7), (3, 1, 2)]
)
def test_listwise_moves_a_window_from_the_tail_to_the_head(window, step, count):
    with standing_in(answer=oracle) as service:
        [found], _ = order_of(lambda s: ListwiseParams(s, window, step), service, count)
    slow = slow_windows(range(count), window, step, lambda part: sorted(part, key=lambda i: -worth(TEXTS[i])))
    assert found == slow


def test_all_pairs_order_by_wins_and_ask_for_both_orders():
    with standing_in(answer=oracle) as service:
        [found], told = order_of(lambda s: PairwiseParams(s, "all-pairs"), service, 8)
    assert found == best_first(8)
    assert told["questions"] == 8 * 7


def test_a_model_that_prefers_a_place_leaves_the_order_of_the_run():
    with standing_in(answer=lambda messages: "A") as service:
        [found], _ = order_of(lambda s: PairwiseParams(s, "all-pairs"), service, 6)
        assert found == list(range(6))


@pytest.mark.parametrize("params", [
    lambda s: PairwiseParams(s, "heap", top=6), lambda s: SetwiseParams(s, children=3, top=6),
    lambda s: SetwiseParams(s, children=22, top=6),
])  # fmt: skip
def test_a_heap_brings_the_best_to_the_head(params):
    with standing_in(answer=oracle) as service:
        [found, again], told = order_of(params, service, 24, queries=2)
    assert found[:6] == again[:6] == best_first(24)[:6]
    assert found[6:] == sorted(found[6:])
    assert told["answers_mended"] == 0


def test_pointwise_compares_the_probabilities_of_yes_and_no():
    with standing_in(answer=oracle) as service:
        scorer = Reading(PointwiseParams(Service(url=service.url, model="m"))).open(texts(TEXTS), None)
        scores = scorer.score(["q"], np.arange(30)[None])[0]
    assert [score > 0 for score in scores] == [worth(text) > 500 for text in TEXTS]
    assert max(scores) == pytest.approx(np.log(np.exp(-0.1)) - np.log(np.exp(-2.5)))


@pytest.mark.parametrize(("answer", "order", "mended"), [
    ("[2] > [1] > [3]", [1, 0, 2], False),
    ("[3] > [3] > [1]", [2, 0, 1], True),
    ("[9] > [2] > [0]", [1, 0, 2], True),
    ("2, 3, 1", [1, 2, 0], False),
    ("I cannot rank these.", [0, 1, 2], True),
    ("[2] > [", [1, 0, 2], True),
])  # fmt: skip
def test_an_answer_becomes_a_permutation_whatever_it_says(answer, order, mended):
    assert orders.permutation(answer, 3) == (order, mended)


@pytest.mark.parametrize(("answer", "place"), [
    ("A", 0), (" b.", 1), ("Passage C", 2), ("The best is passage B because", 1), ("D", None), ("", None),
    ("Absolutely", None), ("**C**", 2),
])  # fmt: skip
def test_a_letter_is_read_from_what_a_model_says(answer, place):
    assert orders.letter(answer, "ABC") == place


def test_a_heap_sorts_like_sorting_for_any_order():
    for children, top in itertools.product((2, 3, 5), (1, 4, 9)):
        for seed in range(20):
            values = random.Random(seed).sample(range(100), 9)
            heap = orders.Heap(9, children, top)
            while (group := heap.group()) is not None:
                heap.choose(max(group, key=lambda i: values[i]))
            best = sorted(range(9), key=lambda i: -values[i])[:top]
            assert heap.order() == [*best, *sorted(set(range(9)) - set(best))]


def test_embeddings_are_searched_by_cosine(tmp_path):
    with standing_in() as service:
        params = EmbeddingParams(
            Service(url=service.url, model="m"), query_prompt="q: ", passage_prompt="p: "
        )
        method = Embedding(params)
        corpus = texts(TEXTS)
        method.index(corpus, tmp_path)
        hits = method.open(corpus, tmp_path).search(["one"], 30)

    def unit(text):
        row = np.array(vector(text))
        return row / np.linalg.norm(row)

    expected = np.array([unit(f"p: {text}") @ unit("q: one") for text in TEXTS])
    np.testing.assert_allclose(hits.scores[0], np.sort(expected)[::-1], atol=1e-6)
    assert hits.passages[0].tolist() == np.argsort(-expected).tolist()


@pytest.mark.parametrize(("kind", "name"), [
    ("reranker", "listwise"), ("reranker", "pairwise"), ("reranker", "setwise"), ("reranker", "pointwise"),
    ("retriever", "embeddings"),
])  # fmt: skip
def test_each_keeps_the_contract(kind, name, tmp_path):
    """The answer depends on the digest of what is asked, so that it is as good as any model's."""
    with standing_in(answer=lambda messages: "ABC"[hash_of(messages) % 3]) as service:
        given = {"service": {"url": service.url, "model": "m", "timeout": 250.0}}
        cases = {
            "reranker": lambda: testing.cases("reranker", name, given),
            "retriever": lambda: testing.cases("retriever", "embeddings", given),
        }
        for i, case in enumerate(cases[kind]()):
            (folder := tmp_path / str(i)).mkdir()
            case(folder)


def hash_of(messages):
    return sum(map(ord, messages[-1]["content"]))


SUITE = """
suite: asked
datasets: [tour]
systems:
  bm25: {{retriever: bm25}}
  listed: {{of: bm25, rerank: {{listwise: {{service: {service}, window: 4, step: 2}}, depth: 6}}}}
measures: [nDCG@10]
"""


@pytest.mark.slow
def test_a_row_says_what_its_service_cost_and_a_second_run_asks_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-very-secret")
    faults = ["429", "500", "broken", "truncated", "empty", "429"]
    with standing_in(answer=lambda messages: "[2] > [2]", faults=faults, key="sk-very-secret") as service:
        settings = f"{{url: '{service.url}', model: m, key: A_KEY, price_input: 2.0, price_output: 4.0}}"
        (tmp_path / "suite.yaml").write_text(SUITE.format(service=settings))
        board = api.run(tmp_path / "suite.yaml", out=tmp_path / "out", store=tmp_path / "store", quiet=True)
        row = next(row for row in board.rows if row.system == "listed")
        assert row.error is None
        cost = row.cost.services
        assert cost.requests >= len(service.answered)
        assert sum(cost.retries.values()) == 6
        assert cost.retries["429"] == 2
        assert cost.money > 0
        assert row.reported[0].facts["answers_mended"] > 0  # a duplicate in each answer
        asked = len(service.asked)
        assert len({str(body) for body in service.asked}) == asked - 6  # nothing is asked twice
        for path in (tmp_path / "store" / "artifacts").glob("rerank-*"):
            shutil.rmtree(path)
        api.run(tmp_path / "suite.yaml", out=tmp_path / "out2", store=tmp_path / "store", quiet=True)
        assert len(service.asked) == asked
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"sk-very-secret" not in path.read_bytes()
    assert responses.of_step(tmp_path / "store" / "responses", "no such step") is None
