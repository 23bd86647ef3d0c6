"""Data for `harness inspect` and the report: one query across systems, and a passage as a system read it."""
