"""The references of a run: what was found, and how it is cited."""
