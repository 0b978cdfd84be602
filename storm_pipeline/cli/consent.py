"""Asking the user about what the files of a folder, or a run from elsewhere, may not decide without his consent."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from storm_pipeline.cli.output import is_interactive, tell
from storm_pipeline.errors import UntrustedError
from storm_pipeline.text.formatting import printable

if TYPE_CHECKING:
    from storm_pipeline.settings import Settings

T = TypeVar("T")


def settings_asking(given: Mapping[str, Any]) -> "Settings":
    """The settings of the configuration; on a terminal the user is asked about what the folder's files decide.

    Raises:
        UntrustedError: without a terminal, the files decide what the user has not consented to.
    """
    from storm_pipeline.configuration.layers import configured

    return with_consent(lambda: configured(given), lambda: configured(given, without_untrusted=True))


def settings_known(given: Mapping[str, Any] | None = None) -> "Settings":
    """The settings of the configuration without what the user has not consented to, which standard error names.

    For commands that ask no model and no search engine.
    """
    from storm_pipeline.configuration.layers import configured

    try:
        return configured(given)
    except UntrustedError as error:
        tell(printable(f"left out: {error}"))
        return configured(given, without_untrusted=True)


def with_consent(work: Callable[[], T], otherwise: Callable[[], T] | None = None) -> T:
    """The result of ``work``, after asking on the terminal where it needs consent; the answer yes is remembered.

    Args:
        work: raises UntrustedError where it needs consent.
        otherwise: done where the user declines.

    Raises:
        UntrustedError: there is no terminal; or the user declines, and there is nothing else to do.
    """
    try:
        return work()
    except UntrustedError as error:
        if not is_interactive():
            raise
        for claim in error.claims:
            tell(printable(f"{claim.place} sets:"))
            for line in claim.lines:
                tell(printable(f"- {line}"))
        if typer.confirm("Do you trust this? (Say yes only if you know who wrote it.)", default=False, err=True):
            from storm_pipeline.configuration.trust import remember

            for claim in error.claims:
                remember(claim)
            return work()
        if otherwise is None:
            raise
        tell("These settings are left out; `storm trust --never` keeps it so without asking.")
        return otherwise()
