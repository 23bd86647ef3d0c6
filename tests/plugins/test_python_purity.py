"""Functions whose answers depend on more than their source and arguments are found, and no others."""

import collections
import datetime as dt
import gzip
import io
import json
import math
import os
import random
import re
import subprocess
import time
import urllib.parse
import urllib.request
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

from harness.notebook.captured import capture
from harness_python import PythonParams, impure, unkeyed
from harness_python.watch import watch

WEIGHTS = {"castle": 2.0}


def of_numpy(queries, corpus, k):
    matrix = np.array([[text.count(word) for word in WEIGHTS] for text in corpus.texts], np.float32)
    return [list(enumerate((matrix @ np.ones(len(WEIGHTS))).tolist()))[:k] for _ in queries]


def of_words(query, texts):
    open_words = collections.Counter(re.findall(r"\w+", query.lower()))
    return [sum(math.log1p(open_words[word]) for word in text.split()) for text in texts]


def seeded(query, texts):
    chance, other = np.random.default_rng(7), random.Random(7)
    return [float(chance.random()) + other.random() for _ in texts]


def seeds_the_process(query, texts):
    np.random.seed(1)
    return np.random.rand(len(texts))


def shadows(query, texts, time=time.sleep):
    open = {"time": 1}
    random = texts
    return [open["time"] + random.index(text) for text in texts]


def parses(query, texts):
    return [
        len(urllib.parse.quote(text)) + len(json.dumps(dt.datetime(2020, 1, 1).isoformat())) for text in texts
    ]


def writes(query, texts):
    with open(os.devnull, "w") as log:  # noqa: PTH123
        log.write(query)
    return [len(io.StringIO(text).read()) for text in texts]


def formats(query, texts):
    return [float(time.strftime("%Y", time.gmtime(len(text)))) for text in texts]


PURE = (of_numpy, of_words, seeded, seeds_the_process, shadows, parses, writes, formats)


@pytest.mark.parametrize("function", PURE)
def test_a_plain_function_is_not_flagged(function):
    assert unkeyed(PythonParams(**capture(function)._asdict())) is None


def clock(query, texts):
    return [time.time() for _ in texts]


def helper():
    return datetime.now().year


def clock_of_a_helper(query, texts):
    return [helper() for _ in texts]


def clock_imported_inside(query, texts):
    from time import monotonic as now

    return [now() for _ in texts]


def chance(query, texts):
    return sorted(texts, key=lambda _: random.random())


def chance_of_numpy(query, texts):
    return np.random.rand(len(texts))


def chance_without_a_seed(query, texts):
    return default_rng().random(len(texts))


def chance_of_the_system(query, texts):
    return [os.urandom(1)[0] for _ in texts]


def file(query, texts):
    return [float(open("weights.txt").read()) for _ in texts]  # noqa: PTH123


def file_of_a_path(query, texts):
    return [len(Path("weights.txt").read_text()) for _ in texts]


def zipped(query, texts):
    return [len(gzip.open("weights.gz").read()) for _ in texts]


def program(query, texts):
    return [float(subprocess.check_output(["score", text])) for text in texts]


def service(query, texts):
    return json.load(urllib.request.urlopen("http://127.0.0.1/score"))


@pytest.mark.parametrize(("function", "reason"), [
    (clock, "reads the clock"), (clock_of_a_helper, "reads the clock"), (clock_imported_inside, "reads the clock"),
    (chance, "draws random numbers"), (chance_of_numpy, "draws random numbers"),
    (chance_without_a_seed, "draws random numbers"), (chance_of_the_system, "draws random numbers"),
    (file, "reads files"), (file_of_a_path, "reads files"), (zipped, "reads files"),
    (program, "starts programs"), (service, "asks a service"),
])  # fmt: skip
def test_what_stands_in_no_key_is_found_in_the_source(function, reason):
    params = PythonParams(**capture(function)._asdict())
    assert unkeyed(params) == f"it {reason}, so it runs every time"


def heard(call, source=""):
    noted: set[str] = set()
    with watch().during(noted, impure.seeds(source)):
        call()
    return noted


def test_the_calls_are_watched_too(tmp_path):
    data = tmp_path / "weights.json"
    data.write_text("[1]")
    assert heard(lambda: data.read_text()) == {"reads files"}
    assert (
        heard(lambda: np.random.rand()) == heard(lambda: random.shuffle([1, 2])) == {"draws random numbers"}
    )
    assert heard(lambda: np.random.rand(), "np.random.seed(1)") == set()
    assert heard(lambda: subprocess.run(["true"], check=True)) == {"starts programs"}
    assert heard(lambda: (tmp_path / "log").write_text("a")) == set()
    before = data.read_text()  # nothing is heard outside of a call
    assert (before, heard(lambda: None)) == ("[1]", set())


@pytest.mark.extras
def test_what_libraries_do_by_themselves_is_not_heard():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    neighbors = pytest.importorskip("sklearn.neighbors")
    texts = ["the old castle", "a railway station", "the castle of the island"]

    def score():
        matrix = text.TfidfVectorizer(stop_words="english").fit_transform(texts)
        neighbors.NearestNeighbors(n_neighbors=2).fit(matrix.toarray()).kneighbors(matrix[:1].toarray())
        import wave  # reads its own code

        return wave

    assert heard(score) == set()
