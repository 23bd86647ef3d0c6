"""The JSON Schema of a suite's section `models`, and of a parameter that names a made model."""

from __future__ import annotations

from harness.types import JSON

_SPLIT: JSON = {"type": "string", "pattern": "^.+/.+$", "description": "DATASET/SPLIT"}
_COUNT: JSON = {"type": "integer", "minimum": 1}


def _object(properties: JSON, *required: str) -> JSON:
    return {
        "type": "object", "properties": properties, "required": list(required), "additionalProperties": False,
    }  # fmt: skip


MADE = _object({"made": {"type": "string"}, "part": {"type": "string"}, "checkpoint": _COUNT}, "made")
MODEL = _object(
    {
        "train": {"$ref": "#/$defs/trainers"},
        "on": {"anyOf": [_SPLIT, {"type": "array", "items": _SPLIT, "minItems": 1}]},
        "level": {"type": "integer", "default": 1, "description": "the lowest grade of a positive"},
        "queries": {**_COUNT, "description": "how many training queries are used"},
        "negatives": _object(
            {
                "of": {
                    "type": "string",
                    "description": "whose run on the training queries is taken",
                },
                "depth": {**_COUNT, "default": 50},
                "take": {**_COUNT, "default": 4, "description": "of a query, in one epoch"},
                "below": {"type": "number"},
                "above": {"type": "number"},
                "draw": {"enum": ["sample", "stride"]},
                "positives_above": {"type": "number"},
                "undenoised": {"type": "number", "minimum": 0, "maximum": 1, "default": 0},
                "fill": {"type": "boolean", "default": False},
            },
            "of",
        ),
        "validate": _object(
            {
                "on": _SPLIT,
                "measure": {"type": "string"},
                "checkpoints": {**_COUNT, "maximum": 1000, "default": 5},
                "of": {"type": "string", "description": "the system that is tried; else the first that fits"},
                "corpus": _object(
                    {
                        "of": {"type": "string", "description": "whose best results are searched"},
                        "depth": {**_COUNT, "default": 100},
                        "whole": {"type": "boolean", "default": False},
                    },
                    "of",
                ),
            },
            "on",
            "measure",
        ),
        "seeds": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
    },
    "train",
    "on",
)
