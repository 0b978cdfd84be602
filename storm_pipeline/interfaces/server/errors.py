"""Errors of a server; ``problems.py`` maps them to statuses."""

from storm_pipeline.errors import RunError, StormError


class UnknownRunError(RunError):
    """The caller has no run of this name."""


class UnknownDocumentsError(StormError):
    """The caller has no set of documents of this name."""


class ConflictError(RunError):
    """The state of a run or a set of documents does not allow this: active, in use, not ready, empty, or too many."""


class BusyError(StormError):
    """The queue of runs or checks is full, or the server is shutting down."""


class OverloadedError(BusyError):
    """The server handles the maximum number of requests."""


class FullError(StormError):
    """The disk is full."""


class TooLargeError(StormError):
    """A body, a file or a set of documents is larger than the server allows."""


class EncodingError(StormError):
    """A body is not encoded in UTF-8."""


class SlowBodyError(StormError):
    """A body did not arrive in time."""
