"""The public names; each is imported when it is first used."""

from storm_pipeline.errors import (
    AssetError as AssetError, BudgetSpentError as BudgetSpentError, CorpusError as CorpusError,
    DamagedRunError as DamagedRunError, DatasetError as DatasetError, ContradictionError as ContradictionError,
    InvalidSettingError as InvalidSettingError, MissingExtraError as MissingExtraError,
    ModelAuthError as ModelAuthError, ModelError as ModelError, NothingFoundError as NothingFoundError,
    PageError as PageError, ProgramError as ProgramError, ReplyError as ReplyError, RunError as RunError,
    SearchError as SearchError, SettingsError as SettingsError, StoppedError as StoppedError,
    StoreError as StoreError, StormError as StormError, TooManyFailuresError as TooManyFailuresError,
    UnknownStyleError as UnknownStyleError,
)  # fmt: skip
from storm_pipeline.run.events import (
    CallbackSink as CallbackSink, CallFinished as CallFinished, Counted as Counted, Degraded as Degraded,
    Downloading as Downloading, Event as Event, EventSink as EventSink, Excluded as Excluded, Failed as Failed,
    JsonLinesSink as JsonLinesSink, Noted as Noted, Retried as Retried, Reused as Reused, Revised as Revised,
    RunFinished as RunFinished, RunStarted as RunStarted, RunStopped as RunStopped, Searched as Searched,
    SectionWritten as SectionWritten, StageAdvanced as StageAdvanced, StageFinished as StageFinished,
    StageStarted as StageStarted,
)  # fmt: skip
from storm_pipeline.run.stream import AsyncStream as AsyncStream, Stream as Stream
from storm_pipeline.sources.search.base import AsyncSearchEngine as AsyncSearchEngine, SearchEngine as SearchEngine
from storm_pipeline.settings import Settings as Settings
from storm_pipeline.storm import Storm as Storm, answer as answer, ask as ask, resume as resume, write as write
from storm_pipeline.types import Article as Article, Outline as Outline, Snippet as Snippet

__all__: list[str]
__version__: str
