"""The web server of `harness annotate`: sessions, protection against other sites, the page's requests."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from harness.plugin import HarnessError, StoreError
from harness_annotate import assignment, people, review, views
from harness_annotate.assignment import Lost
from harness_annotate.project import Project
from harness_annotate.scheme import Choice
from harness_annotate.state import NotAllowed, Person

HERE = Path(__file__).parent / "page"
FILES = {"/": ("page.html", "text/html"), "/page.css": ("page.css", "text/css")} | {
    f"/{name}.js": (f"{name}.js", "text/javascript") for name in ("base", "text", "judge", "review", "main")
}
LARGEST = 64_000  # the most bytes of a request
YEAR = 365 * 24 * 3600  # seconds that a browser keeps its session
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
B = TypeVar("B", bound=Struct)


class Entering(Struct, forbid_unknown_fields=True):
    token: str


class Nothing(Struct, forbid_unknown_fields=True):
    pass


class Answering(Struct, forbid_unknown_fields=True):
    pair: int
    grade: int | None = None
    labels: tuple[str, ...] = ()
    comment: str = ""


class Skipping(Struct, forbid_unknown_fields=True):
    pair: int
    comment: str = ""


class Verdict(Struct, forbid_unknown_fields=True):
    pair: int
    right: bool
    choice: Choice | None = None
    comment: str = ""


class Returning(Struct, forbid_unknown_fields=True):
    package: int


class Undoing(Struct, forbid_unknown_fields=True):
    pair: int | None = None  # the last one


class Refused(Exception):
    """A request that is refused, with a status and a message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def app(project: Project, port: int, hosts: list[str]) -> Starlette:
    """The web application. `hosts` are the host names under which the page may be requested. A request with
    any other name may come from a site whose name points to this machine, and is refused."""
    cookie = f"annotate-{port}"  # browsers share cookies between the ports of a host
    routes = [Route(path, _file(*file)) for path, file in FILES.items()]
    routes.append(Route("/enter", _enter(project, cookie), methods=["POST"]))
    for path, handler in _handlers(project).items():
        routes.append(Route(path, _guarded(project, cookie, *handler), methods=["POST"]))
    trusted = Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    return Starlette(routes=routes, middleware=[trusted])


def _handlers(project: Project) -> dict[str, tuple[type[Struct], str | None, Callable[[str, Any], Any]]]:
    """Path -> the form of its request, the role that may send it, and the function that answers it."""
    journal = project.journal

    def answer(name: str, body: Answering) -> Any:
        assignment.answer(journal, name, body.pair, body.grade, body.labels, body.comment)
        return {"last": views.answered(project, name, body.pair), **views.next_pair(project, name)}

    def skip(name: str, body: Skipping) -> Any:
        assignment.skip(journal, name, body.pair, body.comment)
        return {"last": {"choice": None, "machines": []}, **views.next_pair(project, name)}

    def undo(name: str, body: Undoing) -> Any:
        vote = assignment.undo(journal, name, body.pair)
        if vote is None:
            raise HarnessError("there is nothing left to undo")
        before = {"choice": msgspec.to_builtins(vote.choice), "comment": vote.comment}
        return {"undone": before, **views.next_pair(project, name)}

    def verdict(name: str, body: Verdict) -> Any:
        review.verdict(journal, name, body.pair, body.right, body.choice, body.comment)
        return views.next_review(project, name)

    def give_back(name: str, body: Returning) -> Any:
        review.give_back(journal, name, body.package)
        return views.next_review(project, name)

    return {
        "/about": (Nothing, None, lambda name, body: views.about(project, name)),
        "/next": (Nothing, "annotator", lambda name, body: views.next_pair(project, name)),
        "/answer": (Answering, "annotator", answer),
        "/skip": (Skipping, "annotator", skip),
        "/undo": (Undoing, "annotator", undo),
        "/answers": (Nothing, "annotator", lambda name, body: views.answers(project, name)),
        "/review": (Nothing, "reviewer", lambda name, body: views.next_review(project, name)),
        "/verdict": (Verdict, "reviewer", verdict),
        "/return": (Returning, "reviewer", give_back),
    }


def _file(name: str, kind: str) -> Callable[[Request], Response]:
    data = (HERE / name).read_bytes()
    return lambda request: Response(data, media_type=f"{kind}; charset=utf-8", headers=HEADERS)


def _enter(project: Project, cookie: str) -> Callable[[Request], Any]:
    async def enter(request: Request) -> Response:
        try:
            body = await _body(request, Entering)
            session = people.session_of(body.token.strip())
            await run_in_threadpool(_person, project, session)
        except Refused as refused:
            return _json({"error": str(refused)}, refused.status)
        response = _json({"entered": True})
        secure = request.url.scheme == "https"  # the scheme that a proxy reports in its headers
        response.set_cookie(cookie, session, max_age=YEAR, httponly=True, samesite="strict", secure=secure)
        return response

    return enter


def _guarded(
    project: Project, cookie: str, form: type[Struct], role: str | None, work: Callable[[str, Any], Any]
) -> Callable[[Request], Any]:
    """A handler that first checks the session, and the token that only the harness' own page has."""

    async def handle(request: Request) -> Response:
        try:
            body = await _body(request, form)
            session = request.cookies.get(cookie, "")
            person = await run_in_threadpool(_person, project, session)
            csrf = people.csrf_of(session)
            if request.url.path == "/about":  # another site cannot read this response
                return _json({**await run_in_threadpool(work, person.name, body), "csrf": csrf})
            if not hmac.compare_digest(request.headers.get("x-csrf-token", "").encode(), csrf.encode()):
                raise Refused(403, "this page is out of date; load it again")
            if person.role != role:
                raise Refused(403, f"only for a {role}; {person.name} is {person.role}")
            return _json(await run_in_threadpool(work, person.name, body))
        except Refused as refused:
            return _json({"error": str(refused)}, refused.status)
        except Lost as error:
            return _json({"error": str(error)}, 409)
        except StoreError as error:
            return _json({"error": str(error)}, 503)
        except (HarnessError, NotAllowed) as error:
            return _json({"error": str(error)}, 400)

    return handle


async def _body(request: Request, form: type[B]) -> B:
    """The decoded body. Raises Refused if the browser says that the request came from another site."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise Refused(403, "this request came from another site")
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise Refused(415, "expected JSON")
    data = b""
    try:
        async for piece in request.stream():
            data += piece
            if len(data) > LARGEST:
                raise Refused(413, f"longer than {LARGEST:,} bytes; shorten the comment")
    except ClientDisconnect:
        raise Refused(400, "the request ended too early") from None
    try:
        return msgspec.json.decode(data, type=form)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Refused(400, f"not what this page sends ({error})") from None


def _person(project: Project, session: str) -> Person:
    with project.journal.reading() as state:
        person = people.person_of(state, session)
    if person is None:
        raise Refused(401, "not invited: open the link of your invitation")
    return person


def _json(data: Any, status: int = 200) -> Response:
    """After a request that is refused for its length, the connection ends: the rest is not read."""
    headers = HEADERS | {"Connection": "close"} if status == 413 else HEADERS
    return Response(msgspec.json.encode(data), status, headers=headers, media_type="application/json")
