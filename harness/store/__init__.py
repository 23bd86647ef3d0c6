"""The store: artifacts on disk, each whole or absent, and the operations that change the disk."""
