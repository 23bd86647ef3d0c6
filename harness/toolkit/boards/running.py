"""Suites that commands of plugins run, and leaderboards that they merge.

Status: provisional.
"""

from harness.api import load, run
from harness.leaderboard.merge import merge
from harness.suite import Suite, System
from harness.suite.models import models_of

__all__ = ["Suite", "System", "load", "merge", "models_of", "run"]
