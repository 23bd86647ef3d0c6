"""Learned sparse retrieval as SPLADE: an impact index over a masked-language model's vocabulary."""
