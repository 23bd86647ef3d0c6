"""Plugins use these modules to find the best of many scores or vectors."""
