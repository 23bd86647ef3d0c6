"""The site in a real browser: wide and narrow, filtered and sorted, and what axe says of it."""

import os
from pathlib import Path

import browsers
import pytest

from harness.cli import main

pytestmark = [pytest.mark.extras, pytest.mark.slow]

LEADERBOARDS = Path(__file__).parents[2] / "leaderboards"
PAGES = ("index.html", "boards/tour.html", "datasets/scifact.html", "systems/bm25.html")
AXE = os.environ.get("HARNESS_AXE")  # axe.min.js, from npm's package axe-core


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = browsers.started(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    assert main(["site", str(LEADERBOARDS), "--out", str(out)]) == 0
    return out


def opened(browser, path, width):
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(path.as_uri())
    assert browser.execute_script("return document.documentElement.dataset.ready") == ""


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("page", PAGES)
def test_no_page_is_wider_than_the_screen_and_none_complains(browser, site, page, width):
    opened(browser, site / page, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.get_log("browser") == []


@pytest.mark.skipif(AXE is None, reason="HARNESS_AXE does not name axe.min.js")
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser, site, page, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    opened(browser, site / page, 1400)
    browser.execute_script(Path(AXE).read_text(encoding="utf-8"))
    run = "const done = arguments[0]; axe.run().then((found) => done(found.violations.map((x) => [x.id, x.impact])))"
    assert browser.execute_async_script(run) == []


def shown(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('#t2 tbody tr')].filter((x) => !x.hidden).map((x) => x.textContent.toLowerCase())"
    )


OVERLAPPING = """
const boxes = [...document.querySelectorAll('#pictures .figure')].map((figure) => [
  figure.getBoundingClientRect(),
  [...figure.querySelectorAll('.name')].map((name) => name.getBoundingClientRect()),
  figure.querySelectorAll('.point').length,
]);
return boxes.map(([frame, names, points]) => [
  points - names.length,
  names.filter((x) => x.left < frame.left || x.right > frame.right + 1 || x.bottom > frame.bottom).length,
  names.filter((x, i) => names.some((y, j) => j > i && Math.min(x.right, y.right) - Math.max(x.left, y.left) > 1
    && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 1)).length,
])"""


@pytest.mark.parametrize("width", [1400, 400])
def test_every_point_has_its_name_and_no_two_names_overlap(browser, site, width):
    from selenium.webdriver.support.ui import WebDriverWait

    opened(browser, site / "index.html", width)
    choose = "const s = document.querySelector('#pictures select'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))"
    for number in range(len(browser.find_elements("css selector", "#pictures option"))):
        browser.execute_script(choose, str(number))
        WebDriverWait(browser, browsers.SECONDS).until(
            lambda _: browser.find_elements("css selector", "#pictures .point")
        )
        assert browser.execute_script(OVERLAPPING) in ([[0, 0, 0], [0, 0, 0]], [[0, 0, 0]]), number


def test_the_front_page_is_three_screens_and_names_stay_in_sight_on_a_phone(browser, site):
    opened(browser, site / "index.html", 1400)
    boards = len(list((site / "boards").glob("*.html")))
    assert browser.execute_script("return document.documentElement.scrollHeight") < 250 * boards
    assert not browser.execute_script("return document.querySelector('#t2 details').open")
    opened(browser, site / "boards" / "neural-en.html", 400)
    left = browser.execute_script(
        "const wide = document.querySelector('.wide'); wide.scrollLeft = 400;"
        "return [wide.scrollLeft, wide.querySelector('tbody th').getBoundingClientRect().left]"
    )
    assert left[0] > 100
    assert 0 <= left[1] < 40


def test_search_and_filters_narrow_the_rows(browser, site):
    opened(browser, site / "index.html", 1400)
    everything = shown(browser)
    browser.find_element("css selector", "#bar input").send_keys("bm25 scifact")
    rows = shown(browser)
    assert 0 < len(rows) < len(everything)
    assert all("bm25" in row and "scifact" in row for row in rows)
    assert "shown" in browser.find_element("id", "live").get_attribute("textContent")
    browser.execute_script(
        "const s = document.querySelectorAll('#t2 select')[0]; s.value = 'published'; s.dispatchEvent(new Event('change'))"
    )
    assert all("published" in row for row in shown(browser))


def test_papers_can_be_sorted_and_searched(browser, site):
    opened(browser, site / "datasets/scifact.html", 1400)
    [heading] = [
        button for button in browser.find_elements("css selector", "#t0 th button")
        if button.text.startswith("paper")
    ]  # fmt: skip
    heading.click()
    assert heading.find_element("xpath", "..").get_attribute("aria-sort") in ("ascending", "descending")
    browser.find_element("css selector", "input[type=search]").send_keys("10.1561")
    kept = "return [...document.querySelectorAll('#t0 tbody tr')].filter((x) => !x.hidden).map((x) => x.textContent)"
    rows = browser.execute_script(kept)
    assert rows
    assert all("10.1561" in row for row in rows)
    assert browser.get_log("browser") == []


def test_a_table_is_sorted_by_its_headings(browser, site):
    opened(browser, site / "datasets" / "scifact.html", 1400)
    assert browser.find_element("css selector", "[aria-sort] button").text.startswith("nDCG@10")
    values = "return [...document.querySelectorAll('#t0 tbody tr')].map((x) => parseFloat(x.children[2].innerText))"
    best_first = browser.execute_script(values)
    assert best_first == sorted(best_first, reverse=True)
    browser.find_element("css selector", "[aria-sort] button").click()
    assert browser.execute_script(values) == sorted(best_first)


def test_a_phone_shows_the_first_score_of_a_dataset_beside_the_system(browser, site):
    opened(browser, site / "datasets" / "scifact.html", 400)
    right = "return document.querySelector('#t0 [aria-sort]').getBoundingClientRect().right"
    assert 0 < browser.execute_script(right) <= 400


def test_links_lead_from_the_index_to_a_system_and_back(browser, site):
    opened(browser, site / "index.html", 1400)
    browser.execute_script("document.querySelector('#t2 tbody a').click()")
    from selenium.webdriver.support.ui import WebDriverWait

    wait = WebDriverWait(browser, browsers.SECONDS)
    wait.until(lambda _: "/systems/" in browser.current_url)
    wait.until(lambda _: browser.find_elements("css selector", ".up a"))[0].click()
    wait.until(lambda _: browser.current_url.endswith("index.html"))
