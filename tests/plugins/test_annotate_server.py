"""The page's requests: who may ask, what other sites cannot do, and what the page is never sent."""

import contextlib
import re
import socket
import threading
import time

import pytest
from pools import AR, ZH, make_project, pairs

testclient = pytest.importorskip("starlette.testclient", reason="needs the extra annotate")
from harness.errors import HarnessError  # noqa: E402
from harness_annotate import people, server, words  # noqa: E402
from harness_annotate.events import Appointed, Graded  # noqa: E402
from harness_annotate.scheme import Choice  # noqa: E402

pytestmark = pytest.mark.extras

SITE = "http://127.0.0.1:8765"


class Browser:
    """One person's browser."""

    def __init__(self, made, token=None, hosts=("127.0.0.1",)):
        self.client = testclient.TestClient(server.app(made, 8765, list(hosts)), base_url=SITE)
        self.headers = {}
        if token:
            assert self.post("/enter", {"token": token}).status_code == 200
            self.headers = {"x-csrf-token": self.post("/about").json()["csrf"]}

    def post(self, path, body=None, **headers):
        return self.client.post(path, json=body or {}, headers={**self.headers, **headers})


@pytest.fixture
def made(tmp_path):
    return make_project(tmp_path, votes=1, more=0)


@pytest.fixture
def ann(made):
    return Browser(made, people.invite(made.journal, "ann", "annotator"))


def test_a_person_judges_and_goes_on(ann):
    first = ann.post("/next").json()
    assert (first["pair"]["number"], first["pair"]["query"], first["pair"]["passage"]) == (
        0, "what is q0", "The text of d0-0.",
    )  # fmt: skip
    assert first["pair"]["before"] == ["What comes before."]
    assert first["pair"]["after"][-1] == "What comes after."
    answered = ann.post("/answer", {"pair": 0, "grade": 2, "comment": "half"}).json()
    assert answered["last"]["choice"] == {"grade": 2, "labels": []}
    assert answered["pair"]["number"] == 1
    assert answered["progress"] == {"mine": 1, "done": 1, "pairs": 10}
    undone = ann.post("/undo").json()
    assert (undone["pair"]["number"], undone["undone"]["comment"]) == (0, "half")


@pytest.mark.parametrize(
    "path", ["/about", "/next", "/answer", "/skip", "/undo", "/review", "/verdict", "/return"]
)
def test_without_a_session_nothing_is_shown_or_stored(made, path):
    body = {"/answer": {"pair": 0}, "/skip": {"pair": 0}, "/return": {"package": 0}}.get(path, {})
    body = {"pair": 0, "right": True} if path == "/verdict" else body
    assert Browser(made).post(path, body).status_code == 401


def test_a_wrong_token_does_not_enter(made):
    assert Browser(made).post("/enter", {"token": "guess"}).status_code == 401


def test_a_token_stands_nowhere_in_the_folder(made):
    token = people.invite(made.journal, "bo", "annotator")
    session = people.session_of(token)
    made.journal.close()
    files = b"".join(path.read_bytes() for path in made.journal.path.parent.iterdir())
    assert token.encode() not in files
    assert session.encode() not in files
    assert people.key_of(session).encode() in files


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(made):
    browser = Browser(made)
    response = browser.post("/enter", {"token": people.invite(made.journal, "bo", "annotator")})
    assert re.search(
        "annotate-8765=[0-9a-f]{64}; HttpOnly; .*SameSite=strict", response.headers["set-cookie"]
    )


def test_a_change_needs_the_csrf_token_of_this_session(made, ann):
    other = Browser(made, people.invite(made.journal, "bo", "annotator"))
    ann.post("/next")
    for token in ("", other.headers["x-csrf-token"]):
        refused = ann.post("/answer", {"pair": 0, "grade": 1}, **{"x-csrf-token": token})
        assert (refused.status_code, "out of date" in refused.json()["error"]) == (403, True)
    with made.journal.reading() as state:
        assert state.pairs[0].votes == []


def test_a_request_of_another_site_is_refused_whatever_it_carries(ann):
    assert ann.post("/next", {}, origin="http://evil.example").status_code == 403
    assert ann.post("/next", {}, origin=SITE).status_code == 200


def test_a_form_of_another_site_cannot_send_json(ann):
    sent = ann.client.post("/next", content=b"{}", headers={**ann.headers, "content-type": "text/plain"})
    assert sent.status_code == 415


def test_another_name_for_this_machine_is_refused(made):
    browser = Browser(made)
    assert browser.client.get("/", headers={"host": "rebound.example"}).status_code == 400
    assert browser.client.get("/", headers={"host": "127.0.0.1:8765"}).status_code == 200


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"pair": 0, "grade": 9}, "9 is not one of the scheme"),
        ({"pair": 0, "grade": 1, "labels": ["entity"]}, "unknown label 'entity'"),
        ({"pair": 0, "grade": "3"}, "not what this page sends"),
        ({"pair": 0, "grade": 1, "person": "bo"}, "not what this page sends"),
        ({"pair": 0, "grade": 1, "comment": "x" * 70_000}, "shorten the comment"),
    ],
)
def test_a_wrong_answer_is_refused_and_not_stored(made, ann, body, problem):
    ann.post("/next")
    refused = ann.post("/answer", body)
    assert refused.status_code in (400, 413)
    assert problem in refused.json()["error"]
    with made.journal.reading() as state:
        assert state.pairs[0].votes == []


@pytest.mark.parametrize("number", [1, -1, 10**6])
def test_nobody_answers_a_pair_that_they_were_not_given(ann, number):
    ann.post("/next")
    assert ann.post("/answer", {"pair": number, "grade": 1}).status_code == 409


def test_annotators_do_not_review_and_reviewers_do_not_judge(made, ann):
    reviewer = Browser(made, people.invite(made.journal, "rae", "reviewer"))
    assert ann.post("/review").status_code == ann.post("/return", {"package": 0}).status_code == 403
    assert reviewer.post("/next").status_code == reviewer.post("/undo").status_code == 403


def test_a_machines_grade_is_sent_only_after_the_person_has_chosen(made, ann):
    with made.journal.writing() as (_, append):
        append(Appointed("robot-7", "{}"))
        for number in range(10):
            append(Graded("robot-7", number, Choice(3)))
    assert "robot-7" not in ann.post("/about").text + ann.post("/next").text
    answered = ann.post("/answer", {"pair": 0, "grade": 1}).json()
    assert answered["last"]["machines"] == [{"judge": "robot-7", "grade": 3, "labels": []}]
    assert "robot-7" not in str(answered["pair"])
    ann.post("/undo")
    ann.post("/answer", {"pair": 0, "grade": 3})
    ann.post("/answer", {"pair": 1, "grade": 3})
    with made.journal.reading() as state:
        assert [state.pairs[number].votes[0].blind for number in (0, 1)] == [False, True]


def test_an_answer_can_be_changed_until_a_reviewer_has_seen_it(made, ann):
    ann.post("/next")
    for number in range(3):
        ann.post("/answer", {"pair": number, "grade": 1})
    listed = ann.post("/answers").json()["answers"]
    assert [(item["number"], item["choice"]["grade"], item["reviewed"]) for item in listed] == [
        (2, 1, False), (1, 1, False), (0, 1, False),
    ]  # fmt: skip
    assert ann.post("/undo", {"pair": 1}).json()["pair"]["number"] == 1
    assert ann.post("/answer", {"pair": 1, "grade": 3}).json()["pair"]["number"] == 3
    assert [item["choice"]["grade"] for item in ann.post("/answers").json()["answers"]] == [3, 1, 1]
    assert ann.post("/undo", {"pair": 9}).status_code == 409


def test_a_reviewed_answer_stays(tmp_path):
    made = make_project(tmp_path, votes=1, more=0, package=1)
    ann = Browser(made, people.invite(made.journal, "ann", "annotator"))
    ann.post("/next")
    ann.post("/answer", {"pair": 0, "grade": 1})
    rae = Browser(made, people.invite(made.journal, "rae", "reviewer"))
    rae.post("/verdict", {"pair": 0, "right": True})
    assert ann.post("/answers").json()["answers"][0]["reviewed"]
    for body in ({"pair": 0}, {}):
        assert "a reviewer has looked" in ann.post("/undo", body).json()["error"]


def test_a_revoked_link_works_no_more_and_its_votes_stay(made, ann):
    ann.post("/next")
    ann.post("/answer", {"pair": 0, "grade": 2})
    people.revoke(made.journal, "ann")
    assert ann.post("/next").status_code == 401
    with made.journal.reading() as state:
        assert (len(state.pairs[0].votes), state.people["ann"].current) == (1, None)
    with pytest.raises(HarnessError, match="--revoke bob: unknown person 'bob'; choose from: ann"):
        people.revoke(made.journal, "bob")
    again = Browser(made, people.invite(made.journal, "ann", "annotator"))
    assert again.post("/next").json()["pair"]["number"] == 1


@pytest.fixture
def port(made):
    """The port of a server at work, as `harness annotate` starts it."""
    uvicorn = pytest.importorskip("uvicorn")
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        server.app(made, 0, ["127.0.0.1"]), log_level="warning", access_log=False, timeout_graceful_shutdown=1
    )
    serving = uvicorn.Server(config)
    thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()[1]
    serving.should_exit = True
    thread.join()


HEAD = "POST /answer HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def test_an_endless_request_is_refused_and_not_read_on(port):
    sent, answer = 0, b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
        try:
            while sent < 64_000_000:
                client.sendall(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
                sent += 0x4000
        except OSError:
            pass
        with contextlib.suppress(OSError):
            answer = client.recv(1 << 16)
    assert sent < 16_000_000
    assert answer in (b"",) or b"413" in answer  # a reset may overtake the answer


def test_a_client_that_leaves_early_prints_nothing(capfd, port):
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            client.sendall(f"{HEAD}Content-Length: 1000\r\n\r\n{{".encode())
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 200"
    time.sleep(0.3)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("query", "text", "language", "forms"), [
    ("how are bowls glazed", "A glazed bowl; glazing Bowls and bowling.", "en",
     ["bowling", "glazing", "glazed", "Bowls", "bowl"]),
    ("北京是哪里", "我在北京，北京是首都。", "zh", ["北京是", "北京"]),
    ("", "nothing", "en", []),
    ("x", "x", "tlh", ["x"]),
])  # fmt: skip
def test_words_of_the_query_are_found_in_all_their_forms(query, text, language, forms):
    assert words.shared(query, [text], language).forms == forms


def test_the_page_may_run_its_own_scripts_alone_and_load_nothing_else(made):
    browser = Browser(made)
    for path in server.FILES:
        response = browser.client.get(path)
        assert "default-src 'none'; script-src 'self'" in response.headers["content-security-policy"]
        assert not re.search("https?://", response.text)
    assert "<script>" not in browser.client.get("/").text
    scripts = "".join(browser.client.get(path).text for path in server.FILES if path.endswith(".js"))
    assert not re.search("innerHTML|outerHTML|insertAdjacent|document.write|eval", scripts)


def test_texts_arrive_as_they_are(tmp_path):
    rows = pairs(1, 1)
    hostile = '<img src=x onerror="alert(1)">'
    made = make_project(tmp_path / "a", rows, votes=1)
    made.pool.queries["q0"] = type(made.pool.queries["q0"])("q0", f"{ZH} {AR} {hostile}")
    ann = Browser(made, people.invite(made.journal, "ann", "annotator"))
    assert ann.post("/next").json()["pair"]["query"] == f"{ZH} {AR} {hostile}"


@pytest.mark.parametrize("name", ["", " ann", "a\nb", "<b>", "x" * 70])
def test_a_strange_name_is_not_invited(made, name):
    with pytest.raises(Exception, match="is no name"):
        people.invite(made.journal, name, "annotator")
