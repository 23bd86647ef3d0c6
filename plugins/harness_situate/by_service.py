"""Asks a chat model behind an address about passages, each document's first question before its others."""

from __future__ import annotations

from collections.abc import Sequence

from harness.toolkit import services
from harness.toolkit.services import Service
from harness_situate import Situate
from harness_situate.augmenter import Answer

BYTES = 4  # of a token, where the service's tokenizer is not known


class Asking:
    def __init__(self, params: Situate, service: Service) -> None:
        self._params, self._client = params, services.Client(service)
        self.together = service.concurrency

    def length(self, text: str) -> int:
        return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES)

    def write(self, groups: Sequence[Sequence[str]]) -> list[list[Answer]]:
        """The answers. The first prompt of each group is answered before the others are sent, so that the
        service has their common beginning in its cache."""
        chats = [[self._chat(prompt) for prompt in group] for group in groups]
        firsts = iter(services.ask(self._client, [group[0] for group in chats if group]))
        others = iter(services.ask(self._client, [chat for group in chats for chat in group[1:]]))
        replies = [[next(others if i else firsts) for i in range(len(group))] for group in chats]
        return [[Answer(reply.text, reply.cut) for reply in group] for group in replies]

    def _chat(self, prompt: str) -> services.Chat:
        params = self._params
        return services.Chat((("user", prompt),), params.max_tokens, params.temperature, params.seed)
