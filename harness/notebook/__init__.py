"""The harness in notebooks: suites as dicts, Python functions as methods, and leaderboards that cells
display."""
