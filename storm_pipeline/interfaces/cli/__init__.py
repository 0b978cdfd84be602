"""The command line ``storm``: parses arguments, calls :mod:`storm_pipeline.storm`, prints results."""

from storm_pipeline.interfaces.cli.app import app, main

__all__ = ["app", "main"]
