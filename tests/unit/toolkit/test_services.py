"""Asking services: whatever fails, nothing is lost, nothing is asked twice, and no budget is passed."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from stand_in_service import standing_in, vector

from harness.errors import HarnessError
from harness.step_context import CURRENT, StepContext
from harness.store import responses

pytest.importorskip("httpx")
pytestmark = pytest.mark.extras

from harness.toolkit import services  # noqa: E402
from harness.toolkit.services import pace  # noqa: E402
from harness.toolkit.services.client import most_tokens  # noqa: E402


@pytest.fixture(autouse=True)
def _in_a_step(tmp_path):
    token = CURRENT.set(StepContext("rerank-1", tmp_path / "responses"))
    yield
    CURRENT.reset(token)


def client_of(service, **settings):
    settings = {"timeout": 250.0, **settings}
    return services.Client(services.Service(url=service.url, model="m", **settings), first_wait=0.01)


def chats(*texts, **settings):
    return [services.Chat((("user", text),), 8, **settings) for text in texts]


def asked(service, texts, **settings):
    client = client_of(service, **settings)
    try:
        return [reply.text for reply in services.ask(client, chats(*texts))]
    finally:
        client.close()


def embedded(service, texts, **settings):
    client = client_of(service, **settings)
    try:
        return services.embed(client, texts, batch=3)
    finally:
        client.close()


def cost(tmp_path):
    return responses.of_step(tmp_path / "responses", "rerank-1")


def test_each_question_gets_its_answer_in_order():
    texts = [f"question {i}" for i in range(20)]
    with standing_in() as service:
        assert asked(service, texts) == [f"re: question {i}" for i in range(20)]


def test_a_question_that_was_answered_is_never_sent_again(tmp_path):
    with standing_in() as service:
        asked(service, ["a", "b", "a"])
        assert asked(service, ["b", "c"]) == ["re: b", "re: c"]
        assert sorted(body["messages"][0]["content"] for body in service.asked) == ["a", "b", "c"]
    assert cost(tmp_path)["kept"] == 1
    assert cost(tmp_path)["requests"] == 3


def test_another_model_address_or_setting_is_another_question():
    with standing_in() as service:
        client = client_of(service)
        services.ask(client, [*chats("a"), *chats("a", temperature=1.0), *chats("a", sample=1)])
        other = services.Client(services.Service(url=service.url, model="other"))
        services.ask(other, chats("a"))
        client.close()
        other.close()
        assert len(service.asked) == 4


@pytest.mark.parametrize("fault", ["429", "500", "broken", "truncated", "close", "html", "empty"])
def test_a_chat_goes_on_after_a_fault(fault, tmp_path):
    with standing_in(faults=[fault, fault]) as service:
        assert asked(service, ["a", "b", "c"], concurrency=2) == ["re: a", "re: b", "re: c"]
        assert len(service.asked) == 5
    assert sum(cost(tmp_path)["retries"].values()) == 2


@pytest.mark.parametrize("fault", ["hang", "drip"])
def test_a_service_that_hangs_is_left_after_the_timeout(fault, tmp_path):
    with standing_in(faults=[fault]) as service:
        assert asked(service, ["a"], timeout=3.0) == ["re: a"]
    assert cost(tmp_path)["retries"] == {"timeout": 1}
    assert cost(tmp_path)["unsure"] == 1  # it may have been paid for


@pytest.mark.parametrize("fault", ["short", "long", "duplicate", "uneven", "empty"])
def test_vectors_that_do_not_fit_their_texts_are_asked_for_again(fault, tmp_path):
    texts = [
        f"text {i}" for i in range(9)
    ]  # three requests of three, so that each fault shows in any of them
    with standing_in(faults=[fault, fault]) as service:
        np.testing.assert_allclose(embedded(service, texts), [vector(text) for text in texts], rtol=1e-6)
        assert len(service.asked) == 5
    assert sum(cost(tmp_path)["retries"].values()) == 2


def test_a_text_is_embedded_once_whatever_it_is_asked_with():
    with standing_in() as service:
        embedded(service, ["a", "b", "c", "a"])
        embedded(service, ["c", "d"])
        assert [body["input"] for body in service.asked] == [["a", "b", "c"], ["d"]]


def test_a_fault_that_stays_names_itself_and_what_was_answered_is_kept():
    with standing_in(faults=["", "", *["500"] * 20]) as service:
        with pytest.raises(HarnessError, match=r"no answer after 3 tries \(500\)"):
            asked(service, ["a", "b", "c", "d"], tries=3, concurrency=1)
        service.faults.clear()
        service.asked.clear()
        assert asked(service, ["a", "b", "c", "d"]) == ["re: a", "re: b", "re: c", "re: d"]
        assert len(service.asked) == 2


@pytest.mark.parametrize("fault", ["400", "404", "quota"])
def test_a_request_that_is_refused_is_not_repeated(fault):
    with standing_in(faults=[fault] * 3) as service:
        with pytest.raises(HarnessError, match=r"it failed with|pay first"):
            asked(service, ["a"])
        assert len(service.asked) == 1


def test_requests_that_wait_their_turn_are_not_sent_after_one_was_refused(tmp_path):
    with standing_in(faults=["400"]) as service:
        with pytest.raises(HarnessError, match="it failed with"):
            asked(service, ["a", "b", "c"], requests_per_minute=1, concurrency=3)
        assert len(service.asked) == 1
    assert cost(tmp_path) is None


def test_no_connection_is_told_with_the_address():
    with standing_in() as service:
        url = service.url
    gone = services.Client(services.Service(url=url, model="m", tries=2), first_wait=0.01)
    with pytest.raises(HarnessError, match="no connection"):
        services.ask(gone, chats("a"))
    gone.close()


def test_a_budget_of_tokens_ends_the_step_before_it_is_passed(tmp_path):
    texts = [f"number {i} of many" for i in range(50)]
    budget = 300
    with standing_in() as service:
        with pytest.raises(HarnessError, match=r"budget_tokens: .* of 300"):
            asked(service, texts, budget_tokens=budget)
        used = sum(2 * len(text.split()) + 1 for text in texts[: len(service.answered)])
        assert used == cost(tmp_path)["input_tokens"] + cost(tmp_path)["output_tokens"] <= budget
        assert used + most_tokens(texts[:1]) + 8 > budget - 60  # the room is used up but for one request
        assert asked(service, texts) == [f"re: {text}" for text in texts]
        assert len(service.asked) == 50  # nothing was paid for twice


def test_a_budget_of_money_counts_what_faults_may_have_cost(tmp_path):
    price = {"price_input": 1e6, "price_output": 2e6}  # a token read costs 1, one written 2
    with standing_in(faults=["broken"]) as service:
        most = most_tokens(["a"]) + 2 * 8
        with pytest.raises(HarnessError, match="budget_money"):
            asked(service, ["a"], budget_money=most + 1.0, **price)
        assert len(service.asked) == 1
        assert asked(service, ["a"], budget_money=2.0 * most, **price) == ["re: a"]
    assert cost(tmp_path)["money"] == most + 1 + 2 * 2
    assert cost(tmp_path)["unsure"] == 1


def test_a_service_that_does_not_count_is_charged_with_the_most(tmp_path):
    with standing_in(usage=False) as service:
        asked(service, ["a"])
    assert cost(tmp_path)["input_tokens"] == most_tokens(["a"])
    assert cost(tmp_path)["unsure"] == 1


def test_requests_go_out_side_by_side_but_never_more_than_asked_for():
    with standing_in(together=3) as service:
        asked(service, [str(i) for i in range(12)], concurrency=3)
        assert service.most_at_once == 3


def test_the_key_is_sent_and_stands_in_no_message_and_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("THE_KEY", "sk-secret-1234")
    with standing_in(key="sk-secret-1234") as service:
        assert asked(service, ["a"], key="THE_KEY") == ["re: a"]
        service.key = "another"
        with pytest.raises(HarnessError, match=r"401 .*\*\*\*") as error:
            asked(service, ["b"], key="THE_KEY")
    assert "sk-secret" not in str(error.value)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"sk-secret" not in path.read_bytes()


def test_a_key_in_the_place_of_its_name_is_refused_and_not_shown():
    with pytest.raises(ValueError, match="environment variable") as error:
        services.Service(url="http://h/v1", model="m", key="sk-secret-1234")
    assert "sk-secret" not in str(error.value)


def test_a_missing_key_is_a_need(monkeypatch):
    service = services.Service(url="https://h/v1", model="m", key="NO_SUCH_KEY")
    assert "NO_SUCH_KEY" in services.missing(service)[0].text
    monkeypatch.setenv("NO_SUCH_KEY", "x")
    assert services.missing(service) == ()


def test_what_changes_no_answer_is_in_no_key():
    from harness.plan.keys import addressed

    plain = services.Service(url="http://h/v1", model="m")
    paid = dataclasses.replace(plain, key="K", budget_tokens=5, concurrency=9, tries=1, price_input=3.0)
    assert addressed(plain, str) == addressed(paid, str) == {"url": "http://h/v1", "model": "m", "extra": {}}


def test_the_pace_spreads_requests_over_the_minute():
    clock = [0.0]

    def sleep(seconds):
        clock[0] += seconds

    stop = SimpleNamespace(is_set=lambda: False, wait=sleep)
    steady = pace.Pace(60, 6000, now=lambda: clock[0])
    times = []
    for count in (50, 500, 50):
        steady.wait(count, stop)
        times.append(round(clock[0], 6))
    assert times == [0.0, 1.0, 6.0]
    steady.pause(10)
    steady.wait(1, stop)
    assert clock[0] == pytest.approx(16.0)


def test_the_candidates_of_the_first_token_come_with_their_probabilities():
    with standing_in(answer=lambda messages: "yes") as service:
        client = client_of(service)
        reply = services.ask(client, chats("a", logprobs=2))[0]
        client.close()
    assert reply.logprobs == {"yes": -0.1, "no": -2.5}


def test_an_answer_that_does_not_fit_is_asked_for_again():
    said = iter(["bad", "good"])
    with standing_in(answer=lambda messages: next(said)) as service:
        client = client_of(service)
        assert services.ask(client, chats("a"), fits=lambda text: text == "good")[0].text == "good"
        client.close()
