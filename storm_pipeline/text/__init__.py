"""Words, sentences, outlines and index terms of text: pure functions."""
