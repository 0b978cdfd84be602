"""The writer for small models: it chooses, shortens and orders sentences of the sources, and asks for headings only."""
