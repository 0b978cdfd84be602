"""The search engines, one a file."""
