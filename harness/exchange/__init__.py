"""Runs that other tools made: how they are read, and made into rows of a leaderboard."""
