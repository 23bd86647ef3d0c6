"""The report in a real browser: sort, filter, open a query, compare two systems, copy, and hostile texts."""

import itertools
import json
import os
from pathlib import Path

import browsers
import pytest
from running import Harness

from harness.html import plots

pytest.importorskip("vl_convert", reason="needs the extra report")

pytestmark = pytest.mark.extras

TUNED = {"tune": {"folds": 3, "measure": "nDCG@10", "grid": [0, 1, 0.25]}}
SUITE = {
    "suite": "shown",
    "datasets": {"tour": {"tour": {"documents": 20}}, "zh": {"tour": {"documents": 20, "language": "zh"}}},
    "systems": {
        "bm25": {"retriever": "bm25"},
        "titles": {"context": ["titles"], "retriever": "bm25"},
        "documents": {"retriever": "bm25", "unit": "document"},
        "fused": {"of": ["titles", "documents"], "combine": {"convex": {"weight": TUNED}}},
    },
    "measures": ["nDCG@10", "R@100"],
    "analyses": ["depth"],
}
BAD = '</script><script>document.title="ran"</script><img src=x onerror="document.title=\'ran\'">'
TURNED = "\u202eright to left\u202c \u05d0\u05d1\u05d2 \"quoted\" 'twice' &amp; <b>bold</b> \x07"
LONG = "x<y " * 262_144  # 1 MB

AXE = os.environ.get("HARNESS_AXE")  # axe.min.js, from npm's package axe-core


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = browsers.started(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A folder with a leaderboard and its report."""
    harness = Harness(tmp_path_factory.mktemp("shown"))
    harness.suite(SUITE)
    ran = harness.run("suite.yaml", "--out", harness.folder)
    assert ran.code == 0, ran.err
    assert write(harness).exists()
    return harness


def write(harness: Harness, *options: str) -> Path:
    ran = harness.command("report", harness.folder, "--store", harness.store, *options)
    assert ran.code == 0, ran.err
    return harness.folder / "report.html"


@pytest.fixture
def page(browser, shown):
    show(browser, shown.folder / "report.html")
    return browser


def show(browser, path: Path) -> None:
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(path.as_uri())
    wait(browser, "document.documentElement.dataset.ready !== undefined")


def wait(browser, condition: str):
    """Until a JavaScript expression is true (or not null); returns it."""
    script = f"""
    const done = arguments[0], until = performance.now() + {browsers.SECONDS * 1000};
    const look = () => {{
      const found = (() => {{ try {{ return {condition}; }} catch {{ return null; }} }})();
      if (found || performance.now() > until) done(found); else setTimeout(look, 20);
    }};
    look();"""
    found = browser.execute_async_script(script)
    assert found, f"never came true: {condition}"
    return found


def texts(browser, selector: str) -> list[str]:
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter(x => x.checkVisibility()).map(x => x.innerText)",
        selector,
    )


def click(browser, selector: str) -> None:
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def type_into(browser, selector: str, text: str) -> None:
    script = """const [selector, text] = arguments, node = document.querySelector(selector);
    node.value = text;
    node.dispatchEvent(new Event(node.matches("select") ? "change" : "input", {bubbles: true}));"""
    browser.execute_script(script, selector, text)


SYSTEMS = "#results tbody th bdi"


def test_nothing_is_asked_of_the_network_and_nothing_is_refused(page):
    wait(page, "document.querySelector('#cost svg')")
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = [
        item["params"]["request"]["url"] for item in messages if item["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file://", "data:", "blob:"))] == []
    assert page.get_log("browser") == []  # neither an error nor a refusal by the policy


def test_a_picture_whose_names_lie_apart_says_nothing_in_the_console(page):
    points = [
        {"system": name, "cost": cost, "score": score, "low": score - 0.1, "high": score + 0.1, "front": True}
        for name, cost, score in [("cheap", 1, 0.2), ("middle", 100, 0.5), ("dear", 10000, 0.8)]
    ]
    script = """const place = document.createElement("div");
    place.id = "apart";
    document.querySelector("main").prepend(place);
    window.vegaEmbed(place, arguments[0],
      {mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false, tooltip: () => {}});"""
    page.execute_script(script, plots.filled(plots.pareto("score", "cost"), points) | {"width": 400})
    wait(page, "document.querySelectorAll('#apart svg text').length > 3")
    assert page.get_log("browser") == []


def test_headings_sort_and_say_so(page, shown):
    rows = json.loads((shown.folder / "leaderboard.json").read_text())["rows"]
    scores = {row["system"]: row["measures"]["R@100"]["mean"] for row in rows
              if row["dataset"] == "tour" and "R@100" in row["measures"]}  # fmt: skip
    heading = "#results thead th:nth-child(4)"
    assert texts(page, f"{heading} button") == ["R@100"]
    page.execute_script("document.querySelector(arguments[0]).focus()", f"{heading} button")
    press(page, "Enter")
    down = texts(page, SYSTEMS)
    assert down[-1] == "documents"  # it has no such value
    assert [scores[name] for name in down[:-1]] == sorted(scores.values(), reverse=True)
    assert aria_sort(page, heading) == "descending"
    press(page, "Enter")
    up = texts(page, SYSTEMS)
    assert [scores[name] for name in up[:-1]] == sorted(scores.values())
    assert up[-1] == "documents"
    assert aria_sort(page, heading) == "ascending"
    assert "ascending" in page.execute_script("return document.getElementById('live').textContent")
    assert len(page.find_elements("css selector", "#results [aria-sort]")) == 1


def press(page, key: str) -> None:
    from selenium.webdriver.common.keys import Keys

    page.switch_to.active_element.send_keys(getattr(Keys, key.upper()))


def aria_sort(page, selector: str) -> str:
    return page.execute_script(
        "return document.querySelector(arguments[0]).getAttribute('aria-sort')", selector
    )


def test_the_filter_leaves_the_systems_that_it_names(page):
    type_into(page, "#filter", "TIT")
    assert texts(page, SYSTEMS) == ["titles"]
    assert texts(page, "#across tbody th") == ["titles"]
    assert "1 system" in page.execute_script("return document.getElementById('live').textContent")
    type_into(page, "#filter", "")
    assert len(texts(page, SYSTEMS)) == 4


def test_another_dataset_and_measure_can_be_chosen(page):
    type_into(page, "#bar select", "1")
    assert texts(page, "#results .lead")[0].startswith("zh")
    type_into(page, "#bar label:nth-child(2) select", "R@100")
    assert "R@100" in texts(page, "#slices .lead")[0]
    assert texts(page, "#results [aria-sort] button") == ["R@100"]


def test_a_query_is_looked_for_and_opened_by_keyboard(page):
    wait(page, "document.querySelector('.pick .text')")
    query = page.execute_script("return document.querySelector('.pick .text').textContent")
    word = max(query.replace("?", "").split(), key=len)
    type_into(page, "#query-search", word.upper())
    wait(
        page,
        f"[...document.querySelectorAll('.pick .text')].every(x => x.textContent.includes({json.dumps(word)}))",
    )
    page.execute_script("document.querySelector('.pick').focus()")
    press(page, "Enter")
    wait(page, "document.querySelector('#panel blockquote')")
    assert word in texts(page, "#panel blockquote")[0]
    assert page.execute_script("return document.activeElement.id") == "panel"
    assert len(texts(page, "#panel .hits")) == 2
    type_into(page, "#compare select", str(1))  # titles: its texts have the title marked
    wait(page, "document.querySelector('#panel .hits mark')")


def test_every_system_is_listed_with_its_value_of_the_query(page, shown):
    wait(page, "document.querySelector('.pick')")
    click(page, ".pick")
    query = wait(page, "document.querySelector('#panel h3 bdi')?.textContent")
    lines = {
        name: (shown.folder / f"per-query/tour/{name}.tsv").read_text()
        for name in ("bm25", "titles", "fused")
    }
    wanted = {name: f"{float(text.partition(query)[2].split()[0]):.4f}" for name, text in lines.items()}
    click(page, "#panel .all summary")
    cells = texts(page, "#panel .all tbody tr")
    assert {words[0]: words[1] for words in map(str.split, cells)} == wanted


def test_tuned_weights_and_analyses_are_drawn_and_stand_there_as_tables(page, shown):
    board = json.loads((shown.folder / "leaderboard.json").read_text())
    for part in ("tuning", "analyses"):
        page.execute_script("document.getElementById(arguments[0]).scrollIntoView()", part)
        wait(page, f"document.querySelector('#{part} svg')")
    [tuned] = [row["tuning"][0] for row in board["rows"] if row["tuning"] and row["dataset"] == "tour"]
    assert (
        f"fused: {', '.join(map(str, tuned['folds']))} across folds".replace("1.0", "1").replace("0.0", "0")
        in (texts(page, "#tuning .lead")[0])
    )
    titles = [item["title"] for item in board["analyses"] if item["dataset"] == "tour"]
    assert texts(page, "#analyses h3") == titles
    click(page, "#analyses summary")
    rows = next(item["rows"] for item in board["analyses"] if item["dataset"] == "tour")
    assert len(texts(page, "#analyses details[open] tbody tr")) == len(rows)


def test_two_systems_are_compared_query_by_query(page, shown):
    type_into(page, "#compare .fields label:nth-child(1) select", "1")
    type_into(page, "#compare .fields label:nth-child(2) select", "0")
    values = {
        name: dict(line.split("\t")[:2] for line in (shown.folder / f"per-query/tour/{name}.tsv").read_text().splitlines()[1:])
        for name in ("titles", "bm25")
    }  # fmt: skip
    sizes = [float(values["titles"][query]) - float(values["bm25"][query]) for query in values["bm25"]]
    better, worse = sum(size > 0 for size in sizes), sum(size < 0 for size in sizes)
    says = f"A is better on {better} queries, B on {worse}, and {len(sizes) - better - worse} are equal."
    wait(page, f"document.querySelector('#verdict').textContent.startsWith({json.dumps(says)})")
    page.execute_script("document.querySelector('#compare').scrollIntoView()")  # it is drawn when it is seen
    wait(page, "document.querySelector('#compare svg')")
    first = texts(page, "#compare .pair tbody tr:first-child td:last-child")[0]
    assert float(first.replace("−", "-")) == pytest.approx(max(sizes), abs=1e-4)
    query, words = (texts(page, f"#compare .pair tbody th {part}")[0] for part in ("bdi", ".text"))
    click(page, "#compare .pair tbody th button")
    wait(page, f"document.querySelector('#panel h3').textContent.includes({json.dumps(query)})")
    assert words in page.execute_script("return document.querySelector('#panel').innerText")


def test_the_reproduction_is_copied(page, shown):
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})
    click(page, "#results tbody tr:first-child button.details")
    wait(page, "document.querySelector('dialog[open] #reproduction')")
    system = texts(page, "#row-title bdi")[0]
    page.execute_script("document.querySelector('#copy').focus()")
    press(page, "Enter")
    wait(page, "document.querySelector('dialog').textContent.includes('copied')")
    copied = page.execute_async_script("navigator.clipboard.readText().then(arguments[0], arguments[0])")
    rows = json.loads((shown.folder / "leaderboard.json").read_text())["rows"]
    row = next(row for row in rows if row["dataset"] == "tour" and row["system"] == system)
    assert f"harness run suite.yaml --only tour/{system}" in copied
    assert row["provenance"]["fingerprint"] in copied
    press(page, "Escape")
    wait(page, "document.querySelector('dialog') === null")


@pytest.mark.skipif(AXE is None, reason="HARNESS_AXE does not name axe.min.js")
def test_axe_finds_nothing(page):
    wait(page, "[...document.querySelectorAll('.plot')].every((plot) => plot.querySelector('svg'))")
    page.execute_script(Path(AXE).read_text(encoding="utf-8"))
    run = "const done = arguments[0]; axe.run().then((found) => done(found.violations.map((x) => [x.id, x.impact])))"
    assert page.execute_async_script(run) == []


def test_every_system_stands_in_the_forest_of_differences_from_a(page):
    wait(page, "document.querySelectorAll('#compare .plot svg').length === 3")
    forest, others = page.execute_script(
        "const select = document.querySelector('#compare select');"
        "return [[...document.querySelectorAll('#compare .plot')].at(-1).querySelector('svg').textContent,"
        " [...select.options].filter((option) => !option.selected).map((option) => option.text)]"
    )
    assert len(others) >= 2
    assert all(name in forest for name in others)


def test_tables_and_controls_are_named_for_a_screen_reader(page):
    wait(page, "document.querySelector('#verdict')")
    nameless = page.execute_script("""
      const named = (node) => node.textContent.trim() || node.getAttribute("aria-label") || node.labels?.[0]?.textContent.trim();
      return [...document.querySelectorAll("button, select, input, table, [role=img], [role=region]")]
        .filter((node) => !(named(node))).map((node) => node.outerHTML.slice(0, 200));""")
    assert nameless == []
    levels = page.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].filter(x => x.checkVisibility()).map(x => +x.tagName[1])"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


@pytest.mark.parametrize("text", [True, False])
def test_hostile_texts_and_names_show_as_text(browser, hostile, text):
    path = write(hostile, *([] if text else ["--no-text"]))
    assert path.stat().st_size < 6_000_000
    show(browser, path)
    wait(browser, "document.querySelector('.pick')")
    opened = 0
    for number in range(3):
        browser.execute_script("document.querySelectorAll('.pick')[arguments[0]].click()", number)
        wait(browser, "document.querySelector('#panel .hits')")
        opened += len(texts(browser, "#panel blockquote"))
        for details in range(2):
            browser.execute_script(
                "document.querySelectorAll('#panel details')[arguments[0]]?.setAttribute('open', '')", details
            )
    click(browser, "#results tbody button.details")
    wait(browser, "document.querySelector('dialog[open]')")
    whole = browser.execute_script("return document.body.textContent")
    assert opened == (3 if text else 0)
    assert browser.title != "ran"
    assert browser.execute_script("return document.querySelectorAll('img, b.bold, main script').length") == 0
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert BAD in whole  # the system's name
    assert BAD in texts(browser, "#results tbody th")[0] + texts(browser, "#results tbody th")[1]
    if text:
        assert "characters more" in whole  # of the text of 1 MB
    else:
        source = path.read_text(encoding="utf-8")
        assert "kept apart" not in source
        assert "kept apart" not in whole
    widest = browser.execute_script("return document.documentElement.scrollWidth")
    assert widest <= browser.execute_script("return window.innerWidth")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A leaderboard whose passages, queries and one system's name are what nobody would write."""
    harness = Harness(tmp_path_factory.mktemp("hostile"))
    data = harness.folder / "data"
    (data / "qrels").mkdir(parents=True)
    passages = {
        "p1": f"word {BAD}",
        "p2": f"word {TURNED}",
        "p3": f"word {LONG}",
        "p4": "word " + "long" * 250_000,
    }
    queries = {"q1": f"word {BAD}", "q2": f"word {TURNED}", "q3": f"word {LONG}"}
    for name, items in (("corpus", passages), ("queries", queries)):
        lines = [
            json.dumps({"_id": id, "title": f"kept apart {TURNED}", "text": f"kept apart {text}"})
            for id, text in items.items()
        ]
        (data / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    qrels = ["query-id\tcorpus-id\tscore", "q1\tp1\t1", "q2\tp2\t1", "q3\tp3\t1"]
    (data / "qrels" / "test.tsv").write_text("\n".join(qrels) + "\n")
    systems = {"a": {"retriever": "bm25"}, "b": {"context": ["titles"], "retriever": "bm25"}}
    files = {"files": {"path": str(data), "split": "test", "language": "en"}}
    harness.suite({"suite": BAD, "datasets": {"odd": files}, "systems": systems, "measures": ["nDCG@10"]})
    ran = harness.run("suite.yaml", "--out", harness.folder)
    assert ran.code == 0, ran.err
    path = harness.folder / "leaderboard.json"
    board = json.loads(path.read_text())
    board["rows"][1]["system"] = BAD + TURNED + "n" * 1_000_000
    board["description"] = BAD
    board["rows"][1]["flags"] = [BAD]
    for row in board["rows"]:
        row["cost"] |= {"machine": BAD, "no_latency": "service"}
    path.write_text(json.dumps(board))
    return harness
