"""Scoring: turns hits into numbers by rankings, measures, protocols, bounds and intervals."""
