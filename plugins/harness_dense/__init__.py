"""Bi-encoders with one or two towers, searched exactly or with faiss."""
