"""Writes files whole: whenever the process is killed, a file has all old or all new contents."""

from harness.store.disk import replace_file, replacing

__all__ = ["replace_file", "replacing"]
