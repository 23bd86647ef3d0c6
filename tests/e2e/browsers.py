"""Chromium for the tests of pages. Importing this module skips the tests where no browser can be driven."""

import shutil
from pathlib import Path
from typing import Any

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    pytest.skip("needs chromium and chromedriver", allow_module_level=True)

SWITCHES = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--window-size=1280,1000",
    "--disable-dev-shm-usage",  # the shared memory of a container may be too small
)  # fmt: skip


SECONDS = 200  # until what must come is given up: no machine is so busy


def started(profile: Path) -> Any:
    """A browser with an empty profile, which logs what pages print and what they fetch."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for switch in (*SWITCHES, f"--user-data-dir={profile}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(SECONDS + 40)
    return driver
