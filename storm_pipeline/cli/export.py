"""``storm export``: the article of a run as files for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.output import say, show_table
from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.text.formatting import printable

if TYPE_CHECKING:
    from storm_pipeline.export.formats import ArticleFormat
    from storm_pipeline.types import Article


def export(
    run: Annotated[Path | None, typer.Argument(metavar="RUN", help="Folder of the run, or its article.json.")] = None,
    *,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMATS", help="Formats, separated by commas, such as docx,pdf; or all."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the files; default: that of the run.")
    ] = None,
    citation_style: Annotated[
        str | None,
        typer.Option(
            "--citation-style",
            metavar="STYLE",
            help="CSL style of the citations: apa, chicago-notes, …, or a .csl file.",
        ),
    ] = None,
    cite_wikipedia: Annotated[
        bool, typer.Option("--cite-wikipedia", help="Write wikitext even if it cites Wikipedia.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Write the article of RUN as files for other programs, and print their paths; without RUN, list the formats."""
    with Guard(debug=debug):
        from storm_pipeline.export.formats import FORMATS, export_format, write

        if run is None and to is None:
            show_table(
                ("format", "file", "what it is"), [(f.name, f"article{f.suffix}", f.about) for f in FORMATS.values()]
            )
            return
        if run is None or to is None:
            raise SettingsError("say which run and which formats: storm export RUN --to docx,bibtex")
        names = list(FORMATS) if to == "all" else [name for name in to.split(",") if name.strip()]
        formats = list(map(export_format, names))
        article = article_of(run)
        if any(one.name == "wikitext" for one in formats):
            formats = _accepted(article, formats, is_asked=cite_wikipedia, is_all=to == "all")
        folder = out or (run if run.is_dir() else run.parent)
        for chosen in formats:
            path = folder / f"article{chosen.suffix}"
            say(str(write(article, chosen.name, path, citation_style=citation_style)))


def _accepted(
    article: "Article", formats: "list[ArticleFormat]", *, is_asked: bool, is_all: bool
) -> "list[ArticleFormat]":
    """The formats to write, after saying which sources Wikipedia does not accept; without wikitext if it is refused."""
    from storm_pipeline.sources.for_wikipedia import objections

    found = objections(article)
    for one in found:
        typer.echo(printable(f"Wikipedia does not accept [{one.number}] {one.source}: it {one.reason}"), err=True)
    circular = sum(one.is_wikipedia for one in found)
    if not circular or is_asked:
        return formats
    why = f"{circular} of {len(article.references)} sources are Wikipedia, which is no source for wikitext"
    if not is_all:
        raise SettingsError(f"{why}: write it nevertheless with --cite-wikipedia")
    typer.echo(f"wikitext is left out: {why} (--cite-wikipedia)", err=True)
    return [one for one in formats if one.name != "wikitext"]


def article_of(run: Path) -> "Article":
    """The article of a run's folder, or of its article.json. Raises RunError: there is none that can be read."""
    from storm_pipeline.files import LARGEST, read_bounded, read_plain
    from storm_pipeline.render.json import from_json

    path = run / "article.json" if run.is_dir() else run
    try:
        read = read_plain if run.is_dir() else read_bounded
        text = read(path, LARGEST).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(
            f"{path} cannot be read ({error}): name the folder of a finished run, or its article.json"
        ) from error
    return from_json(text)
