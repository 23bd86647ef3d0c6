"""Writes files whole: whenever the process is killed, a file has all old or all new contents."""

from harness.store.disk import explaining, remove_tree, replace_file, replacing, sha256

__all__ = ["explaining", "remove_tree", "replace_file", "replacing", "sha256"]
