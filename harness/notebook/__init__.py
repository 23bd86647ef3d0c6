"""What notebooks use: suites as dicts, Python functions as methods, leaderboards as cells show them."""
