"""Measures: expressions as ir-measures writes them, and what a measure of a plugin is given.

A kernel computes one measure for all queries at once. It is a function of

    grades   int32[Q, k]  the grade of each ranked passage; `UNJUDGED` where there is no judgement and
                          `FILL` behind the end of a short row, both below every grade; not cut
    ideal    Ideal        all judgements of each query, highest grade first
    rel      int          the lowest grade that counts as relevant
    cutoff   int or None  how many ranks are read, None for all

and returns a numerator and a denominator, float64[Q] each. The value of a query is their ratio, or 0
where the denominator is 0. A column's mean is the mean of these values, or sum over sum for a measure
whose record says `ratio`.
"""

from harness.scoring.measures.names import FILL, UNJUDGED, Average, Metric, parse

__all__ = ["FILL", "UNJUDGED", "Average", "Metric", "parse"]
