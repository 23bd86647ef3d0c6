"""Runs that other tools made are read, and datasets are written, in the forms of other tools."""
