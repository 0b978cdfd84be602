"""Training of writers: supervised fine-tuning, reward models and PPO (FoRAG), and TunedRR.

It uses only the package's public names and :mod:`storm_pipeline.api`, and the bench's judges and readers.
"""

__version__ = "0.1.0"
