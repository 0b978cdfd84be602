"""The command line, ``storm``: parses, calls :mod:`storm_pipeline.storm`, prints."""

from storm_pipeline.cli.app import app, main

__all__ = ["app", "main"]
