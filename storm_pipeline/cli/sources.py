"""What articles are made from: the commands ``storm search``, ``storm documents`` and ``storm sources``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.options import Tracebacks
from storm_pipeline.cli.output import say, show_table
from storm_pipeline.errors import CorpusError
from storm_pipeline.text.formatting import printable

if TYPE_CHECKING:
    from storm_pipeline.search.engine_info import EngineInfo

search_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Search engines.")
sources_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Which pages an article may use as sources."
)


_Urls = Annotated[list[str], typer.Argument(metavar="URL...", help="Pages or domains.")]
_Policy = Annotated[str, typer.Option("--policy", metavar="strict|standard|any", help="Source policy.")]
_Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="PLACE", help="Domain or domain/path that is always allowed; repeatable."),
]
_Deny = Annotated[
    list[str] | None,
    typer.Option("--deny", metavar="PLACE", help="Domain or domain/path that is never allowed; repeatable."),
]


@search_app.command("engines")
def list_engines(*, debug: Tracebacks = False) -> None:
    """List the search engines: requirements, whether free, key variable, supported filters, and what they find."""
    with Guard(debug=debug):
        from storm_pipeline.search.registry import engines

        show_table(("engine", "needs", "free", "variable", "filters", "finds"), [_row(info) for info in engines()])


def _row(info: "EngineInfo") -> tuple[str, ...]:
    filters = ", ".join(sorted(info.supports)) or "-"
    return info.name, info.needs or "-", "yes" if info.free else "no", _variables(info), filters, info.returns


def _variables(info: "EngineInfo") -> str:
    from storm_pipeline.configuration.variables import variable

    if info.variables:
        return "set" if info.key_set else "not set"
    if not info.optional_variables:
        return "-"
    return "optional, set" if all(map(variable, info.optional_variables)) else "optional, not set"


def documents(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder, or file, of your documents.")],
    *,
    ocr: Annotated[
        bool, typer.Option("--ocr", help="Recognise the text of scans first, in copies beside them (extra 'ocr').")
    ] = False,
    ocr_language: Annotated[
        str, typer.Option("--ocr-language", metavar="CODE", help="Language of the scans by Tesseract's code: deu+eng.")
    ] = "eng",
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Show what FOLDER holds: which documents can be read, as which works they are cited, and why others cannot."""
    with Guard(debug=debug):
        from storm_pipeline.configuration.variables import default_cache
        from storm_pipeline.documents.reader import take_inventory
        from storm_pipeline.documents.recognition import recognise

        if not folder.expanduser().exists():
            raise CorpusError(f"{folder} does not exist; check the path")
        found = take_inventory(folder, default_cache())
        if ocr:
            for scan in found.scans:
                try:
                    say(printable(str(recognise(scan, ocr_language))))
                except CorpusError as error:  # the others may be recognised all the same
                    typer.echo(printable(str(error)), err=True)
            found = take_inventory(folder, default_cache()) if found.scans else found
        rows = [(one.title, one.record.authors, one.published or "", len(one.pages)) for one in found.documents]
        if rows:
            show_table(("title", "authors", "date", "pages"), [tuple(map(printable, map(str, row))) for row in rows])
        say(printable(found.summary))
        for problem in found.problems:
            typer.echo(printable(problem), err=True)


@sources_app.command()
def check(
    urls: _Urls,
    *,
    policy: _Policy = "standard",
    allow: _Allow = None,
    deny: _Deny = None,
    debug: Tracebacks = False,
) -> None:
    """Show whether a policy allows pages, how they are classified, and why."""
    with Guard(debug=debug):
        from storm_pipeline.sources.catalogue import load_catalogue
        from storm_pipeline.sources.policies import SourcePolicy, policy_named

        catalogue = load_catalogue()
        judge = SourcePolicy(policy_named(policy), allow=allow or (), deny=deny or ())
        verdicts = [judge.judge(url) for url in urls]
        rows = [(v.url, "yes" if v.allowed else "no", v.status, v.rule or "-", v.reason) for v in verdicts]
        show_table(("page", "allowed", "status", "by", "why"), rows)
        typer.echo(f"Wikipedia's list as of {catalogue.as_of}, {catalogue.size} places", err=True)
