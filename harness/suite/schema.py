"""The published JSON Schema of suites, for editors. It covers the plugins that are installed here."""

from __future__ import annotations

import dataclasses
import typing
from pathlib import Path
from typing import Any, Literal

from harness.catalogue import Catalogue, params
from harness.suite import model_schema, resources
from harness.types import JSON

TUNABLE = ("contexts", "rewriters", "retrievers", "combiners", "rerankers")  # methods of a system
DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TUNE_KEYS = {
    "on": {"type": "string", "pattern": "^.+/.+$", "description": "DATASET/SPLIT to tune on"},
    "folds": {"type": "integer", "minimum": 2, "maximum": 1000},
    "measure": {"type": "string"},
    "grid": {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3},
    "values": {"type": "array", "minItems": 2, "description": "instead of a grid"},
    "simplex": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
    "trials": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "points that are drawn"},
    "seed": {"type": "integer", "minimum": 0, "default": 0},
}
TUNE: JSON = {  # stands in the place of a parameter's value
    "type": "object",
    "properties": {
        "tune": {
            "type": "object",
            "properties": _TUNE_KEYS,
            "additionalProperties": False,
        }
    },
    "required": ["tune"],
    "additionalProperties": False,
}
BESIDE: JSON = {
    "type": "object",
    "properties": {
        "published": {"type": "string", "description": "the name of a published leaderboard"},
        "as": {"type": "string", "description": "the split of this suite's datasets"},
    },
    "required": ["published", "as"],
    "additionalProperties": False,
}


def json_schema(catalogue: Catalogue) -> JSON:
    """The JSON Schema of suites with the installed plugins. Editors complete names and parameters by it."""
    kinds = ("contexts", "retrievers", "combiners", "trainers")
    splits = {"splits": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}}
    definitions = {kind: _plugins(catalogue, kind) for kind in kinds}
    beside_dataset = {
        "unknown_judgements": _choice("keep", "drop", "refuse"),
        "scored": {"type": "boolean", "default": True, "description": "false: it is tuned or trained on"},
        "limit": {"type": "integer", "minimum": 1, "description": "of a trial: so many queries"},
        "sample": {"type": "integer", "minimum": 1, "description": "of a trial: so many passages"},
    }
    definitions["datasets"] = _plugins(catalogue, "datasets", beside_dataset)
    together = {"together": {"type": "array", "items": {"type": "string"}, "minItems": 2}}
    definitions["analyses"] = _plugins(catalogue, "analyses", together)
    definitions["makers"] = _plugins(catalogue, "makers", splits)
    made = {
        "type": "object",
        "description": "a dataset that the suite makes of another",
        "properties": {"of": {"type": "string"}, "make": _one_or_list("makers"), **beside_dataset},
        "required": ["of", "make"],
        "additionalProperties": False,
    }
    feedback = {"of": {"type": "string", "description": "the system whose hits are read"}}
    definitions["rewriters"] = _plugins(catalogue, "rewriters", feedback)
    beside = {"depth": {"type": "integer", "minimum": 1}, "tail": _choice("keep", "drop")}
    definitions["rerankers"] = _plugins(catalogue, "rerankers", beside)
    names = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    system = {
        "type": "object",
        "properties": {
            "context": _one_or_list("contexts"),
            "queries": _one_or_list("rewriters"),
            "retriever": _ref("retrievers"),
            "unit": _choice("passage", "document"),
            "of": names,
            "combine": _ref("combiners"),
            "rerank": _one_or_list("rerankers"),
            "scored": {"type": "boolean", "default": True, "description": "false: it gets no rows"},
        },
        "additionalProperties": False,
    }
    dataset = {"anyOf": [_ref("datasets"), made, {"type": "null"}]}
    measures = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    properties = {
        "suite": {"type": "string", "description": "the leaderboard's name"},
        "description": {"type": "string"},
        "include": names,
        "datasets": {
            "anyOf": [
                {"type": "object", "additionalProperties": dataset},
                {"type": "array", "items": {"enum": catalogue.names("datasets")}},
            ]
        },
        "systems": {"type": "object", "additionalProperties": system},
        "measures": measures,
        "averages": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}, "minItems": 2},
            "description": "means over groups of datasets, by name",
        },
        "beside": {
            "anyOf": [BESIDE, {"type": "array", "items": BESIDE}],
            "description": "published rows that are comparable although their split is another",
        },
        "analyses": _one_or_list("analyses"),
        "models": {"type": "object", "additionalProperties": model_schema.MODEL},
        "protocol": {"enum": catalogue.names("protocols")},
        "depth": {"type": "integer", "minimum": 1, "maximum": 1_000_000, "default": 1000},
        "seed": {"type": "integer", "minimum": 0, "default": 0},
        "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "seconds that one step may take"},
        "memory": {
            "type": "number",
            "exclusiveMinimum": 0,
            "description": "gigabytes that one step may hold",
        },
    }
    title = {"$schema": DRAFT, "title": "A suite of passage-harness", "type": "object"}
    return {**title, "properties": properties, "additionalProperties": False, "$defs": definitions}


def _plugins(catalogue: Catalogue, kind: str, beside: dict[str, JSON] | None = None) -> JSON:
    forms: list[JSON] = [{"enum": catalogue.names(kind)}]
    for_cluster = {resources.KEY: resources.SCHEMA} if kind in resources.KINDS else {}
    for name in catalogue.names(kind):
        record = catalogue.entries[kind][name][0].record
        inner = {"anyOf": [_parameters(record.params, tuned=kind in TUNABLE), {"type": "null"}]}
        forms.append(
            {
                "type": "object",
                "description": record.summary,
                "properties": {name: inner, **for_cluster, **(beside or {})},
                "required": [name],
                "additionalProperties": False,
            }
        )
    return {"anyOf": forms}


def _parameters(record_params: type, tuned: bool = False) -> JSON:
    properties, required = {}, []
    for name, (field, hint) in params.fields_of(record_params).items():
        schema = _type(hint)
        described = {"description": field.metadata["help"]} if field.metadata.get("help") else {}
        has_default = field.default is not dataclasses.MISSING
        default = {"default": params.plain(field.default)} if has_default else {}
        if params.is_list(hint) and not params.is_list_of_lists(hint):  # a list of lists is a grid
            schema = {"anyOf": [schema, {"type": "array", "items": {"type": "array"}}]}
        elif not params.is_list(hint):  # a list fans out into a grid
            options = [schema, {"type": "array", "items": schema}]
            schema = {"anyOf": [*options, TUNE] if tuned else options}
        properties[name] = {**schema, **described, **default}
        if not has_default and field.default_factory is dataclasses.MISSING:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _type(hint: Any) -> JSON:
    simple = {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        Path: "string",
        type(None): "null",
    }
    if hint in simple:
        return {"type": simple[hint]}
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return {"enum": list(args)}
    if params.is_union(hint):
        made = [model_schema.MADE] if {str, Path} <= set(args) else []
        return {"anyOf": [*(_type(arg) for arg in args), *made]}
    if params.is_list(hint):
        return {"type": "array", **({"items": _type(args[0])} if args else {})}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _parameters(hint)
    return {"type": "object"} if origin is dict else {}


def _ref(kind: str) -> JSON:
    return {"$ref": f"#/$defs/{kind}"}


def _one_or_list(kind: str) -> JSON:
    return {"anyOf": [_ref(kind), {"type": "array", "items": _ref(kind)}]}


def _choice(*options: str) -> JSON:
    return {"enum": list(options)}
