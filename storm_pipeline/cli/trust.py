"""``storm trust``: what the files of a folder, or a run from elsewhere, may decide."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.cli.consent import record
from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.options import Tracebacks
from storm_pipeline.cli.output import say, show_table
from storm_pipeline.text.formatting import age, printable

if TYPE_CHECKING:
    from storm_pipeline.configuration.trust import Claim


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
        from storm_pipeline.errors import SettingsError

        if show:
            _list()
            return
        if not folder.is_dir():
            raise SettingsError(f"{folder} is not a folder: name the one that holds storm.toml, or that of a run")
        if revoke:
            say(f"forgotten: {consents.revoke(folder)}")
            return
        claims = tuple(_claims(folder))
        record(claims, counts=not never)
        for claim in claims:
            say(printable(f"{claim.place}, {'left out from now on' if never else 'trusted'}:"))
            for line in claim.lines:
                say(printable(f"- {line}"))
        if not claims:
            say(printable(f"nothing in {folder} needs your trust"))


def _claims(folder: Path) -> "Iterator[Claim]":
    """What the files of a folder decide, or the run or batch in it with the batch's runs."""
    from storm_pipeline.batch import is_batch
    from storm_pipeline.batch.batch_folder import BatchStore
    from storm_pipeline.configuration.place_files import files_of
    from storm_pipeline.run.folder import RunStore
    from storm_pipeline.run.saved_settings import claim_of

    found = [file.claim for file in files_of(folder)]
    if is_batch(folder):
        with BatchStore.open(folder) as batch:
            found.append(batch.claim)
    for state in sorted({*folder.glob("run.json"), *(folder.glob("*/run.json") if is_batch(folder) else ())}):
        with RunStore.open(state.parent, keep_edited=True, accept_damage=True) as run:
            found.append(claim_of(run, run.saved_settings()))
    yield from filter(None, found)


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
