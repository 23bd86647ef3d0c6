"""Asks services with OpenAI's HTTP interface for chat and embeddings, within a budget; answers are kept."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.store.responses import Responses
    from harness.toolkit.services.chat import Chat, Reply, ask
    from harness.toolkit.services.client import Client
    from harness.toolkit.services.embeddings import embed
    from harness.toolkit.services.settings import Service, missing

__all__ = ["Chat", "Client", "Reply", "Responses", "Service", "ask", "embed", "missing"]
_MODULES = {  # a record imports only `settings`; the other modules are imported when they are used
    "Chat": "chat", "Reply": "chat", "ask": "chat", "Client": "client", "embed": "embeddings",
    "Service": "settings", "missing": "settings", "Responses": "..store.responses",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
