"""What the `bad` plugin's `build` imports when it was asked to fail there."""

raise ImportError("the plugin's library was asked to fail")
