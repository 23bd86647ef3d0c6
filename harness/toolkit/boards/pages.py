"""Pages of HTML, for commands of plugins: the style, the scripts and the frame of the report.

Status: provisional. The scripts and the style change with the report.
"""

from harness.html.page import enclosed, page_of, script, style

__all__ = ["enclosed", "page_of", "script", "style"]
