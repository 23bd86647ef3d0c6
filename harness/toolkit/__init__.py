"""Machinery that plugins share; the core does not import it."""
