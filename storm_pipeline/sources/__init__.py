"""Where texts come from: search engines, pages, documents, which sources are reliable, and HTTP for all of them.

An engine is one file in ``engines/``, a format one file in ``documents/``. May import errors, run, text, types.
"""
