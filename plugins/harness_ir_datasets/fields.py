"""Converts documents and queries of ir_datasets, which has over a hundred types, to our types."""

from __future__ import annotations

from typing import Any

from harness.plugin import HarnessError

_TITLES = ("title", "headline", "page_title", "document_title")
_TEXTS = ("text", "body", "abstract")


def title_of(doc: Any) -> str:
    return next((str(getattr(doc, name) or "") for name in _TITLES if hasattr(doc, name)), "")


def text_of(doc: Any) -> str:
    """The text of a document of ir_datasets, without the title. It is the type's text field if there is
    exactly one, otherwise the default text of ir_datasets without the title."""
    present = [name for name in _TEXTS if hasattr(doc, name)]
    if len(present) == 1 and isinstance(getattr(doc, present[0]), str):
        return str(getattr(doc, present[0]))
    if not hasattr(doc, "default_text"):
        if present and isinstance(getattr(doc, present[0]), str):
            return str(getattr(doc, present[0]))
        raise HarnessError(f"ir_datasets: a {type(doc).__name__} has no text; take another collection")
    return str(doc.default_text()).removeprefix(title_of(doc)).lstrip()


def document_of(doc: Any) -> tuple[str | None, int | None]:
    """The id of a passage's document, and the place of the passage in the document; None for what is unknown.
    A passage that is a document by itself has neither. Ids of MIRACL are <article>#<place>, and passages of
    MS MARCO v2 name their document."""
    kind = type(doc).__name__
    if kind == "MiraclDoc":
        article, _, place = doc.doc_id.rpartition("#")
        return (article, int(place)) if article and place.isdecimal() else (None, None)
    if kind == "MsMarcoV2Passage":
        return doc.msmarco_document_id, None
    return None, None


def question_of(query: Any, field: str | None) -> str:
    if field is not None:
        if not isinstance(getattr(query, field, None), str) or field not in query._fields:
            texts = [name for name in query._fields if isinstance(getattr(query, name), str)]
            raise HarnessError(f"query: these queries have no text '{field}'; choose from {', '.join(texts)}")
        return str(getattr(query, field))
    if hasattr(query, "default_text"):
        return str(query.default_text())
    if isinstance(getattr(query, "text", None), str):
        return str(query.text)
    raise HarnessError(
        f"query: a {type(query).__name__} has no text of its own; name a field: {', '.join(query._fields)}"
    )


def answers_of(query: Any) -> tuple[str, ...]:
    answers = getattr(query, "answers", ())
    return tuple(str(answer) for answer in answers) if isinstance(answers, list | tuple) else ()
