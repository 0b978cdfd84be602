"""The commands ``storm search``, ``storm documents`` and ``storm sources``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.errors import CorpusError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import argument, option
from storm_pipeline.interfaces.cli.output import say, show_table, tell
from storm_pipeline.text.formatting import printable
from storm_pipeline.text.person_names import tidy_names

if TYPE_CHECKING:
    from storm_pipeline.sources.documents.document import Document
    from storm_pipeline.sources.search.engine_info import EngineInfo

search_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Search engines.")
sources_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Which pages an article may use as sources."
)


_PLACE = "Domain or domain/path that is always allowed; repeatable."
_NO_PLACE = "Domain or domain/path that is never allowed; repeatable."


@search_app.command("engines")
@with_guard
def list_engines() -> None:
    """List the search engines: requirements, whether free, key variable, supported filters, and results."""
    from storm_pipeline.sources.search.registry import engines

    rows = []
    for info in engines():
        free, filters = "yes" if info.free else "no", ", ".join(sorted(info.supports)) or "-"
        rows.append((info.name, info.needs or "-", free, _variables(info), filters, info.returns))
    show_table(("engine", "needs", "free", "variable", "filters", "finds"), rows)


def _variables(info: "EngineInfo") -> str:
    from storm_pipeline.text.configuration.variables import variable

    if info.variables:
        return "set" if info.key_set else "not set"
    if not info.optional_variables:
        return "-"
    return "optional, set" if all(map(variable, info.optional_variables)) else "optional, not set"


@with_guard
def documents(folder: Annotated[Path, argument("FOLDER", "Folder, or file, of your documents.")]) -> None:
    """Show what FOLDER holds: which documents can be read, as which works they are cited, and why others cannot."""
    from storm_pipeline.sources.documents.reader import take_inventory
    from storm_pipeline.text.configuration.variables import default_cache

    if not folder.expanduser().exists():
        raise CorpusError(f"{folder} does not exist; check the path")
    inventory = take_inventory(folder, default_cache())
    names = ("title", "authors", "date", "pages", "taken from")
    rows = [
        (d.title, tidy_names(d.record.authors), d.published or "", len(d.pages), _origins(d))
        for d in inventory.documents
    ]
    if rows:
        show_table(names, [tuple(map(printable, map(str, row))) for row in rows])
    say(printable(inventory.summary))
    for problem in inventory.problems:
        tell(printable(problem))


def _origins(document: "Document") -> str:
    """Return where title, authors and date were taken from: ``metadata, date: file name``."""
    names = {"title": "title", "authors": "authors", "published": "date"}
    origins = {names[name]: origin for name, origin in document.record.origins if name in names}
    first = origins.get("title", "-")
    return ", ".join([first, *(f"{name}: {origin}" for name, origin in origins.items() if origin != first)])


@sources_app.command()
@with_guard
def check(
    urls: Annotated[list[str], argument("URL...", "Pages or domains.")],
    *,
    policy: Annotated[str, option("--policy", "strict|standard|any", "Source policy.")] = "standard",
    allow: Annotated[list[str] | None, option("--allow", "PLACE", _PLACE)] = None,
    deny: Annotated[list[str] | None, option("--deny", "PLACE", _NO_PLACE)] = None,
) -> None:
    """Show whether a policy allows pages, with their classification and the reason."""
    from storm_pipeline.sources.reliable.catalogue import load_catalogue
    from storm_pipeline.sources.reliable.filtering import SourcePolicy, require_policy

    catalogue = load_catalogue()
    judge = SourcePolicy(require_policy(policy), allow=allow or (), deny=deny or ())
    verdicts = [judge.judge(url) for url in urls]
    rows = [(v.url, "yes" if v.allowed else "no", v.status, v.rule or "-", v.reason) for v in verdicts]
    show_table(("page", "allowed", "status", "by", "why"), rows)
    tell(f"Wikipedia's list as of {catalogue.as_of}, {catalogue.size} places")
