"""Annotation of pools by people: the page, the assignment of pairs, the log of judgements, and the
results."""
