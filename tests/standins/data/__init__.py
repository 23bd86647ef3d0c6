"""Stand-ins of the releases of data that committed suites name: made-up text in the releases' own layouts."""
