"""Artifacts on disk: each is whole or absent, and the operations that change the disk."""
