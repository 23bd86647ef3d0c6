"""`harness site`: many leaderboards as static pages that need no server and no network."""
