"""Experiments: methods compared on a data set's topics by metrics, in a folder from which any process can continue.

from storm_pipeline.experiments import Experiment, open_executor, read_config
with Experiment(read_config("experiments/freshwiki.toml"), Path("runs/mine"), open_executor("local")) as one:
    results = one.run()
"""

from storm_pipeline.experiments.config import ExperimentConfig, read_config
from storm_pipeline.experiments.executors import Executor, open_executor
from storm_pipeline.experiments.experiment_folder import ExperimentStore
from storm_pipeline.experiments.results import results_of
from storm_pipeline.experiments.run_experiment import Experiment

__all__ = [
    "Executor",
    "Experiment",
    "ExperimentConfig",
    "ExperimentStore",
    "open_executor",
    "read_config",
    "results_of",
]
