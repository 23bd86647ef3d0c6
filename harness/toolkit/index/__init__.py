"""Index files, for plugins."""
