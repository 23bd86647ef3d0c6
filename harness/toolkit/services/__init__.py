"""Asking services with OpenAI's HTTP interface: chat and embeddings, answers kept, within a budget."""

from harness.toolkit.services.chat import Chat, Reply, ask
from harness.toolkit.services.client import Client
from harness.toolkit.services.embeddings import embed
from harness.toolkit.services.settings import Service, missing

__all__ = ["Chat", "Client", "Reply", "Service", "ask", "embed", "missing"]
