"""Origins of texts: search engines, web pages, documents; ratings of sources; HTTP for all of them.

May import errors, run, text, types.
"""
