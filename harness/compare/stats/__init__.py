"""Paired tests between systems over the same queries, corrected over a family of tests.

`paired` tests one pair at a time (t, Wilcoxon, effect size, detectable difference), `signs` computes the
distribution of the randomisation test for all pairs at once, `family` corrects over many tests, and `tiers`
groups systems that do not differ significantly. docs/statistics.md reports simulations of how well the tests
hold their level.
"""
