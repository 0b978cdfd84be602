"""The command line ``storm``: parses arguments, calls :mod:`storm_pipeline.storm`, prints results."""

from storm_pipeline.cli.app import app, main

__all__ = ["app", "main"]
