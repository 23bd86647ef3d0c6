"""Texts to terms, for plugins."""
