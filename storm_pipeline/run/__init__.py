"""A run: its folder, session, journal, usage, events and limits."""
