"""Whether the keys that a run needs are set, before a folder is made or anything is downloaded."""

from storm_pipeline.models.keys import require_model_keys
from storm_pipeline.search.keys import require_engine_keys
from storm_pipeline.settings import Settings


def require_keys(settings: Settings, *, own_engine: bool = False) -> None:
    """Check that the keys of the models and of the search engine are set.

    Args:
        settings: settings of the run.
        own_engine: whether the run searches with an engine object of the caller's, not with that of the settings.

    Raises:
        SettingsError: a key is missing.
    """
    require_model_keys(settings)
    if not own_engine and settings.search != "auto":
        require_engine_keys(settings.search)
