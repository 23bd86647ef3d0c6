"""Plugins use these modules to read the files of collections."""
