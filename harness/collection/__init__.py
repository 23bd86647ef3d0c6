"""A collection as columns: passages, context, queries and judgements on disk."""
