"""Turns evidence into text, section by section, as in the paper; and what extracts are made of."""
