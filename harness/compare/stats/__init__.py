"""Paired tests between systems over the same queries, corrected over a family: the numbers behind `compare`.

`paired` tests one pair at a time (t, Wilcoxon, effect size, detectable difference), `signs` draws the
randomisation test's distribution for all pairs at once, `family` corrects over many tests, `tiers` groups
what cannot be told apart. docs/statistics.md tells how well all this keeps its promises, by simulation.
"""
