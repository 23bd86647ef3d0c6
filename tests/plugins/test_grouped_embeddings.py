"""Contextual embedders by service: a document's passages are sent together, split and kept as stated."""

from dataclasses import replace

import numpy as np
import pytest
from stand_in_service import contextual, standing_in

from harness import testing
from harness.errors import HarnessError
from harness.testing.texts import MemoryTexts

pytest.importorskip("httpx")
pytestmark = pytest.mark.extras

from harness.toolkit.services import Client, Service  # noqa: E402
from harness_language_models import EmbeddingParams  # noqa: E402
from harness_language_models.embedding import Embedding  # noqa: E402

A, B = ["Ann", "Ann came.", "She left.", "So."], [" ", "It failed."]


class Titled(MemoryTexts):
    """A corpus whose documents have their titles before them, as with `context: [titles]`."""

    def documents(self, start=0, stop=None):
        for document in super().documents(start, stop):
            yield document._replace(prefixes=(document.title,) if document.title else ())


@pytest.fixture
def read(tmp_path):
    (tmp_path / "store").mkdir()
    every = ("Ann came.", "She left.", "So.", "", "It failed.", "no candidate")
    titles, numbers = ("Ann",) * 3 + ("",) * 3, np.array([0, 0, 0, 1, 1, 2])
    return Titled(every, titles, np.array([0, 2, 3, 4]), "en", "passage", 4, numbers)


def unit(rows):
    rows = np.array(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def answer(group, places):
    rows = [item["embedding"] for item in reversed(contextual(group))]
    return [rows[place] for place in places]


def indexed(tmp_path, service, texts, form, name="index", **values):
    params = EmbeddingParams(Service(url=service.url, model="m", concurrency=1), documents=form, **values)
    folder = tmp_path / name
    folder.mkdir()
    facts = Embedding(params).index(texts, folder)
    return facts, np.load(folder / "vectors.npy"), np.load(folder / "positions.npy"), params


@pytest.mark.parametrize("form", ["voyage", "jina"])
def test_passages_are_embedded_with_the_rest_of_their_document(tmp_path, read, form):
    with standing_in() as service:
        facts, rows, positions, params = indexed(tmp_path, service, read, form, dimensions=8)
        hits = Embedding(params).open(read, tmp_path / "index").search(["one", "two"], 4)
    np.testing.assert_allclose(rows, unit([*answer(A, (1, 3)), *answer(B, (0, 1))]), atol=1e-6)
    assert positions.tolist() == [0, 2, 3, 4]
    assert facts == {
        "dimension": 8, "documents": 3, "documents_split": 0, "groups": 2, "passages_too_long": 0
    }  # fmt: skip
    if form == "voyage":
        assert service.asked == [
            {"model": "m", "inputs": [A, B], "input_type": "document", "output_dtype": "float", "output_dimension": 8},
            {"model": "m", "inputs": [["one"], ["two"]], "input_type": "query", "output_dtype": "float", "output_dimension": 8},
        ]  # fmt: skip
    else:
        common = {"model": "m", "embedding_type": "float", "dimensions": 8}
        assert service.asked == [
            *(
                {**common, "input": group, "task": "retrieval.passage", "late_chunking": True}
                for group in (A, B)
            ),
            {**common, "input": ["one", "two"], "task": "retrieval.query"},
        ]
    expected = unit([contextual([text])[0]["embedding"] for text in ("one", "two")]) @ rows.T
    np.testing.assert_allclose(hits.scores, -np.sort(-expected, axis=1), atol=1e-6)


def test_a_long_document_is_split_between_passages_and_its_title_begins_each_group(tmp_path, read):
    with standing_in() as service:
        facts, rows, _, _ = indexed(tmp_path, service, read, "voyage", together=15)
    assert [body["inputs"] for body in service.asked] == [
        [["Ann", "Ann came."], ["Ann", "She left.", "So."], B]
    ]
    expected = [
        *answer(["Ann", "Ann came."], (1,)),
        *answer(["Ann", "She left.", "So."], (2,)),
        *answer(B, (0, 1)),
    ]
    np.testing.assert_allclose(rows, unit(expected), atol=1e-6)
    assert (facts["documents_split"], facts["groups"], facts["passages_too_long"]) == (1, 3, 0)


@pytest.mark.parametrize("form", ["voyage", "jina"])
def test_what_is_answered_is_never_asked_again_and_unfit_answers_are(tmp_path, read, monkeypatch, form):
    monkeypatch.setattr("harness_language_models.embedding.services.Client", lambda service: Client(
        service, folder=tmp_path / "store", first_wait=0.001))  # fmt: skip
    faults = ["500", "empty", "short", "broken", "inner" if form == "voyage" else "duplicate"]
    with standing_in(faults=list(faults)) as service:
        first = indexed(tmp_path, service, read, form, batch=1)
        assert len(service.asked) == len(faults) + 2
        again = indexed(tmp_path, service, read, form, "again", batch=64)
        assert len(service.asked) == len(faults) + 2
        np.testing.assert_array_equal(first[1], again[1])
        indexed(tmp_path, service, read, form, "split", together=15)
        sent = [body.get("inputs") or body["input"] for body in service.asked[len(faults) + 2 :]]
        split = [["Ann", "Ann came."], ["Ann", "She left.", "So."]]  # the second document is as before
        assert sent == ([split] if form == "voyage" else split)


def test_a_killed_run_and_a_budget_keep_what_was_answered(tmp_path, read, monkeypatch):
    monkeypatch.setattr("harness_language_models.embedding.services.Client", lambda service: Client(
        service, folder=tmp_path / "store", first_wait=0.001))  # fmt: skip
    with standing_in(faults=["", "400"]) as service:
        with pytest.raises(HarnessError, match="400"):
            indexed(tmp_path, service, read, "voyage", batch=1)
        service.faults.clear()
        indexed(tmp_path, service, read, "voyage", "again", batch=1)
        assert [body["inputs"] for body in service.asked] == [[A], [B], [B]]
        few = Service(url=service.url, model="m", budget_tokens=5)
        with pytest.raises(HarnessError, match="budget_tokens: 8 tokens are used"):
            Embedding(EmbeddingParams(few, documents="voyage")).open(read, tmp_path / "again").search(
                ["x"], 1
            )


def test_documents_as_units_are_texts_alone(tmp_path, read):
    with standing_in() as service:
        indexed(tmp_path, service, replace(read, unit="document"), "voyage")
    assert [body["inputs"] for body in service.asked] == [[["Ann came."], ["So."], [" "], ["It failed."]]]


@pytest.mark.slow
def test_the_contract_is_kept(tmp_path):
    with standing_in() as service:
        given = {"service": {"url": service.url, "model": "m", "timeout": 250.0}, "documents": "voyage"}
        others = ("process", "killed", "script")  # these take long, and run without `documents`
        cases = testing.cases("retriever", "embeddings", given)
        for i, case in enumerate(case for case in cases if not any(word in case.name for word in others)):
            (folder := tmp_path / str(i)).mkdir()
            case(folder)
