"""Asking the user what files and runs from elsewhere may decide, ``storm trust``; and which model writes."""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.options import Tracebacks
from storm_pipeline.cli.output import is_interactive, say, show_table, tell
from storm_pipeline.errors import SettingsError, UntrustedError
from storm_pipeline.text.formatting import age, printable

if TYPE_CHECKING:
    from storm_pipeline.configuration.trust import Claim
    from storm_pipeline.settings import Settings

T = TypeVar("T")


def settings_asking(given: Mapping[str, Any]) -> "Settings":
    """The settings of the configuration; on a terminal the user is asked about what the folder's files decide.

    Raises UntrustedError: without a terminal, the files decide what the user has not consented to.
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


def require_consent(file: Path, tables: Mapping[str, Mapping[str, Any]], *, given: bool) -> None:
    """See that the user consents to what a file that a command names decides beyond :func:`decides_in_a_command`.

    ``tables``: heading → settings under it; ``given``: whether the command itself says so (``--trust``), which is
    remembered. Raises UntrustedError: without a terminal, or by the user's answer, he does not.
    """
    from storm_pipeline.configuration.trust import Claim, decides_in_a_command, decision, remember

    needs = {
        f"{heading}{name}": value
        for heading, settings in tables.items()
        for name, value in settings.items()
        if not decides_in_a_command(name, value)
    }
    claim = Claim(file, needs)

    def check() -> None:
        if not decision(claim):
            raise UntrustedError(
                f"{file} sets {', '.join(needs)}: that decides who gets a key or which files are read, so it counts "
                "only once you trust it: read it, then add --trust",
                (claim,),
            )

    if needs and given:
        with suppress(OSError):  # it counts for this command all the same
            remember(claim)
    elif needs:
        with_consent(check)


def with_consent(work: Callable[[], T], otherwise: Callable[[], T] | None = None) -> T:
    """The result of ``work``, after asking on the terminal where it needs consent; the answer yes is remembered.

    ``otherwise`` is done where the user declines. Raises UntrustedError: there is no terminal; or the user declines,
    and there is nothing else to do.
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
            record(error.claims)
            return work()
        if otherwise is None:
            raise
        tell("These settings are left out; `storm trust --never` keeps it so without asking.")
        return otherwise()


def record(claims: "Iterable[Claim]", *, counts: bool = True) -> None:
    """Remember the user's decision on claims. Raises SettingsError: his state folder cannot be written."""
    from storm_pipeline.configuration.trust import remember
    from storm_pipeline.configuration.variables import user_state
    from storm_pipeline.files import cannot_write

    try:
        for claim in claims:
            remember(claim, counts=counts)
    except OSError as error:
        raise SettingsError(f"what you decided cannot be kept: {cannot_write(user_state(), error)}") from error


def with_chosen_model(settings: "Settings", *, quiet: bool = False) -> "Settings":
    """The settings with the model that the user chooses on the terminal; unchanged where there is nothing to ask.

    Away from a terminal nothing is asked, and the run itself says which model writes. Raises typer.Abort: the user
    interrupted the question.
    """
    from storm_pipeline.configuration.providers import provider_with_key
    from storm_pipeline.settings import Settings

    provider = provider_with_key()
    if quiet or provider is None or "lm" in settings.model_fields_set or not is_interactive():
        return settings
    question = f"{provider.variables[0]} is set. Use {provider.model}? Otherwise all runs on this machine."
    lm = provider.model if typer.confirm(question, default=True, err=True) else "embedded"
    typer.echo(f"using {lm}; `storm init` keeps the choice, --lm overrides it", err=True)
    return Settings.build(settings.model_dump(exclude_unset=True) | {"lm": lm})


def trust(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="A folder with storm.toml, a run or a batch.", show_default=False)
    ] = Path(),
    *,
    never: Annotated[
        bool, typer.Option("--never", help="Leave these settings out from now on, without asking.")
    ] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Forget what you decided about FOLDER and below.")] = False,
    show: Annotated[bool, typer.Option("--list", help="List what you decided so far.")] = False,
    debug: Tracebacks = False,
) -> None:
    """Let storm.toml, pyproject.toml and .env of FOLDER decide more than what is written, or a run from elsewhere.

    By themselves they may say what is written, such as length and style. Models, addresses, names of keys, folders and
    the like count once you trust them; this prints them. When they change, they need your trust again. What `storm
    init` wrote and runs that you began are trusted.
    """
    with Guard(debug=debug):
        from storm_pipeline.configuration import trust as consents

        if show:
            _list()
            return
        if not folder.is_dir():
            raise SettingsError(f"{folder} is not a folder: name the one that holds storm.toml, or that of a run")
        if revoke:
            say(f"forgotten: {consents.revoke(folder)}")
            return
        claims = _claims(folder)
        record(claims, counts=not never)
        for claim in claims:
            say(printable(f"{claim.place}, {'left out from now on' if never else 'trusted'}:"))
            for line in claim.lines:
                say(printable(f"- {line}"))
        if not claims:
            say(printable(f"nothing in {folder} needs your trust"))


def _claims(folder: Path) -> "list[Claim]":
    """What the files of a folder decide, or the run or batch in it with the batch's runs."""
    from storm_pipeline.batch import is_batch
    from storm_pipeline.batch.batch_folder import BatchStore
    from storm_pipeline.configuration.layers import files_of
    from storm_pipeline.run.folder import RunStore
    from storm_pipeline.run.saved_settings import claim_of

    found = [file.claim for file in files_of(folder)]
    if is_batch(folder):
        with BatchStore.open(folder) as batch:
            found.append(batch.claim)
    for state in sorted({*folder.glob("run.json"), *(folder.glob("*/run.json") if is_batch(folder) else ())}):
        with RunStore.open(state.parent, keep_edited=True, accept_damage=True) as run:
            found.append(claim_of(run, run.saved_settings()))
    return [claim for claim in found if claim]


def _list() -> None:
    from storm_pipeline.configuration.trust import consents

    recorded = consents()
    rows = [
        ("trusted" if one.counts else "left out", age(time.time() - one.since), printable(one.place))
        for one in recorded
        if not one.own
    ]
    if rows:
        show_table(("", "since", "place"), rows)
    say(f"{sum(one.own for one in recorded)} runs and batches that you began are trusted")
