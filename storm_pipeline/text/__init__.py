"""Pure functions on text: words, sentences, languages, quantities; ids, addresses, files, and types of settings.

Used by every other room. May import errors.
"""
