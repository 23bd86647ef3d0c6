"""What all tests share: compiled code is kept between tests and sessions, and how many examples property tests try."""

import os
import signal
import sys
from typing import Any

import hypothesis
import pytest

# A quick run tries few examples and CI many: `--hypothesis-profile=thorough`. The tests that mutate suites, data
# and leaderboards at random go by these counts too.
# How long an example takes says more of the machine than of the test.
ANY_SPEED: dict[str, Any] = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("quick", max_examples=50, **ANY_SPEED)
hypothesis.settings.register_profile("thorough", max_examples=2000, **ANY_SPEED)
hypothesis.settings.register_profile("exhaustive", max_examples=10_000, **ANY_SPEED)
hypothesis.settings.load_profile("quick")


@pytest.fixture(scope="session")
def exhaustive() -> bool:
    """Whether a sweep tries every case, and not a share of them."""
    return hypothesis.settings.default.max_examples >= 10_000


def pytest_collection_finish() -> None:
    """Compiled code is kept for all workers of pytest, as for all workers of a run."""
    if "numba" in sys.modules:
        from harness.execution.compile_time import guard_cache

        guard_cache()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(config.rootpath / ".pytest_cache" / "compiled")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell has it for what runs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)  # for the processes that tests interrupt


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table of the rehearsal, if this session had one."""
    reports = [each for outcome in ("passed", "failed") for each in terminalreporter.stats.get(outcome, ())]
    if any("test_rehearsed_suites.py" in report.nodeid and report.when == "call" for report in reports):
        import rehearsed

        terminalreporter.section("the rehearsal of the committed suites")
        terminalreporter.write(rehearsed.table())
