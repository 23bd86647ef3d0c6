"""A function is written down with what it uses, or the reason is said why it cannot be."""

import collections
import json
import math
import types

import numpy as np
import pytest

from harness.notebook.captured import Uncapturable, capture
from harness_python import PythonParams
from harness_python.methods import made

WEIGHT = 2.0
STOP = {"the": (1, None, b"x")}
ARRAY = np.zeros(3)
LOCK = object()
captured_here = types.ModuleType("captured_here")


def again(function):
    """The function as another process makes it."""
    return made(PythonParams(**capture(function)._asdict()))


def terms(text: str) -> list:
    return [word for word in text.split() if word not in STOP]


def weighted(text, times=WEIGHT):
    """Uses another function, data, a module, and a class that is imported."""
    counts: collections.Counter = collections.Counter(terms(text))
    return times * math.sqrt(sum(counts.values())) * WEIGHT


def uses_numpy(text):
    return float(np.sum(np.ones(len(text))))


def test_it_computes_the_same_elsewhere():
    assert again(weighted)("the old bridge") == weighted("the old bridge")
    assert again(uses_numpy)("abc") == 3.0


def test_what_it_uses_is_written_down():
    found = capture(weighted)
    assert found.values == {"STOP": repr(STOP), "WEIGHT": "2.0"}
    assert found.imports == {"collections": "collections", "math": "math"}
    assert found.source.index("def terms") < found.source.index("def weighted")
    assert "list" not in found.source  # annotations say nothing about what it computes
    assert capture(uses_numpy).versions == {"numpy": np.__version__}


def test_closures_and_lambdas_are_written_down():
    def scaled(by):
        return lambda query, texts: [by * len(text) for text in texts]

    twice, thrice = scaled(2), scaled(3)
    assert again(twice)("q", ["ab"]) == [4]
    assert again(thrice)("q", ["ab"]) == [6]
    assert capture(twice) != capture(thrice)
    assert again(lambda texts: [len(text) for text in texts])(["abc"]) == [3]


def test_a_recursive_function_is_written_down():
    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)

    assert again(depth)(4) == 4


def test_equal_functions_are_written_alike_and_a_comment_changes_nothing():
    def one(texts):
        return [len(text) for text in texts]

    first = capture(one)

    def one(texts):
        # a comment
        return [len(text)   for text in texts]  # fmt: skip

    assert capture(one) == first


def test_changed_data_changes_what_is_written(monkeypatch):
    before = capture(weighted)
    monkeypatch.setitem(globals(), "WEIGHT", 3.0)
    assert capture(weighted) != before


def uses_array(text):
    return ARRAY.sum()


def uses_object(text):
    return LOCK


def uses_nothing_there(text):
    return not_defined_anywhere  # noqa: F821


def uses_own_module(text):
    return captured_here


def changes_a_global(text):
    global WEIGHT
    WEIGHT = 1


class Model:
    def __call__(self, query, texts):
        return [0.0] * len(texts)

    def score(self, query, texts):
        return [0.0] * len(texts)


def using(value):
    return lambda text: value


@pytest.mark.parametrize(("function", "reason"), [
    (uses_array, "'ARRAY', a ndarray"),
    (uses_object, "'LOCK', a object"),
    (uses_nothing_there, "'not_defined_anywhere'"),
    (changes_a_global, "global 'WEIGHT'"),
    (Model(), "Model objects"),
    (Model().score, "method objects"),
    (uses_own_module, "module 'captured_here'"),
    (len, "builtin_function_or_method objects"),
    (eval("lambda texts: texts"), "not known"),
    (using(float("nan")), "no plain data"),
    (using({1, 2}), "no plain data"),
])  # fmt: skip
def test_what_cannot_be_written_down_is_said(function, reason):
    with pytest.raises(Uncapturable, match=reason):
        capture(function)


def test_a_function_of_an_installed_module_is_imported_with_its_version():
    def encoded(text):
        return dumps(text)

    dumps = json.dumps
    assert capture(encoded).imports == {"dumps": "json:dumps"}
    assert again(encoded)("a") == '"a"'
