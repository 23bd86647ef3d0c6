"""Coreference as context: a mention is followed by what it refers to in an earlier passage."""
