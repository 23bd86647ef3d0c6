"""Models, devices and encoding, for plugins."""
