"""`harness annotate` in a real browser: people judge a pool by keyboard, disagree, and are reviewed."""

import http.client
import re
import signal
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import browsers
import orjson
import pytest
from browsers import webdriver
from pools import AR, ZH, write_pool
from running import COMMAND, Harness

from harness_annotate.events import Appointed, Graded
from harness_annotate.journal import Journal
from harness_annotate.scheme import Choice

pytest.importorskip("uvicorn", reason="needs the extra annotate")

pytestmark = pytest.mark.extras

HOSTILE = (
    '</p><script>document.title="ran"</script><img src=x onerror="document.title=\'ran\'"> &lt;b&gt; {{x}}'
)
WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty"]


@dataclass
class Server:
    """`harness annotate` on a folder; it can be killed and started again on the same port."""

    folder: Path
    options: tuple[str, ...]
    port: int = 0
    process: Any = None

    def run(self, *options: str) -> str:
        command = [*COMMAND, "annotate", self.folder / "pool", "--out", self.folder / "judgements", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, *more: str) -> str:
        """What it prints when it begins."""
        command = [*COMMAND, "annotate", self.folder / "pool", "--out", self.folder / "judgements"]
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port), *more],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        lines = []
        while not lines or not lines[-1].startswith("Ctrl-C"):
            line = self.process.stdout.readline()
            assert line, "".join(lines)
            lines.append(line)
        self.port = int(re.search(r":(\d+)/", "".join(lines))[1])
        return "".join(lines)

    def kill(self, how: int = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    def invite(self, *names: str, reviewer: bool = False) -> list[str]:
        """Their links."""
        option = "--invite-reviewer" if reviewer else "--invite"
        printed = self.run(*(word for name in names for word in (option, name)), "--port", str(self.port))
        return re.findall(r"http://\S+", printed)


class Page:
    """One person's browser."""

    def __init__(self, profile: Path) -> None:
        self.driver = browsers.started(profile)

    def open(self, link: str) -> None:
        self.driver.get("about:blank")
        self.driver.delete_all_cookies()
        self.driver.get(link)
        self.wait("document.documentElement.dataset.ready !== undefined && document.querySelector('h1')")

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: str) -> Any:
        script = f"""
        const done = arguments[0], until = performance.now() + {browsers.SECONDS * 1000};
        const look = () => {{
          const value = (() => {{ try {{ return {condition}; }} catch {{ return null; }} }})();
          if (value || performance.now() > until) done(value); else setTimeout(look, 10);
        }};
        look();"""
        value = self.driver.execute_async_script(script)
        assert value, f"never came true: {condition}"
        return value

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def press(self, *keys: str) -> None:
        """To whatever has the focus, as a keyboard does."""
        actions = webdriver.ActionChains(self.driver)
        for key in keys:
            actions.send_keys(getattr(webdriver.Keys, key) if len(key) > 1 else key)
        actions.perform()

    def next(self, *keys: str) -> None:
        """Press keys, and wait for another pair, or for the end."""
        self.run("document.querySelector('#query').dataset.old = '1'")
        self.press(*keys)
        self.wait(
            "!document.querySelector('#query').dataset.old && !document.body.classList.contains('busy')"
        )

    @property
    def over(self) -> bool:
        return bool(self.run("return document.querySelector('.done') !== null"))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    made = Page(tmp_path_factory.mktemp("one"))
    yield made
    made.driver.quit()


@pytest.fixture(scope="module")
def second(tmp_path_factory):
    made = Page(tmp_path_factory.mktemp("two"))
    yield made
    made.driver.quit()


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path, ())
    yield made
    made.kill()


def collection(folder: Path) -> list[dict[str, Any]]:
    """Ten queries, ten documents of five passages in BEIR's form; each passage names its document's word as
    often as it is relevant. The pairs of its pool."""
    rows = []
    folder.mkdir()
    with (folder / "corpus.jsonl").open("wb") as corpus, (folder / "queries.jsonl").open("wb") as queries:
        for d, word in enumerate(WORDS):
            queries.write(orjson.dumps({"_id": f"q{d}", "text": f"where is the {word}"}) + b"\n")
            for i in range(5):
                text = " ".join([word] * i) + f" lies here and there {i} {HOSTILE if i == 4 else ''}"
                corpus.write(orjson.dumps({"_id": f"{word}-{i}", "title": "", "text": text}) + b"\n")
                rows.append({"query": f"q{d}", "passage": f"{word}-{i}", "document": word, "text": text})
    return rows


def make_pool(folder: Path) -> None:
    rows = collection(folder / "data")
    queries = [{"id": f"q{d}", "text": f"where is the {word}"} for d, word in enumerate(WORDS)]
    documents = [
        {"id": word, "title": f"On {word}", "passages": [
            {"id": row["passage"], "text": row["text"]} for row in rows if row["document"] == word
        ]}
        for word in WORDS
    ]  # fmt: skip
    pairs = [
        {key: row[key] for key in ("query", "passage", "document")}
        | {"rank": place, "ranks": {"bm25": place}}
        for place, row in enumerate(rows, 1)
    ]
    write_pool(folder / "pool", pairs, queries, documents)


def vote(name: str, passage: str) -> str:
    """How often the passage names the word, three at most; bo misses a word that stands there once."""
    count = min(3, sum(word in WORDS for word in passage.split()))
    return str(0 if name == "bo" and count == 1 else count)


@pytest.mark.slow
def test_two_people_judge_fifty_pairs_a_third_is_asked_a_reviewer_checks_and_a_leaderboard_comes_of_it(
    tmp_path, server, page, second
):
    make_pool(tmp_path)
    server.run(
        "--scheme", "t2ranking", "--votes", "2", "--more", "1", "--package", "50", "--review", "10",
        "--accuracy", "0.9", "--progress",
    )  # fmt: skip
    server.invite("ann", "bo")
    server.start()
    ann, bo = server.invite("ann", "bo")
    page.open(ann)
    second.open(bo)
    answered: Counter[str] = Counter()
    while not (page.over and second.over):
        for name, shown in (("ann", page), ("bo", second)):
            if shown.over:
                continue
            grade = vote(name, shown.text("#passage"))
            if answered == {"ann": 20, "bo": 19}:
                assert name == "bo"
                server.kill()  # the answer is sent to nobody, and again until the server is back
                shown.run("document.querySelector('#query').dataset.old = '1'")
                shown.press(grade)
                shown.wait("!document.querySelector('#error').hidden")
                server.start()
                shown.wait("!document.querySelector('#query').dataset.old")
            else:
                shown.next(grade)
            answered[name] += 1
    assert answered == {"ann": 50, "bo": 50}

    cy, rae = *server.invite("cy"), *server.invite("rae", reviewer=True)
    page.open(cy)
    asked = 0
    while not page.over:
        passage = page.text("#passage")
        assert vote("ann", passage) != vote("bo", passage)
        page.next(vote("ann", passage))
        asked += 1
    assert asked == 10

    second.open(rae)
    checked = 0
    while not second.over:
        second.next("y")
        checked += 1
    assert checked == 10
    assert second.run("return document.querySelector('[data-standing]').dataset.standing") == "accepted"
    server.kill()

    server.run("--export")
    harness = Harness(tmp_path)
    verified = harness.command("verify", tmp_path / "judgements")
    assert (verified.code, "all in order" in verified.out) == (0, True)
    lines = [
        orjson.loads(line) for line in (tmp_path / "judgements/judgements.jsonl").read_bytes().splitlines()
    ]
    assert len(lines) == 50
    assert sum(judgement.get("role") is None for line in lines for judgement in line["judgements"]) == 110
    harness.suite({
        "suite": "judged",
        "datasets": {
            "raw": {"scored": False, "files": {
                "corpus": "data/corpus.jsonl", "queries": "data/queries.jsonl", "judged": False, "language": "en",
            }},
            "mine": {"of": "raw", "make": [{"judged": {"file": "judgements/judgements.jsonl"}}]},
        },
        "systems": {"bm25": {"retriever": "bm25"}},
        "measures": ["nDCG@5"],
    })  # fmt: skip
    ran = harness.run("suite.yaml", "--out", tmp_path)
    assert ran.code == 0, ran.err
    board = orjson.loads((tmp_path / "leaderboard.json").read_bytes())
    row, [stage] = board["rows"][0], board["datasets"][0]["made"]
    assert (stage["judges"], stage["after"]["judgements"]) == ({"person": 50}, 50)
    assert row["measures"]["nDCG@5"]["queries"] == 10
    assert row["measures"]["nDCG@5"]["mean"] > 0.5
    assert page.driver.title != "ran"
    assert second.driver.title != "ran"


def small_pool(folder: Path, **head: Any) -> None:
    texts = {"hostile": HOSTILE, "arabic": AR, "chinese": ZH * 30, "plain": "One more passage."}
    documents = [
        {
            "id": "d",
            "title": HOSTILE,
            "passages": [{"id": name, "text": text} for name, text in texts.items()],
        }
    ]
    pairs = [{"query": "q", "passage": name, "document": "d", "rank": 1, "ranks": {}} for name in texts]
    write_pool(folder / "pool", pairs, [{"id": "q", "text": f"{AR} {HOSTILE}"}], documents, **head)


@pytest.fixture
def shown(tmp_path, server, page):
    """A page of one person with four strange pairs."""
    small_pool(tmp_path)
    link = re.search(r"http://\S+", server.start("--scheme", "t2ranking", "--votes", "1", "--more", "0"))[0]
    page.driver.get_log("browser")
    page.driver.get_log("performance")
    page.open(link)
    return page


def test_hostile_text_stays_text_and_nothing_is_asked_of_another_host(shown, server):
    shown.press("d")
    shown.wait("document.querySelectorAll('.around').length === 3")
    assert HOSTILE in shown.text("#query")
    assert shown.text("#passage") == HOSTILE
    assert shown.run("return document.querySelectorAll('main script, main img, main b').length") == 0
    assert shown.driver.title == "Judging mine"
    messages = [orjson.loads(entry["message"])["message"] for entry in shown.driver.get_log("performance")]
    urls = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    assert [
        url for url in urls if not url.startswith((f"http://127.0.0.1:{server.port}/", "data:", "about:"))
    ] == []
    assert "token" not in shown.driver.current_url
    assert not [entry for entry in shown.driver.get_log("browser") if "401" not in entry["message"]]


def test_everything_is_done_by_keyboard_alone(shown):
    shown.press("c")
    shown.press("0", "1", "2", "ESCAPE")  # in the comment they are no grades
    assert shown.run("return document.querySelector('#comment').value") == "012"
    shown.next("3")
    assert "3 Answers" in shown.text("#last")
    assert shown.text("#passage") == AR
    shown.next("z")
    assert shown.text("#passage") == HOSTILE
    assert shown.run("return document.querySelector('#comment').value") == "012"
    assert shown.run("return document.querySelector('[aria-pressed=true]').dataset.key") == "3"
    shown.next("n")
    assert "skipped" in shown.text("#last")
    shown.press("?")
    shown.wait("document.querySelector('#help').open")
    shown.press("2")  # while the help is open, a grade is not given
    shown.press("ESCAPE")
    shown.wait("!document.querySelector('#help').open")
    assert shown.text("#passage") == AR
    shown.press("g")
    shown.wait("!document.querySelector('.guide').open")
    for _ in range(20):  # every control can be reached
        shown.press("TAB")
        if shown.run("return document.activeElement.dataset.key") == "2":
            break
    shown.next("ENTER")
    assert "2 Partly answers" in shown.text("#last")


def test_right_to_left_and_chinese_texts_keep_their_direction_and_language(shown):
    direction = "return getComputedStyle(document.querySelector(arguments[0])).direction"
    assert shown.run(direction, "#query") == "rtl"
    assert shown.run(direction, "#passage") == "ltr"
    shown.next("1")
    assert shown.run(direction, "#passage") == "rtl"
    assert shown.run("return document.querySelector('#passage').lang") == "en"


@pytest.mark.parametrize("scheme", ["t2ranking", "dapr-errors"])
def test_the_page_fits_400_pixels(tmp_path, server, page, scheme):
    small_pool(tmp_path, language="zh")
    link = re.search(r"http://\S+", server.start("--scheme", scheme))[0]
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.open(link)
        overflow = "const root = document.documentElement; return root.scrollWidth - root.clientWidth"
        for _ in range(4):
            assert page.run(overflow) == 0
            boxes = page.run(
                "return [...document.querySelectorAll('.choice')].map((x) => x.getBoundingClientRect().bottom)"
            )
            assert len(boxes) == (4 if scheme == "t2ranking" else 6)
            assert max(boxes) <= 800  # in reach without scrolling
            page.press("d")
            assert page.run(overflow) == 0
            page.next("n")
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_several_labels_are_set_and_stored_by_keyboard(tmp_path, server, page):
    small_pool(tmp_path)
    page.open(re.search(r"http://\S+", server.start("--scheme", "dapr-errors"))[0])
    page.press("w")
    page.press("a")  # replaces it: wrong annotation stands alone
    page.press("t")
    pressed = (
        "return [...document.querySelectorAll('[aria-pressed=true]')].map((x) => x.dataset.key).join('')"
    )
    assert page.run(pressed) == "ta"
    page.next("ENTER")
    assert "Main topic, Acronym" in page.text("#last")
    server.kill()
    server.run("--export")
    line = orjson.loads((tmp_path / "judgements/judgements.jsonl").read_bytes())
    assert (line["grade"], line["labels"]) == (1, ["main-topic", "acronym"])


def test_a_reviewer_corrects_decisions_and_hands_a_package_back(tmp_path, server, page):
    small_pool(tmp_path)
    begin = ("--scheme", "t2ranking", "--votes", "1", "--more", "0", "--review", "2", "--progress")
    server.run(*begin)
    server.invite("ann")
    server.start()
    page.open(*server.invite("ann"))
    while not page.over:
        page.next("3")
    page.open(*server.invite("rae", reviewer=True))
    assert page.text("#decision") == "3 Answers"
    page.press("x")
    page.wait("document.querySelector('[data-key=\"1\"]')")
    page.next("1")
    page.press("x")
    page.next("ENTER")
    assert page.over
    assert "0.0 %" in page.text("[data-standing=revise]")
    page.run("window.confirm = () => true; document.querySelector('[data-standing] button').click()")
    page.wait("document.querySelector('[data-standing=judging]')")
    page.open(*server.invite("ann"))
    assert page.text("#passage") == HOSTILE  # from the beginning
    assert "0 of 4 done" in page.text("header")


def test_a_machines_grade_is_shown_once_the_person_has_chosen(tmp_path, server, page):
    small_pool(tmp_path)
    link = re.search(r"http://\S+", server.start("--scheme", "t2ranking"))[0]
    journal = Journal(tmp_path / "judgements")
    with journal.writing() as (_, append):
        append(Appointed("robot-7", "{}"))
        for number in range(4):
            append(Graded("robot-7", number, Choice(number)))
    journal.close()
    page.open(link)
    everything = "return document.documentElement.outerHTML"
    assert "robot-7" not in page.run(everything)
    page.next("3")
    assert "robot-7: 0 Off topic" in page.text("#last .differs")
    page.next("1")
    assert "robot-7: 1 Related" in page.text("#last")
    assert page.text("#last .differs") == ""


def test_somebody_without_an_invitation_sees_nothing_and_enters_with_the_token(tmp_path, server, page):
    small_pool(tmp_path)
    link = re.search(r"http://\S+", server.start("--scheme", "t2ranking"))[0]
    page.open(link.partition("#")[0])
    assert page.text("h1") == "Open the link of your invitation"
    assert ZH not in page.run("return document.body.innerText")
    page.press("w", "r", "o", "n", "g", "ENTER")
    page.wait("document.querySelector('#error').innerText.includes('not invited')")
    page.run("document.querySelector('#token').value = arguments[0]", link)
    page.press("ENTER")
    page.wait("document.querySelector('#passage')")


def test_another_address_needs_invited_people(tmp_path):
    small_pool(tmp_path)
    command = [
        *COMMAND,
        "annotate",
        tmp_path / "pool",
        "--out",
        tmp_path / "judgements",
        "--scheme",
        "dureader",
    ]
    done = subprocess.run(
        [*command, "--host", "0.0.0.0", "--port", "0"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "nobody is invited; invite people first with --invite NAME" in done.stderr


def test_a_server_that_is_asked_to_stop_stops_quietly(tmp_path, server):
    small_pool(tmp_path)
    server.start("--scheme", "dureader")
    asking = http.client.HTTPConnection("127.0.0.1", server.port, timeout=browsers.SECONDS)
    asking.request("GET", "/")
    assert asking.getresponse().read()  # now it is at work
    asking.close()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(timeout=browsers.SECONDS) == 0
    assert "Traceback" not in server.process.stdout.read()
    server.process.stdout.close()
    server.process = None
