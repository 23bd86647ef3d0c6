"""A query across systems, a passage as a system saw it: the data of `harness inspect` and the report."""
