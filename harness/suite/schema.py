"""The published JSON Schema of suites, for editors. It covers the plugins that are installed here."""

from __future__ import annotations

from harness.catalogue import Catalogue, params
from harness.suite import models, tuning
from harness.suite.forms import TUNABLE
from harness.suite.sections import BESIDE, SuiteKeys
from harness.types import JSON

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(catalogue: Catalogue) -> JSON:
    """The JSON Schema of suites with the installed plugins. Editors complete names and parameters by it."""
    definitions = {kind: _plugins(catalogue, kind, beside) for kind, beside in BESIDE.items()}
    definitions["protocols"] = {"enum": catalogue.names("protocols")}
    definitions |= {"made": params.schema(models.Reference), **tuning.SCHEMAS}
    title = {"$schema": DRAFT, "title": "A suite of passage-harness"}
    return {**title, **params.schema(SuiteKeys), "$defs": definitions}


def _plugins(catalogue: Catalogue, kind: str, beside: type) -> JSON:
    """The schema of the plugins of a kind: a name alone, or with parameters and the keys beside it."""
    alone, forms = [], []
    further = params.schema(beside)["properties"]
    for name in catalogue.names(kind):
        record = catalogue.entries[kind][name][0].record
        learns = record.learns if kind == "combiners" else ()
        inner = _parameters(record.params, kind in TUNABLE, learns)
        if not inner["required"]:
            alone.append(name)
            inner = {"anyOf": [inner, {"type": "null"}]}
        forms.append(
            {
                "type": "object",
                "description": record.summary,
                "properties": {name: inner, **further},
                "required": [name],
                "additionalProperties": False,
            }
        )
    return {"anyOf": [{"enum": alone}, *forms]}


def _parameters(record_params: type, tuned: bool, learns: tuple[str, ...]) -> JSON:
    """The schema of a method's parameters, each of which may be a grid or tuned, and some learned."""
    schema = params.schema(record_params)
    for name, (_, hint) in params.fields_of(record_params).items():
        one = dict(schema["properties"][name])
        said = {word: one.pop(word) for word in ("description", "default") if word in one}
        if not params.is_list_of_lists(hint):  # a list of lists is a value
            several = {"type": "array", "items": {"type": "array"} if params.is_list(hint) else one}
            words = [*(["tune"] if tuned else []), *(["learned"] if name in learns else [])]
            one = {"anyOf": [one, several, *({"$ref": f"#/$defs/{word}"} for word in words)]}
        schema["properties"][name] = {**one, **said}
    return schema
