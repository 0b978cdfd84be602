"""Articles as text and as files, read back, checked and refreshed."""
