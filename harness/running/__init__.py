"""Runs a suite from its plan to its leaderboard."""
