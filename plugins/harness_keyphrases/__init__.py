"""A document's keyphrases by TopicRank, as context for its passages."""
