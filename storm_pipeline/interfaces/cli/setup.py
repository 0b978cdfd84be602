"""``storm init`` and ``storm doctor``: writing and checking a configuration."""

import json
from functools import partial
from typing import Annotated, Any

import typer

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import flag
from storm_pipeline.interfaces.cli.output import load_settings, say, show_table, tell
from storm_pipeline.text.configuration.addresses import redact
from storm_pipeline.text.formatting import printable


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
    from storm_pipeline.text.files import cannot_write, write_atomically

    file = user_configuration()
    if file.exists() and not force:
        raise SettingsError(f"{file} exists: edit it, or replace it with --force")
    answers = {name: _answer(name, *question, ask=not yes) for name, question in _questions().items()}
    values = {name: value for name, value in answers.items() if value != ""}
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, _toml(values))  # replaces a link instead of following it
    except OSError as error:
        raise SettingsError(cannot_write(file, error)) from error
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
    from storm_pipeline.models.keys import require_model_keys
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
