"""Search engines: one protocol, an engine a file, and what they share."""
