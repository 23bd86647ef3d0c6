"""The answers that the store keeps, for models that run here: a killed run computes no answer twice."""

from harness.store.responses import Responses

__all__ = ["Responses"]
