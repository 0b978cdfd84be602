"""Errors of a server; ``problems.py`` says with which status each is answered."""

from storm_pipeline.errors import RunError, StormError


class UnknownRunError(RunError):
    """The caller has no run of this name."""


class UnknownDocumentsError(StormError):
    """The caller has no set of documents of this name."""


class ConflictError(RunError):
    """A run or a set of documents is not in a state for this: under way, in use, not ready, empty, or one too many."""


class BusyError(StormError):
    """As many runs or checks wait as the server allows, or it is shutting down."""


class OverloadedError(BusyError):
    """As many requests of all callers together are under way as the server allows."""


class ForbiddenError(StormError):
    """The caller may not have what is the owner's."""


class FullError(StormError):
    """The disk is full."""


class TooLargeError(StormError):
    """A body, a file or a set of documents is larger than the server allows."""


class SlowBodyError(StormError):
    """A body did not arrive in time."""
