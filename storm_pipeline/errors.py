"""Every error that this package raises on purpose.

    StormError
    ├── SettingsError        a setting is missing, unknown or out of range
    │   └── MissingExtraError    an optional dependency is not installed
    ├── AssetError           a pinned download is absent, damaged or cannot be assembled
    ├── ModelError           a language model cannot be asked
    │   ├── ModelAuthError       the endpoint refused the key
    │   └── ReplyError           the model answered, but not in the form that was asked for
    ├── SearchError          a search engine or a corpus cannot be used
    │   └── CorpusError          a file of one's own documents cannot be read
    ├── SourcesError         a list of sources cannot be read, fetched or trusted
    ├── StoreError           a saved reference store does not fit what loads it
    ├── RunError             a run folder cannot be written or read
    └── NothingFoundError    no source was found: there is nothing to write from

A message says what went wrong, where, and what to do next, in one sentence or two.
"""


class StormError(Exception):
    """Root of the tree: catch this to catch all that the package raises on purpose."""


class SettingsError(StormError):
    """A setting is missing, unknown or out of range."""


class MissingExtraError(SettingsError):
    """An optional dependency is not installed; the message names the extra."""


class AssetError(StormError):
    """A pinned download is absent, damaged or cannot be assembled."""


class ModelError(StormError):
    """A language model cannot be asked: unreachable, refusing, or out of time."""


class ModelAuthError(ModelError):
    """The endpoint refused the key (HTTP 401 or 403). Never retried."""


class ReplyError(ModelError):
    """The model answered, but not in the form that was asked for, even after a fresh sample.

    Attributes:
        reply: the last answer as it came.
    """

    def __init__(self, message: str, reply: str = "") -> None:
        super().__init__(message)
        self.reply = reply


class SearchError(StormError):
    """A search engine cannot be used, or answered with an error."""


class CorpusError(SearchError):
    """A file of one's own documents cannot be read."""


class SourcesError(StormError):
    """A list of reliable and unreliable sources cannot be read, fetched or trusted."""


class StoreError(StormError):
    """A saved reference store does not fit what loads it: embedder, counts or format differ."""


class RunError(StormError):
    """A run folder cannot be written or read."""


class NothingFoundError(StormError):
    """No source was found for the topic: there is nothing to write from."""
