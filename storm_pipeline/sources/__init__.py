"""Where texts come from: search, its engines, pages, documents, which sources are reliable, HTTP for all of them.

May import errors, run, text, types.
"""
