"""A service on the loopback with OpenAI's interface, which fails in the ways that a test lists."""

import contextlib
import hashlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULTS = (
    "429",
    "500",
    "hang",
    "drip",
    "truncated",
    "broken",
    "close",
    "html",
    "empty",
    "short",
    "long",
    "duplicate",
)


@dataclass
class StandIn:
    """What it was asked and what it answered. `faults` are used up one by one, a request each."""

    answer: Callable[[list[dict]], str]
    faults: list[str] = field(default_factory=list)
    key: str | None = None
    seconds: float = 0.0  # of one answer
    together: int = 1  # requests that must be there at once before the first is answered
    asked: list[dict] = field(default_factory=list)
    answered: list[dict] = field(default_factory=list)  # whole and right
    headers: list[dict] = field(default_factory=list)
    most_at_once: int = 0
    at_once: int = 0
    usage: bool = True
    caches: bool = False  # whether it tells how many of a prompt's first words it had read before
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)


def vector(text: str, size: int = 8) -> list[float]:
    """One that only this text has."""
    digest = hashlib.sha256(text.encode()).digest()
    return [round(byte / 255 - 0.5, 3) for byte in digest[:size]]


def contextual(texts: list[str], together: bool = True) -> list[dict]:
    """The answer for these texts, in another order, as a service may give it."""
    others = "|".join(texts) if together and len(texts) > 1 else ""
    return [{"index": i, "embedding": vector(text + others)} for i, text in enumerate(texts)][::-1]


def tokens(body: dict) -> int:
    grouped = [text for group in body.get("inputs", ()) for text in group]
    texts = grouped or body.get("input") or [message["content"] for message in body["messages"]]
    return sum(len(text.split()) for text in texts)


def cached(body: dict, before: list[dict]) -> int:
    """How many words of a question's text begin a question that was answered before."""

    def words(body):
        return body["messages"][-1]["content"].split()

    matches = (
        itertools.takewhile(lambda pair: pair[0] == pair[1], zip(words(body), words(b), strict=False))
        for b in before
    )
    return max((len(list(match)) for match in matches), default=0)


@contextlib.contextmanager
def standing_in(answer: Callable[[list[dict]], str] | None = None, **settings) -> Iterator[StandIn]:
    service = StandIn(answer or (lambda messages: f"re: {messages[-1]['content']}"), **settings)
    released = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with service.lock:
                service.asked.append(body)
                service.headers.append(dict(self.headers))
                fault = service.faults.pop(0) if service.faults else ""
                service.at_once += 1
                service.most_at_once = max(service.most_at_once, service.at_once)
            try:
                time.sleep(service.seconds)
                while service.most_at_once < service.together and not released.is_set():
                    released.wait(0.01)
                self.reply(body, fault)
            finally:
                with service.lock:
                    service.at_once -= 1

        def reply(self, body, fault):
            if service.key and self.headers["Authorization"] != f"Bearer {service.key}":
                said = f"Incorrect API key provided: {self.headers['Authorization']}"
                return self.send(401, {"error": {"message": said, "code": "invalid_api_key"}})
            if fault == "429":
                return self.send(429, {"error": {"message": "slow down"}}, {"Retry-After": "0.05"})
            if fault in ("500", "400", "404"):
                return self.send(int(fault), {"error": {"message": f"it failed with {fault}"}})
            if fault == "quota":
                return self.send(429, {"error": {"message": "pay first", "code": "insufficient_quota"}})
            if fault == "hang":
                released.wait()
                self.close_connection = True
                return None
            if fault == "html":
                return self.raw(200, b"<html>a proxy says no</html>")
            response = self.response(body)
            items = response.get("data") or response["choices"]
            if fault == "empty":
                items.clear()
            elif fault == "short":
                items.pop()
            elif fault == "long":
                items.append({**items[-1], "index": len(items)})
            elif fault == "duplicate":
                for item in items:
                    item["index"] = 0
            elif fault == "inner":
                items[0]["data"].pop()
            elif fault == "uneven" and "data" in response:
                items[0]["embedding"] = items[0]["embedding"][:-1]
            content = json.dumps(response).encode()
            if fault == "broken":
                return self.raw(200, content[: len(content) // 2])
            if fault in ("truncated", "drip", "close"):
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                for piece in content[: len(content) if fault == "drip" else 0]:
                    self.wfile.write(bytes([piece]))
                    self.wfile.flush()
                    if released.wait(0.1):
                        break
                if fault == "truncated":
                    self.wfile.write(content[: len(content) // 2])
                self.close_connection = True
                return None
            if not fault:
                with service.lock:
                    service.answered.append(body)
            return self.raw(200, content)

        def response(self, body):
            count = tokens(body)
            if self.path.endswith("/contextualizedembeddings"):
                groups = [{"index": i, "data": contextual(group)} for i, group in enumerate(body["inputs"])]
                return {"data": groups[::-1], "usage": {"total_tokens": count}}
            if self.path.endswith("/embeddings"):
                data = contextual(body["input"], together=body.get("late_chunking", False))
                settings, usage = {"data": data}, {"prompt_tokens": count, "total_tokens": count}
            else:
                text = service.answer(body["messages"])
                cut = len(text.split()) > body["max_tokens"]
                text = " ".join(text.split()[: body["max_tokens"]]) if cut else text
                choice = {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "length" if cut else "stop",
                }
                if body.get("logprobs"):
                    first = [{"token": text, "logprob": -0.1}, {"token": "no", "logprob": -2.5}]
                    choice["logprobs"] = {
                        "content": [{"token": text, "logprob": -0.1, "top_logprobs": first}]
                    }
                written = len(text.split())
                settings = {"choices": [choice]}
                usage = {
                    "prompt_tokens": count,
                    "completion_tokens": written,
                    "total_tokens": count + written,
                }
                if service.caches:
                    usage["prompt_tokens_details"] = {"cached_tokens": cached(body, service.answered)}
            return {**settings, "usage": usage} if service.usage else settings

        def send(self, status, said, headers=None):
            self.raw(status, json.dumps(said).encode(), headers)

        def raw(self, status, content, headers=None):
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(content)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_):
            """A client that has gone away is meant."""

    server = Server(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield service
    finally:
        released.set()
        server.shutdown()
        server.server_close()
        thread.join()
