"""``storm init``, ``storm doctor`` and ``storm assets``: a configuration, what it lacks, and the pinned downloads."""

import json
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storm_pipeline.errors import AssetError, SettingsError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import argument, flag, option
from storm_pipeline.interfaces.cli.output import load_settings, say, show_table, tell
from storm_pipeline.text.configuration.addresses import redact
from storm_pipeline.text.formatting import printable

if TYPE_CHECKING:
    from storm_pipeline.settings import Settings

assets_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="The pinned downloads: models, embedder, articles."
)
_Names = Annotated[list[str] | None, argument("NAME", "Names of downloads.")]
_Cache = Annotated[str | None, option("--cache", "PATH", "Folder for downloads.")]


@with_guard
def init(
    *,
    yes: Annotated[bool, flag("--yes -y", "Accept the proposed values without asking.")] = False,
    force: Annotated[bool, flag("--force", "Replace your storm.toml if it exists.")] = False,
) -> None:
    """Ask five questions and write your storm.toml, which every command reads in any folder.

    Keys are never written: set them in the environment, or in a file that --env-file names.
    """
    from storm_pipeline.text.configuration.variables import user_configuration
    from storm_pipeline.text.files import write_atomically, write_errors_as

    file = user_configuration()
    if file.exists() and not force:
        raise SettingsError(f"{file} exists: edit it, or replace it with --force")
    answers = {name: _answer(name, *question, ask=not yes) for name, question in _questions().items()}
    values = {name: value for name, value in answers.items() if value != ""}
    with write_errors_as(SettingsError, file):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, _toml(values))  # replaces a link instead of following it
    say(str(file.absolute()))
    tell(_next_steps(values))


@with_guard
def doctor(ctx: typer.Context, *, no_call: Annotated[bool, flag("--no-call", "Ask no model.")] = False) -> None:
    """Show the configuration and its origins, and check what a run needs.

    Asks each hosted model for at most 16 tokens; downloads nothing. Exit code 1: something is missing.
    """
    from storm_pipeline.interfaces.configuration.diagnosis import diagnose
    from storm_pipeline.interfaces.configuration.layers import configuration

    settings, given = load_settings(ctx.obj), configuration(ctx.obj)
    rows = [(n, printable(redact(str(v.value))), v.origin or "the command line") for n, v in given.items()]
    if rows:
        show_table(("setting", "value", "from"), rows)
        say("")
    findings = diagnose(settings, call=not no_call)
    show_table(("", "checked", "found"), [(finding.state, finding.subject, finding.detail) for finding in findings])
    if any(finding.state == "missing" for finding in findings):
        raise typer.Exit(1)


def _questions() -> dict[str, tuple[str, str]]:
    """Return the question and the default answer for each setting; an empty answer leaves the setting out."""
    from storm_pipeline.sources.search.registry import choose
    from storm_pipeline.text.configuration.variables import PROVIDERS, provider_with_key

    provider, engine = provider_with_key(), choose()
    examples = ", ".join(provider.model for provider in PROVIDERS[:2])
    return {
        "lm": (
            f"Language model ({examples}, ollama_chat/NAME, openai/NAME@URL of your own server, or embedded: articles "
            "are extracts of their sources, without a model)",
            provider.model if provider else "embedded",
        ),
        "search": (
            "Sources (an engine of `storm search engines`, corpus:FOLDER for your own documents, or auto)",
            "auto" if engine.offline else engine.spec,
        ),
        "article_language": ("Language of articles (two letters)", "en"),
        "length": ("Length of articles (short, standard, long, or a number of words)", "standard"),
        "max_cost": ("Maximum cost of an article in dollars (empty: no limit)", ""),
    }


def _answer(name: str, question: str, proposal: str, *, ask: bool) -> str:
    """Return the first valid answer of the user, or the proposal unless ``ask``."""
    from storm_pipeline.settings import Settings

    while ask:
        answer: str = typer.prompt(question, default=proposal, err=True).strip()
        try:
            return str(getattr(Settings.build({name: answer}), name)) if answer else ""
        except SettingsError as error:
            tell(f"  {error}")
    return proposal


def _toml(values: dict[str, str]) -> str:
    lines = ["# Settings of storm-pipeline; `storm write --help-all` lists all of them. No keys here."]
    for name, value in values.items():
        lines.append(f"{name} = {value if name == 'max_cost' else json.dumps(value, ensure_ascii=False)}")
    return "\n".join([*lines, ""])


def _next_steps(values: dict[str, Any]) -> str:
    from storm_pipeline.models.open_models import require_model_keys
    from storm_pipeline.settings import Settings
    from storm_pipeline.sources.search.registry import require_engine_keys

    settings = Settings.build(values)
    steps: list[str] = []
    for check in (partial(require_model_keys, settings), partial(require_engine_keys, settings.search)):
        try:
            check()
        except SettingsError as error:
            steps.append(f"still to do: {error}")
    return "\n".join([*steps, 'check with `storm doctor`, start with: storm write "TOPIC"'])


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
    from storm_pipeline.interfaces.progress import ProgressSink
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
