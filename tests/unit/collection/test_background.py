"""Calls behind the caller are made in order, and their errors are not lost."""

import pytest

from harness.collection.background import behind


def test_calls_are_made_in_order_and_are_done_at_the_end():
    done: list[int] = []
    with behind() as later:
        for number in range(20):
            later(done.append, number)
    assert done == list(range(20))


def test_what_a_call_returns_can_be_asked_for():
    with behind() as later:
        answer = later(divmod, 7, 2)
    assert answer.result() == (3, 1)


def test_an_error_of_a_call_is_raised_at_the_end():
    with pytest.raises(ZeroDivisionError), behind() as later:
        later(divmod, 1, 0)


def test_an_error_of_a_call_stops_a_caller_that_goes_on():
    made: list[int] = []

    def go_on() -> None:
        with behind(depth=1) as later:
            later(divmod, 1, 0)
            for number in range(100):
                later(made.append, number)

    with pytest.raises(ZeroDivisionError):
        go_on()
    assert len(made) < 100


def test_an_error_of_the_caller_is_the_one_that_is_raised():
    def fail() -> None:
        with behind() as later:
            later(divmod, 1, 0)
            raise KeyError("of the caller")

    with pytest.raises(KeyError):
        fail()
