"""Cross-encoders and monoT5: re-rankers that read query and passage together."""
