"""The words for an exception of a plugin: its type, its message and where the plugin failed."""

from __future__ import annotations

import os
import sysconfig
import traceback
from pathlib import Path
from traceback import FrameSummary

HARNESS = str(Path(__file__).parents[1]) + os.sep
STANDARD = sysconfig.get_path("stdlib") + os.sep
INSTALLED = {"site-packages", "dist-packages"}


def error_text(error: BaseException) -> str:
    """An exception's type, its whole message, and the line of the plugin. The worker prints the traceback."""
    text = str(error).strip()
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__) + _raised_at(error)


def _raised_at(error: BaseException) -> str:
    """The innermost line of the code that its author can edit, with the file's folder but without the path,
    which is private. If all code is installed: the innermost line in the folder of the outermost. A function
    of a suite has no file, so its name and the text of the line are given."""
    frames = traceback.extract_tb(error.__traceback__)
    outside = [frame for frame in frames if not frame.filename.startswith((HARNESS, "<frozen"))]
    if not outside:
        return ""
    chosen = next(filter(_is_edited, reversed(outside)), None)
    if chosen is None:
        package = Path(outside[0].filename).parent
        chosen = [frame for frame in outside if Path(frame.filename).parent == package][-1]
    if chosen.filename.startswith("<"):
        return f" (in {chosen.name}: {chosen.line})" if chosen.line else f" (in {chosen.name})"
    return f" ({'/'.join(Path(chosen.filename).parts[-2:])}:{chosen.lineno})"


def _is_edited(frame: FrameSummary) -> bool:
    return not frame.filename.startswith(STANDARD) and not INSTALLED & set(Path(frame.filename).parts)
