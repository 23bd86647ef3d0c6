"""Collections of ir_datasets, and the survey's table 4 under its names."""
