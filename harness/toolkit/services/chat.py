"""Chat completions: each conversation gets a text, on request with the probabilities of its first token."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from harness.toolkit.services.client import Client, Malformed, Request, most_tokens
from harness.types import JSON


class Chat(NamedTuple):
    """One question. To get several answers to the same question, ask it with different values of `sample`."""

    messages: tuple[tuple[str, str], ...]  # (role, content)
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    logprobs: int = 0  # the number of candidates for the first token whose log probabilities are wanted
    sample: int = 0
    form: Mapping[str, Any] | None = None  # a JSON Schema that the answer must follow


class Reply(NamedTuple):
    text: str
    cut: bool  # whether the text was cut at max_tokens
    logprobs: dict[str, float]  # token -> log probability, for the candidates of the first token


def ask(
    client: Client, chats: Sequence[Chat], done: Callable[[int], None] | None = None,
    fits: Callable[[str], bool] | None = None,
) -> list[Reply]:  # fmt: skip
    """The reply to each question, in order. An answer for which `fits` is false is asked for again."""
    bodies = [_body(client, chat) for chat in chats]
    keys = [client.key("chat", body, chat.sample) for body, chat in zip(bodies, chats, strict=True)]
    answers = client.kept(keys)
    requests = {}
    for chat, body, key in zip(chats, bodies, keys, strict=True):
        if key not in answers and key not in requests:
            texts = [content for _, content in chat.messages]
            most = most_tokens(texts) + (most_tokens([str(chat.form)]) if chat.form else 0)
            requests[key] = Request("chat/completions", body, (key,), most, chat.max_tokens, _reader(fits))
    answers |= client.ask(list(requests.values()), done)
    return [_reply(orjson.loads(answers[key])) for key in keys]


def _body(client: Client, chat: Chat) -> dict[str, JSON]:
    body: dict[str, JSON] = {
        "model": client.service.model,
        "messages": [{"role": role, "content": content} for role, content in chat.messages],
        "max_tokens": chat.max_tokens,
        "temperature": chat.temperature,
    }
    if chat.seed is not None:
        body["seed"] = chat.seed + chat.sample
    if chat.logprobs:
        body |= {"logprobs": True, "top_logprobs": chat.logprobs}
    if chat.form is not None:
        schema = {"name": "answer", "strict": True, "schema": chat.form}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    body |= client.service.extra
    return {name: value for name, value in body.items() if value is not None}


def _reader(fits: Callable[[str], bool] | None) -> Callable[[JSON], Sequence[bytes]]:
    def read(response: JSON) -> Sequence[bytes]:
        reply = _reply(response)
        if fits is not None and not fits(reply.text):
            raise Malformed("not in the form asked for")
        return [orjson.dumps(response)]

    return read


def _reply(response: JSON) -> Reply:
    choice = response["choices"][0]
    text = choice["message"]["content"]
    if text is None and choice.get("finish_reason") == "length":
        text = ""
    if not isinstance(text, str):
        raise Malformed("no text")
    logprobs = ((choice.get("logprobs") or {}).get("content") or [{}])[0].get("top_logprobs") or []
    return Reply(
        text,
        choice.get("finish_reason") == "length",
        {item["token"]: float(item["logprob"]) for item in reversed(logprobs)},
    )
