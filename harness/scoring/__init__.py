"""From hits to numbers: rankings, measures, protocols, bounds and intervals."""
