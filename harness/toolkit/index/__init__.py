"""Plugins use these modules to write and read index files."""
