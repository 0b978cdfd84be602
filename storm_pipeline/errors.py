"""Every error that this package raises on purpose: a message says what went wrong, where, and what to do next."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


class StormError(Exception):
    """Base class: catch this to catch every error that the package raises on purpose."""


class SettingsError(StormError):
    """A setting is missing, unknown or out of range."""


class InvalidSettingError(SettingsError):
    """The value of one setting is refused."""

    def __init__(self, message: str, setting: str) -> None:
        super().__init__(message)
        self.setting = setting  # its name


class ContradictionError(SettingsError):
    """Two inputs are valid on their own but contradict each other."""


class UnknownStyleError(SettingsError):
    """No citation style has this name."""


class ProgramError(SettingsError):
    """A compiled program, or a set of them, cannot be used."""


class MissingExtraError(SettingsError):
    """An optional dependency is not installed; the message names the extra."""


class AssetError(StormError):
    """A pinned download is absent, damaged or cannot be assembled."""


class ModelError(StormError):
    """A language model cannot be asked: unreachable, refusing, or out of time."""


class ModelAuthError(StormError):
    """The endpoint refused the key (HTTP 401 or 403). Never retried; not a ModelError, since no step can continue."""


class ReplyError(ModelError):
    """The model's reply does not have the requested form, even after several samples."""

    def __init__(self, message: str, reply: str = "") -> None:
        super().__init__(message)
        self.reply = reply  # the last one, unchanged


class BudgetSpentError(ModelError):
    """A cap on dollars, tokens or minutes leaves no room for the call: the run ends with what it has."""


class SearchError(StormError):
    """A search engine cannot be used, or answered with an error."""


class CorpusError(SearchError):
    """A file of the user's documents cannot be read."""


class PageError(SearchError):
    """A source could not be read: its page was refused, unreachable, too large, too slow or without text."""

    def __init__(self, message: str, *, is_gone: bool = False) -> None:
        super().__init__(message)
        self.is_gone = is_gone  # whether there is no such page (HTTP 404 or 410) or host


class DatasetError(StormError):
    """A data set cannot be read or built: absent, damaged, or its service answers with an error."""


class StoreError(StormError):
    """The reference store is closed, lacks an id, or could not embed its snippets."""


class RunError(StormError):
    """A run folder cannot be written or read."""


class DamagedRunError(RunError):
    """Files of a run were lost or changed by others, so that resuming it may repeat paid calls."""

    def __init__(self, folder: Path, findings: Sequence[str]) -> None:
        super().__init__(
            f"{folder}: {'; '.join(findings)}. Restore the files, or go on all the same with: storm resume {folder} "
            "--yes (in Python: accept_damage=True)"
        )
        self.folder = folder
        self.findings = tuple(findings)  # each finding and what it means, in a sentence


class StoppedError(StormError):
    """The run was stopped by its user. Finished pieces are saved, and it can be resumed."""


class TooManyFailuresError(StormError):
    """More pieces of a run failed than the settings allow. Finished pieces are saved, and it can be resumed."""


class NothingFoundError(StormError):
    """No source was found for the topic."""


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Import optional libraries of an extra within the block. Raises MissingExtraError, naming ``what`` needs them."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(f"{what} needs the extra {extra!r}: pip install 'storm-pipeline[{extra}]'") from error


def unforeseen(error: BaseException) -> str:
    """Return the message for the user about an unforeseen error; its class and traceback belong in the log."""
    reason = " ".join(str(error).split()) or "no reason given"
    if isinstance(error, OSError) and error.strerror:
        reason = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return f"unexpected fault: {reason}"
