"""Text, as words, sentences, outlines and index terms: pure functions."""
