"""Executes the steps of a plan in worker processes."""
