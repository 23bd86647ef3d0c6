"""What all tests share: compiled code is kept between tests and sessions, and how many examples property tests try."""

from __future__ import annotations

import os

import hypothesis
import pytest

# A quick run tries few examples and CI many: `--hypothesis-profile=thorough`. The tests that mutate suites, data
# and leaderboards at random go by these counts too.
hypothesis.settings.register_profile("quick", max_examples=50, deadline=None)
hypothesis.settings.register_profile("thorough", max_examples=2000, deadline=None)
hypothesis.settings.register_profile("exhaustive", max_examples=10_000, deadline=None)
hypothesis.settings.load_profile("quick")


@pytest.fixture(scope="session")
def exhaustive() -> bool:
    """Whether a sweep tries every case, and not a share of them."""
    return hypothesis.settings.default.max_examples >= 10_000


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(config.rootpath / ".pytest_cache" / "compiled")
