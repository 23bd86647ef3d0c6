"""What all tests share: compiled code is kept from one test, and one session, to the next."""

from __future__ import annotations

import os

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(config.rootpath / ".pytest_cache" / "compiled")
