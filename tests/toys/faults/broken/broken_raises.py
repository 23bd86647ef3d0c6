"""A plugin that raises when it is imported."""

raise RuntimeError("the plugin was asked to fail")
