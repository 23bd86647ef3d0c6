"""Measures the size of a report, and how fast it opens, sorts, filters and compares in a headless
Chromium."""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import make
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from harness.html import page, tiers
from harness.leaderboard import board_file
from harness.store.artifacts import Store

SWITCHES = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--window-size=1280,1000",
)  # fmt: skip
# milliseconds from an action until its changes are painted, among them the comparison of two systems
TIMED = """
const [selector, value, done] = arguments, node = document.querySelector(selector);
const start = performance.now();
const look = () => document.querySelector("#verdict") === null ? setTimeout(look, 5)
  : requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
if (value === null) node.click();
else {
  node.value = value;
  node.dispatchEvent(new Event(node.matches("select") ? "change" : "input", {bubbles: true}));
}
look();
"""
OPENED = """
const done = arguments[0], look = () => document.documentElement.dataset.ready === undefined
  ? setTimeout(look, 5) : requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
look();
"""
ACTIONS = {
    "sort the results": ("#results thead th:nth-child(3) button", None),
    "sort them the other way": ("#results thead th:nth-child(3) button", None),
    "sort all systems on all datasets": ("#across thead th:nth-child(2) button", None),
    "filter systems": ("#filter", "system-1"),
    "choose another dataset": ("#bar select", "7"),
    "choose another system to compare": ("#compare select", "3"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--datasets", type=int, default=20)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if shutil.which("chromedriver") is None:
        sys.exit("needs chromium and chromedriver; install them")
    with tempfile.TemporaryDirectory() as folder:
        path = make.leaderboard(Path(folder), options.systems, options.datasets, options.queries)
        began = time.perf_counter()
        board, store = board_file.read(path), Store(Path(folder, "store")).open()
        text = page.build(board, store, None, tiers.tiers(board, path), True)
        print(f"| written in | {time.perf_counter() - began:.1f} s |")
        print(f"| size | {len(text.encode()) / 1e6:.1f} MB |")
        report = Path(folder, "report.html")
        page.write(report, text)
        timed(report, options.rounds)


def timed(report: Path, rounds: int) -> None:
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as profile:
            options = webdriver.ChromeOptions()
            options.binary_location = "/usr/bin/chromium"
            for switch in (*SWITCHES, f"--user-data-dir={profile}"):
                options.add_argument(switch)
            browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
            try:
                browser.get(report.as_uri())
                times.setdefault("open", []).append(browser.execute_async_script(OPENED))
                for name, (selector, value) in ACTIONS.items():
                    times.setdefault(name, []).append(browser.execute_async_script(TIMED, selector, value))
            finally:
                browser.quit()
    for name, values in times.items():
        print(f"| {name} | {statistics.median(values):.0f} ms (at most {max(values):.0f}) |")


if __name__ == "__main__":
    main()
