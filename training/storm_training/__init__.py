"""Training of writers: supervised fine-tuning, reward models and PPO (FoRAG), and TunedRR.

Of the package it uses the public names and :mod:`storm_pipeline.api` only, of the bench its judges and readers.
"""

__version__ = "0.1.0"
