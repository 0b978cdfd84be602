"""Writers, which turn evidence into text, section by section, as in the paper; and the sentences of extracts."""
