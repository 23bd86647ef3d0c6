"""Annotation of pools by people: the page, who judges which pair, the log of judgements, the results."""
