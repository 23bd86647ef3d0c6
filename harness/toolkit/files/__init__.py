"""Reading the files of collections, for plugins."""
