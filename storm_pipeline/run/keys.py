"""Whether keys that a run needs are set, and prices known where dollars are capped, before anything is made for it."""

from storm_pipeline.models.keys import require_model_keys
from storm_pipeline.models.model_objects import is_object
from storm_pipeline.models.prices import full_name, parse_prices, price_of, require_prices
from storm_pipeline.search.registry import require_engine_keys
from storm_pipeline.settings import Settings


def require_keys(settings: Settings, *, own_engine: bool = False) -> None:
    """Check that the keys of the models and of the search engine are set, and that a cap on dollars can be kept.

    ``own_engine``: whether the run searches with an engine object of the caller's, not with that of the settings.
    Raises SettingsError: a key or a price is missing.
    """
    require_model_keys(settings)
    own = parse_prices(settings.prices)
    named = [name for name in settings.models if not is_object(name)]
    if settings.max_cost is not None:
        require_prices(settings.max_cost, {name: price_of(full_name(name, settings), own) for name in named})
    if not own_engine and settings.search != "auto":
        require_engine_keys(settings.search)
