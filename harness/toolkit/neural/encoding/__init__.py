"""The loop by which every neural method turns the texts of a corpus into vectors or other rows.

`loop.encode` reads, tokenises, batches and writes. A plugin gives it a `Prepare` (texts to tokens), a
`Forward` for each worker (tokens to rows) and a `Write` (rows to disk; `vectors.writer` for vectors).
"""
