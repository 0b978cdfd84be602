"""``storm assets``: the pinned downloads of the default settings."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.errors import AssetError, SettingsError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import argument, flag, option
from storm_pipeline.interfaces.cli.output import load_settings, say, show_table, tell

if TYPE_CHECKING:
    from storm_pipeline.settings import Settings

assets_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="The pinned downloads: models, embedder, articles."
)

_Names = Annotated[list[str] | None, argument("NAME", "Names of downloads.")]
_Cache = Annotated[str | None, option("--cache", "PATH", "Folder for downloads.")]


def needed_assets(settings: "Settings") -> list[str]:
    """Return the names of the assets that a run with these settings uses."""
    from storm_pipeline.run.assets import EMBEDDED_MODELS, EMBEDDER, LEADS

    names = [EMBEDDED_MODELS.get(name) for name in settings.models]
    names += [EMBEDDER] if settings.embedder == EMBEDDER else []
    names += [LEADS] if settings.search in {"auto", "wiki-leads"} else []
    return list(dict.fromkeys(name for name in names if name))


@assets_app.command("list")
@with_guard
def list_assets(*, cache: _Cache = None) -> None:
    """List the downloads: name, size, whether they are present, licence, purpose."""
    from storm_pipeline.evidence.retrieval.embedder import is_here
    from storm_pipeline.evidence.retrieval.model_files import local_folder
    from storm_pipeline.run import assets

    settings = _settings(cache)
    present = {asset.name: bool(assets.path_of(asset.name, settings.cache)) for asset in assets.catalogue()}
    rows = [
        (asset.name, f"{asset.download_bytes / 1e6:.0f} MB", present[asset.name], asset.licence, asset.purpose)
        for asset in assets.catalogue()
    ]
    if settings.embedder != assets.EMBEDDER and local_folder(settings.embedder) is None:  # not a pinned download
        is_loaded = is_here(settings.embedder, settings.cache)
        rows.append((settings.embedder, "from the model hub", is_loaded, "its own", "sentence encoder"))
    shown = [(name, size, "yes" if is_there else "no", *about) for name, size, is_there, *about in rows]
    show_table(("name", "download", "present", "licence", "purpose"), shown)


@assets_app.command()
@with_guard
def pull(
    names: _Names = None,
    *,
    every: Annotated[bool, flag("--all", "Fetch all of them.")] = False,
    quiet: Annotated[bool, flag("--quiet -q", "Show no progress.")] = False,
    cache: _Cache = None,
) -> None:
    """Fetch missing downloads; without names, those of the default settings."""
    if names and every:
        raise SettingsError("give either names or --all, not both")
    from storm_pipeline.interfaces.progress.run_progress import ProgressSink
    from storm_pipeline.run import assets

    settings = _settings(cache)
    chosen = [asset.name for asset in assets.catalogue()] if every else names or needed_assets(settings)
    with ExitStack() as stack:
        show = None if quiet else stack.enter_context(ProgressSink()).downloading
        paths = [assets.fetch(name, settings.cache, show) for name in chosen]
    say("\n".join(map(str, paths)))


@assets_app.command()
@with_guard
def verify(names: _Names = None, *, cache: _Cache = None) -> None:
    """Verify the hashes of downloads; without names, of all present ones."""
    from storm_pipeline.run import assets

    folder = _settings(cache).cache
    names = names or [a.name for a in assets.catalogue() if (folder / "models" / a.target).exists()]
    damaged = 0
    for name in names:
        try:
            say(f"{assets.verify(name, folder)}: intact")
        except AssetError as error:
            damaged += 1
            tell(f"error: {error}")
    if damaged:
        raise typer.Exit(1)
    if not names:
        tell(f"nothing to verify in {folder / 'models'}; fetch with `storm assets pull`")


def _settings(cache: str | None) -> "Settings":
    return load_settings({"cache": cache} if cache is not None else {})
