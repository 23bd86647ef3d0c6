"""Finding the best of many scores or vectors, for plugins."""
