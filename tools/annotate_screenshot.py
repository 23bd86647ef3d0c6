"""Makes the screenshot of the annotators' page that docs/annotate.md shows.

`python tools/annotate_screenshot.py docs/images/annotate.png` needs Chromium, chromedriver, selenium and the
extra `annotate`.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import orjson

SWITCHES = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--lang=en")
LIMIT = 300_000  # bytes
QUERIES = [{"id": "q1", "text": "How long does the glaze of a tea bowl need to dry before firing?"}]
TEXTS = (
    "A bowl is glazed after its first firing, when the clay is hard and thirsty. Dip it once, hold it still, "
    "and set it on three points so that the foot stays clean.",
    "It is dry to the touch after an hour. Most potters still leave it overnight: water that is deep in the "
    "wall turns to steam in the kiln, and steam lifts the coat off in flakes. In a damp room a second night "
    "does no harm.",
    "Wipe the foot with a wet sponge before the kiln is loaded. Two bowls that touch become one.",
)
PASSAGES = [{"id": f"p{number}", "text": text} for number, text in enumerate(TEXTS, 1)]
DOCUMENTS = [{"id": "d1", "title": "Glazing at home: a short course", "passages": PASSAGES}]
PAIRS = [
    {"query": "q1", "passage": name, "document": "d1", "rank": rank, "ranks": {"bm25": rank}}
    for rank, name in enumerate(("p3", "p2", "p1"), 1)
]


def write_pool(folder: Path) -> None:
    """Write the pool to a folder, in the form of docs/pools.md."""
    total = hashlib.sha256()
    parts: dict[str, list[dict[str, Any]]] = {
        "queries.jsonl": QUERIES, "documents.jsonl": DOCUMENTS, "pairs.jsonl": PAIRS,
    }  # fmt: skip
    folder.mkdir()
    for name, rows in parts.items():
        data = b"".join(orjson.dumps(row) + b"\n" for row in rows)
        (folder / name).write_bytes(data)
        total.update(data)
    head = {"form": "harness pool 1", "name": "pottery", "split": "dev", "language": "en"}
    (folder / "pool.json").write_bytes(orjson.dumps({**head, "digest": total.hexdigest()}))


def draw(picture: Path, width: int, height: int, *switches: str) -> None:
    """Write a PNG of the annotators' page to `picture`. The page shows a pool of made-up texts after one
    answer, with the document open."""
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        sys.exit("needs chromium and chromedriver; install Chromium")
    with tempfile.TemporaryDirectory() as scratch:
        pool = Path(scratch, "pool")
        write_pool(pool)
        command = [sys.executable, "-m", "harness", "annotate", str(pool), "--out", str(Path(scratch, "out"))]
        options = ["--scheme", "t2ranking", "--votes", "1", "--more", "0", "--port", "0"]
        server = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            link = server.stdout.readline().split()[-1]
            chrome = webdriver.ChromeOptions()
            chrome.binary_location = browser
            for switch in (*SWITCHES, *switches, f"--user-data-dir={Path(scratch, 'profile')}"):
                chrome.add_argument(switch)
            shown = webdriver.Chrome(options=chrome, service=webdriver.ChromeService(driver))
            try:
                metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
                shown.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
                shown.get(link)
                for key, awaited in (("", "#skip"), ("1", "#last"), ("d", ".around")):
                    if key:
                        shown.find_element("css selector", "body").send_keys(key)
                    script = f"return document.querySelector('{awaited}') !== null"
                    WebDriverWait(shown, 20).until(lambda page, script=script: page.execute_script(script))
                shown.save_screenshot(str(picture))
            finally:
                shown.quit()
        finally:
            server.terminate()
            server.wait()
    if picture.stat().st_size > LIMIT:
        sys.exit(f"{picture}: more than {LIMIT:,} bytes; choose a smaller --width or --height")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--width", type=int, default=1240)
    parser.add_argument("--height", type=int, default=860)
    given = parser.parse_args()
    draw(given.picture, given.width, given.height)


if __name__ == "__main__":
    main()
