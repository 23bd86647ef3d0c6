"""Makes the screenshot of a report that the README shows.

`python tools/screenshot.py leaderboards/tour docs/images/report.png` needs Chromium and the extra `report`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import cli

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SWITCHES = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
LIMIT = 300_000  # bytes, so that the README loads fast


def draw(leaderboard: Path, picture: Path, width: int, height: int) -> None:
    """Write the first `height` pixels of the leaderboard's report to `picture`, a PNG file."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"needs one of {', '.join(BROWSERS)}; install Chromium")
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.html")
        arguments = ["report", str(leaderboard), "--out", str(report), "--store", str(Path(scratch, "store"))]
        if code := cli.main([*arguments, "--no-text"]):
            sys.exit(code)
        command = [
            browser,
            *SWITCHES,
            f"--user-data-dir={Path(scratch, 'profile')}",
            f"--window-size={width},{height}",
            "--virtual-time-budget=5000",  # the page draws its plots after it is loaded
            f"--screenshot={picture.resolve()}",
            report.as_uri(),
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    size = picture.stat().st_size
    if size > LIMIT:
        sys.exit(f"{picture}: {size:,} bytes are more than {LIMIT:,}; choose a smaller --width or --height")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("leaderboard", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=1125)
    given = parser.parse_args()
    draw(given.leaderboard, given.picture, given.width, given.height)


if __name__ == "__main__":
    main()
