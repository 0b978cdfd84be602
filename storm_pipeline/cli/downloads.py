"""``storm assets``: the pinned downloads of the default settings."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.options import Tracebacks
from storm_pipeline.cli.output import say, show_table
from storm_pipeline.errors import AssetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from storm_pipeline.settings import Settings

assets_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="The pinned downloads: models, embedder, articles."
)

_Names = Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Names of downloads.")]
_Cache = Annotated[str | None, typer.Option("--cache", metavar="PATH", help="Folder for downloads.")]


def needed(settings: "Settings") -> list[str]:
    """Names of the assets that a run with these settings uses."""
    from storm_pipeline.assets import EMBEDDED_MODELS, EMBEDDER, LEADS

    names = [EMBEDDED_MODELS.get(name) for name in settings.models]
    names += [
        EMBEDDER if settings.embedder == EMBEDDER else None,
        LEADS if settings.search in {"auto", "wiki-leads"} else None,
    ]
    return list(dict.fromkeys(name for name in names if name))


@assets_app.command("list")
def list_assets(*, cache: _Cache = None, debug: Tracebacks = False) -> None:
    """List the downloads: name, size, whether they are present, licence, purpose."""
    with Guard(debug=debug):
        from storm_pipeline import assets

        settings = _settings(cache)
        folder = settings.cache
        rows = [
            (
                asset.name,
                f"{asset.download_bytes / 1e6:.0f} MB",
                "yes" if assets.path_of(asset.name, folder) else "no",
                asset.licence,
                asset.purpose,
            )
            for asset in assets.catalogue()
        ]
        rows += _from_the_hub(settings)
        show_table(("name", "download", "present", "licence", "purpose"), rows)


def _from_the_hub(settings: "Settings") -> "Iterator[tuple[str, str, str, str, str]]":
    """The row of a sentence encoder that the settings name and that is no pinned download."""
    from storm_pipeline.assets import EMBEDDER
    from storm_pipeline.retrieval.embedder import is_here

    if settings.embedder != EMBEDDER and not Path(settings.embedder).is_dir():
        present = "yes" if is_here(settings.embedder, settings.cache) else "no"
        yield settings.embedder, "from the model hub", present, "its own", "sentence encoder"


@assets_app.command()
def pull(
    names: _Names = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Fetch all of them.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    cache: _Cache = None,
    debug: Tracebacks = False,
) -> None:
    """Fetch missing downloads; without names, those that the default settings need."""
    if names and every:
        raise typer.BadParameter("give either names or --all, not both")
    with Guard(debug=debug), ExitStack() as stack:
        from storm_pipeline import assets
        from storm_pipeline.progress.run_progress import ProgressSink

        settings = _settings(cache)
        chosen = [asset.name for asset in assets.catalogue()] if every else names or needed(settings)
        show = None if quiet else stack.enter_context(ProgressSink()).downloading
        paths = [assets.fetch(name, settings.cache, show) for name in chosen]
        stack.close()
        say("\n".join(map(str, paths)))


@assets_app.command()
def verify(names: _Names = None, *, cache: _Cache = None, debug: Tracebacks = False) -> None:
    """Verify the hashes of downloads; without names, of all that are present."""
    with Guard(debug=debug):
        from storm_pipeline import assets

        folder = _settings(cache).cache
        present = [a.name for a in assets.catalogue() if (folder / "models" / a.target).exists()]
        damaged = 0
        for name in names or present:
            try:
                say(f"{assets.verify(name, folder)}: intact")
            except AssetError as error:
                damaged += 1
                typer.echo(f"error: {error}", err=True)
        if damaged:
            raise typer.Exit(1)
        if not (names or present):
            typer.echo(f"nothing to verify in {folder / 'models'}; fetch with `storm assets pull`", err=True)


def _settings(cache: str | None) -> "Settings":
    from storm_pipeline.configuration.layers import configured

    return configured({"cache": cache} if cache is not None else {})
