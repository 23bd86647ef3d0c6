"""Measures: expressions in the form of ir-measures, and the kernels that compute them.

A kernel computes one measure for all queries at once. A plugin's measure is a kernel too. It is a function of

    grades   int32[Q, k]  the grade of each ranked passage, not cut; `UNJUDGED` where there is no judgement,
                          `FILL` after the end of a short row; both values are below every grade
    ideal    Ideal        all judgements of each query, highest grade first
    rel      int          the lowest grade that counts as relevant
    cutoff   int or None  how many ranks are read; None for all ranks

and returns a numerator and a denominator, float64[Q] each. The value of a query is their ratio, or 0
where the denominator is 0. A column's mean is the mean of these values. For a measure whose record says
`ratio`, it is the sum of the numerators divided by the sum of the denominators.
"""

from harness.scoring.measures.names import FILL, UNJUDGED, Average, Metric, parse

__all__ = ["FILL", "UNJUDGED", "Average", "Metric", "parse"]
