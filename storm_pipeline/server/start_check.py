"""What would fail every run of a server, found when it starts."""

from storm_pipeline.run.keys import require_keys
from storm_pipeline.run.search import open_engine
from storm_pipeline.search.registry import engines
from storm_pipeline.settings import Settings


def require_runnable(settings: Settings) -> None:
    """Check that runs with these settings can begin: keys, prices under a cap, and documents of the owner's own.

    Nothing is downloaded, and no model is asked.

    Raises:
        SettingsError: a key or a price is missing, or there is no such engine.
        CorpusError: the documents cannot be read.
    """
    require_keys(settings)
    if any(f"{info.base_name}:" in settings.search for info in engines() if info.own):
        open_engine(settings)
