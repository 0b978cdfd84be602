"""Text, pure: words, sentences, languages, quantities; ids, addresses, files, and what settings are made of.

Every other room needs this one, which needs no other. May import errors.
"""
