"""Whether a search engine exists and its keys are set, before anything is made for a run."""

from storm_pipeline.search.combined import split_specs
from storm_pipeline.search.engine_info import EngineConfig
from storm_pipeline.search.registry import engine_info, open_search


def require_engine_keys(spec: str) -> None:
    """Check that an engine exists and its keys are set, or those of all engines of a composite one.

    Args:
        spec: as for :func:`storm_pipeline.search.registry.open_search`.

    Raises:
        SettingsError: there is no such engine, a key is missing, or a composite specification is malformed.
    """
    name, _, argument = spec.strip().partition(":")
    info = engine_info(name)
    if info and info.separator:
        for part in split_specs(name, argument.strip(), info.separator):
            require_engine_keys(part)
    elif info is None or info.key_set is False:
        open_search(spec, EngineConfig())  # cheap for these engines, and raises what is missing
