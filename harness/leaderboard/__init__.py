"""The leaderboard file: its form, and the code that builds, reads, merges or renders it."""
