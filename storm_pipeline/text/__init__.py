"""Text and what it is written in: words, sentences, languages, quantities, outlines of numbers and markers; pure.

Also what every room needs and imports nothing itself: ids and addresses (``identity.py``), files read and written
safely (``files.py``), a lexical index, and what settings are made of (``configuration/``). May import errors.
"""
