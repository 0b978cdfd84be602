"""Language models: a role → model table, and asking them within the bounds of a run."""

from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.given import GivenModel, sort_given
from storm_pipeline.models.model import Model
from storm_pipeline.models.opening import open_models

__all__ = ["GivenModel", "LanguageModels", "Model", "open_models", "sort_given"]
