"""Search engines, one per module."""
