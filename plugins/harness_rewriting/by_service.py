"""Generates texts with a chat model behind an address."""

from __future__ import annotations

from collections.abc import Sequence

from harness.toolkit import services
from harness.toolkit.services import Service
from harness_rewriting import Written


class Chatting:
    def __init__(self, params: Written, service: Service) -> None:
        self._params, self._client = params, services.Client(service)

    def write(self, prompts: Sequence[str]) -> tuple[list[list[str]], int]:
        params = self._params
        chats = [
            services.Chat((("user", prompt),), params.max_tokens, params.temperature, params.seed, sample=i)
            for prompt in prompts
            for i in range(params.answers)
        ]
        replies = services.ask(self._client, chats)
        count, cut = params.answers, sum(reply.cut for reply in replies)
        texts = [reply.text.strip() for reply in replies]
        return [texts[i : i + count] for i in range(0, len(texts), count)], cut
