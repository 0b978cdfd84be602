"""Text, pure: words, sentences, languages, quantities; ids, addresses, files, and what settings are made of.

What every room needs and needs none itself is here. May import errors.
"""
