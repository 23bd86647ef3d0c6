"""The settings of a service, for use as a parameter of plugins. Importing this imports nothing heavy."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.problems import Need
from harness.records import param

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_LOCAL = re.compile(r"https?://(localhost|127\.[0-9.]+|\[::1\])(:\d+)?(/.*)?")


@dataclass(frozen=True)
class Service:
    """An address with OpenAI's interface, and how to use it. Settings that cannot change an answer do not
    enter the key of a step."""

    url: str = param(help="the address before /chat/completions, such as http://localhost:8000/v1")
    model: str = param(help="the model's name at that address")
    key: str | None = param(
        None, "the environment variable that holds the key; null: none is sent", keyed=False
    )
    extra: Mapping[str, Any] = field(
        default_factory=dict, metadata={"help": "further fields of every request; null leaves one out"}
    )
    budget_tokens: int | None = param(
        None, "the most tokens that this store may have used of this model, in all", minimum=0, keyed=False
    )
    budget_money: float | None = param(
        None, "the most money that this store may have spent on this model, in all", minimum=0, keyed=False
    )
    price_input: float = param(0.0, "money for a million tokens that are read", minimum=0, keyed=False)
    price_output: float = param(0.0, "money for a million tokens that are written", minimum=0, keyed=False)
    price_cached: float | None = param(
        None, "instead of price_input, for tokens that the service has in its cache", minimum=0, keyed=False
    )
    requests_per_minute: float | None = param(None, "the service's limit", minimum=0.001, keyed=False)
    tokens_per_minute: float | None = param(None, "the service's limit", minimum=1, keyed=False)
    concurrency: int = param(4, "requests at a time", minimum=1, maximum=256, keyed=False)
    timeout: float = param(120.0, "seconds for one whole answer", minimum=0.001, keyed=False)
    tries: int = param(6, "how often one request is sent before the step fails", minimum=1, keyed=False)

    def __post_init__(self) -> None:
        if not re.match(r"https?://[^/\s@]+", self.url):
            raise ValueError("url: expected an address that begins with http:// or https://, without a user")
        if self.key is not None and not _NAME.fullmatch(self.key):
            # the value may be the key itself, so the message does not quote it
            raise ValueError("key: expected the name of an environment variable, such as OPENAI_API_KEY")
        if self.budget_money is not None and not (self.price_input or self.price_output):
            raise ValueError("budget_money: needs 'price_input' or 'price_output', per million tokens")

    @property
    def account(self) -> str:
        """The name under which the ledger counts the costs for the budgets: the address and the model."""
        return f"{self.url.rstrip('/')} {self.model}"

    @property
    def is_local(self) -> bool:
        return _LOCAL.fullmatch(self.url) is not None

    def secret(self) -> str | None:
        """The key itself, which is sent to the service, but never stored or shown; None if there is none."""
        return os.environ.get(self.key, "").strip() or None if self.key else None


def missing(service: Service) -> Sequence[Need]:
    """The key of the service, as a need, if its environment variable is not set."""
    if service.key is None or service.secret() is not None:
        return ()
    return (Need("other", f"the environment variable {service.key} holds no key for {service.url}; set it"),)
