"""Research a topic and write an encyclopedia article about it, every sentence traceable to a source.

    from storm_pipeline import Storm
    article = Storm().write("Silk Road")

Importing the package is cheap: modules are imported when one of their names is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from storm_pipeline.errors import (
        AssetError,
        BudgetSpentError,
        CorpusError,
        DamagedRunError,
        DatasetError,
        InvalidSettingError,
        MissingExtraError,
        ModelAuthError,
        ModelError,
        NothingFoundError,
        PageError,
        ProgramError,
        ReplyError,
        RunError,
        SearchError,
        SettingsError,
        SourcesError,
        StoppedError,
        StoreError,
        StormError,
        TooManyFailuresError,
        UntrustedError,
    )
    from storm_pipeline.run.events import (
        CallbackSink,
        CallFinished,
        Counted,
        Degraded,
        Downloading,
        Event,
        EventSink,
        Excluded,
        Failed,
        JsonLinesSink,
        Noted,
        Retried,
        Reused,
        Revised,
        RunFinished,
        RunStarted,
        RunStopped,
        Searched,
        SectionWritten,
        StageAdvanced,
        StageFinished,
        StageStarted,
    )
    from storm_pipeline.run.stream import AsyncStream, Stream
    from storm_pipeline.search.base import AsyncSearchEngine, SearchEngine
    from storm_pipeline.settings import Settings
    from storm_pipeline.storm import Storm, resume, write
    from storm_pipeline.types import Article, Outline, Snippet

__all__ = [
    "Article",
    "AssetError",
    "AsyncSearchEngine",
    "AsyncStream",
    "BudgetSpentError",
    "CallFinished",
    "CallbackSink",
    "CorpusError",
    "Counted",
    "DamagedRunError",
    "DatasetError",
    "Degraded",
    "Downloading",
    "Event",
    "EventSink",
    "Excluded",
    "Failed",
    "InvalidSettingError",
    "JsonLinesSink",
    "MissingExtraError",
    "ModelAuthError",
    "ModelError",
    "Noted",
    "NothingFoundError",
    "Outline",
    "PageError",
    "ProgramError",
    "ReplyError",
    "Retried",
    "Reused",
    "Revised",
    "RunError",
    "RunFinished",
    "RunStarted",
    "RunStopped",
    "SearchEngine",
    "SearchError",
    "Searched",
    "SectionWritten",
    "Settings",
    "SettingsError",
    "Snippet",
    "SourcesError",
    "StageAdvanced",
    "StageFinished",
    "StageStarted",
    "StoppedError",
    "StoreError",
    "Storm",
    "StormError",
    "Stream",
    "TooManyFailuresError",
    "UntrustedError",
    "__version__",
    "resume",
    "write",
]
__version__ = "0.1.0"

_NAMES = {
    "errors": (
        "AssetError BudgetSpentError CorpusError DamagedRunError DatasetError InvalidSettingError "
        "MissingExtraError ModelAuthError ModelError NothingFoundError PageError ProgramError ReplyError RunError "
        "SearchError SettingsError SourcesError StoppedError StoreError StormError TooManyFailuresError "
        "UntrustedError"
    ),
    "run.events": (
        "CallFinished CallbackSink Counted Degraded Downloading Event EventSink Excluded Failed JsonLinesSink "
        "Noted Retried Reused Revised RunFinished RunStarted RunStopped Searched SectionWritten StageAdvanced "
        "StageFinished StageStarted"
    ),
    "run.stream": "AsyncStream Stream",
    "search.base": "AsyncSearchEngine SearchEngine",
    "settings": "Settings",
    "storm": "Storm resume write",
    "types": "Article Outline Snippet",
}
"""Module → the public names that it defines."""
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
