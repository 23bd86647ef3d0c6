"""The harness in notebooks: suites as dicts, Python functions as methods, leaderboards in cells."""
