"""Plugins use these modules to turn texts into terms."""
