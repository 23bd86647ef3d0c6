"""The annotators' page in Chromium: what keys do, how texts are shown, and whose link counts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pools import write_pool

from harness_annotate import journal as journals
from harness_annotate import people

browsers = pytest.importorskip("browsers")
pytest.importorskip("starlette", reason="needs the extra annotate")
pytestmark = [pytest.mark.slow, pytest.mark.extras]

TABLE = """# Firing

| bowl | hours |
|:-----|------:|
| small | **8** |

- glaze it *once*
- see [the guide](javascript:alert(1)) and <img src=x onerror=alert(1)>

```
hold(still)
```"""
FILLER = [{"id": f"f{i}", "text": f"Paragraph {i} of a long course. " * 12} for i in range(60)]


def make_pool(folder):
    passages = [*FILLER[:40], {"id": "p1", "text": TABLE}, {"id": "p2", "text": "Bowls are glazed when dry."}]
    document = {"id": "d1", "title": "Glazing", "passages": [*passages, *FILLER[40:]]}
    pairs = [
        {"query": "q1", "passage": name, "document": "d1", "rank": rank, "ranks": {"bm25": rank}}
        for rank, name in enumerate(("p1", "p2", "f1", "f2", "f3", "f4", "f5", "f6"), 1)
    ]
    write_pool(folder, pairs, [{"id": "q1", "text": "how is a bowl glazed"}], [document])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("annotate")
    make_pool(folder / "pool")
    return folder


@pytest.fixture(scope="module")
def link(folder):
    """The link of a server at work, for a single person."""
    command = [sys.executable, "-m", "harness", "annotate", "pool", "--out", "out", "--scheme", "t2ranking"]
    options = ["--votes", "1", "--more", "0", "--port", "0"]
    with subprocess.Popen([*command, *options], cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().split()[-1]
        server.terminate()


@pytest.fixture(scope="module")
def page(link, tmp_path_factory):
    driver = browsers.started(tmp_path_factory.mktemp("profile"))
    driver.get(link)
    until(driver, "document.querySelector('#skip')")
    yield driver
    driver.quit()


def until(page, script):
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(page, browsers.SECONDS).until(lambda _: page.execute_script(f"return !!({script})"))


def press(page, key):
    page.find_element("css selector", "body").send_keys(key)


def text(page, selector):
    return page.execute_script(
        f"return [...document.querySelectorAll('{selector}')].map((e) => e.textContent)"
    )


def test_a_table_is_a_table_and_a_script_is_text(page):
    assert text(page, "#passage th") == ["bowl", "hours"]
    assert text(page, "#passage td strong") == ["8"]
    assert text(page, "#passage li") == ["glaze it once", "see the guide and <img src=x onerror=alert(1)>"]
    assert text(page, "#passage pre") == ["hold(still)"]
    assert text(page, "#passage a, #passage img, #passage script") == []
    assert text(page, "#passage mark") == ["bowl", "glaze"]
    press(page, ".")
    assert text(page, "#passage p") == [TABLE]
    press(page, ".")
    assert text(page, "#passage th") == ["bowl", "hours"]


HOSTILE = {
    "an endless heading": "# " + "#" * 40_000 + "x",
    "an endless rule of a table": "a|b\n|--|" + " " * 40_000 + "x",
    "code without end": "# x\n" + "`a` " * 40_000,
    "links without end": "# x\n" + "[a](b) " * 40_000,
    "stars": "*" * 40_000,
    "brackets": "# x\n" + "[" * 40_000,
    "an address without end": "# x\n[a](" + "a" * 40_000,
    "cells without end": "a|b\n|-|-|\n" + "|" * 40_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_shown_in_seconds(page, text):
    shown = page.execute_async_script(
        "const [text, words, done] = arguments;"
        "import('/text.js').then((page) => page.written(text, words, false)).then("
        "  (nodes) => done(nodes.map((node) => node.textContent).join('')), (error) => done(String(error)))",
        text,
        {"forms": ["a"], "apart": True},
    )
    assert len(shown) > 1000 or set(text) <= set("a|b\n-")
    assert "Error" not in shown


@pytest.mark.parametrize(("text", "shown"), [
    ("# About C#", '<p class="heading">About C#</p>'),
    ("# Closed ##", '<p class="heading">Closed</p>'),
    ("`a``b` and `c`", "<p><code>a``b</code> and <code>c</code></p>"),
    ("[a](b_(c)_d \"e\")", '<p><span class="link" title="b_(c)_d">a</span></p>'),
])  # fmt: skip
def test_markdown_is_read_as_its_writers_mean_it(page, text, shown):
    assert shown == page.execute_async_script(
        "const [text, done] = arguments; import('/text.js').then((page) =>"
        "  done(page.written(text, {forms: []}, false).map((node) => node.outerHTML).join('')))",
        text,
    )


def test_the_document_opens_at_the_passage(page):
    press(page, "d")
    until(page, "document.querySelector('.around')")
    top, bottom, height = page.execute_script(
        "const box = document.querySelector('#passage').getBoundingClientRect();"
        "return [box.top, box.bottom, window.innerHeight]"
    )
    assert page.execute_script("return document.documentElement.scrollHeight") > 5 * height
    assert 0 <= top < bottom <= height
    press(page, "d")


@pytest.mark.skipif(not os.environ.get("HARNESS_AXE"), reason="HARNESS_AXE names no copy of axe.min.js")
def test_axe_finds_nothing(page):
    press(page, "d")
    page.execute_script(Path(os.environ["HARNESS_AXE"]).read_text(encoding="utf-8"))
    found = page.execute_async_script("axe.run().then((r) => arguments[0](r.violations.map((v) => v.id)))")
    press(page, "d")
    assert found == []


def test_an_answer_is_changed_in_the_list_and_the_time_left_is_told(page):
    assert text(page, "#left") == []
    for count in range(1, 6):
        press(page, "1")
        until(page, f"document.querySelector('.count').textContent.startsWith('{count} of 8')")
    assert text(page, "#left") == [", about 1 min left at your pace"]
    press(page, ",")
    until(page, "document.querySelector('#answers[open] li')")
    assert len(text(page, "#answers li")) == 5
    page.execute_script("document.querySelector('#answers li:last-child button').click()")
    until(page, "document.querySelector('#passage th')")
    press(page, "3")
    until(page, "document.querySelector('.count').textContent.startsWith('5 of 8')")
    press(page, ",")
    until(page, "document.querySelector('#answers[open] li')")
    assert text(page, "#answers li:first-child strong")[0].startswith("3 ")
    page.execute_script("document.querySelector('#answers').close()")


def test_another_persons_link_in_the_same_tab_is_theirs(page, folder, link):
    log = journals.Journal(folder / "out")
    token = people.invite(log, "Bo", "annotator")
    log.close()
    page.get(f"{link.partition('#')[0]}#token={token}")
    until(page, "document.querySelector('.person')?.textContent === 'Bo' && document.querySelector('#skip')")
    press(page, "0")
    until(page, "document.querySelector('.count').textContent.includes('1 by you')")
