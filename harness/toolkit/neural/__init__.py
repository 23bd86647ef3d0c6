"""Plugins use these modules for models, devices and encoding."""
