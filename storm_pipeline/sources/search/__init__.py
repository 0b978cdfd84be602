"""Search: the engine protocol, and functions shared by engines."""
