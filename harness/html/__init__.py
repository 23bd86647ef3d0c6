"""`harness report`: a leaderboard as one HTML file that needs nothing else."""
