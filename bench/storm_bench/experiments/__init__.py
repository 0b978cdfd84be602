"""Experiments: methods compared on a data set's topics by metrics, in a folder from which any process can continue.

from storm_bench.experiments import Experiment, read_config
from storm_pipeline.interfaces.batch import open_executor
with Experiment(read_config("experiments/freshwiki.toml"), Path("runs/mine"), open_executor("local")) as one:
    results = one.run()
"""

from storm_bench.experiments.config import ExperimentConfig, read_config
from storm_bench.experiments.experiment_folder import ExperimentStore
from storm_bench.experiments.results import results_of
from storm_bench.experiments.run_experiment import Experiment

__all__ = [
    "Experiment",
    "ExperimentConfig",
    "ExperimentStore",
    "read_config",
    "results_of",
]
