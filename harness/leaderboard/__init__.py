"""The leaderboard file: its form, and all that builds, reads, merges or renders it."""
