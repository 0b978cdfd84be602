"""Web pages: safe and polite fetching, text extraction, and the passages that match a query."""
