"""Hierarchical retrieval: documents first, then the passages within them, fused."""
