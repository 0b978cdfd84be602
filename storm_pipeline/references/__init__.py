"""The references of a run: what was found, how it is embedded and searched, and how it is cited."""
