"""Tiny models and collections in the form of the published ones, and servers that give them out."""
