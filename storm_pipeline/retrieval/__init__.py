"""Text in, ranking out: embedder, lexical index, fusion of both."""
