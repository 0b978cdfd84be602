"""Articles as text in one format a file: pure functions, an article in, a string out."""
