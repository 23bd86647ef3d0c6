"""Late interaction as ColBERTv2: a retriever and a re-ranker over the vectors of tokens."""
