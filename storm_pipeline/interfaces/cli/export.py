"""``storm export``: the article of a run as files for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import argument, flag, option
from storm_pipeline.interfaces.cli.output import say, show_table, tell
from storm_pipeline.text.formatting import printable

if TYPE_CHECKING:
    from storm_pipeline.output.export.formats import ArticleFormat
    from storm_pipeline.types import Article


_STYLE = "CSL style of the citations: apa, chicago-notes, …, or a .csl file."


@with_guard
def export(
    run: Annotated[Path | None, argument("RUN", "Folder of the run, or its article.json.")] = None,
    *,
    to: Annotated[
        str | None, option("--to", "FORMATS", "Formats, separated by commas, such as docx,pdf; or all.")
    ] = None,
    out: Annotated[Path | None, option("--out", "DIR", "Folder for the files; default: that of the run.")] = None,
    citation_style: Annotated[str | None, option("--citation-style", "STYLE", _STYLE)] = None,
    cite_wikipedia: Annotated[bool, flag("--cite-wikipedia", "Write wikitext even if it cites Wikipedia.")] = False,
) -> None:
    """Write the article of RUN as files for other programs, and print their paths; without RUN, list the formats."""
    from storm_pipeline.output.export.formats import FORMATS, export_format, write

    if run is None and to is None:
        rows = [(format_.name, f"article{format_.suffix}", format_.about) for format_ in FORMATS.values()]
        show_table(("format", "file", "what it is"), rows)
        return
    if run is None or to is None:
        raise SettingsError("say which run and which formats: storm export RUN --to docx,bibtex")
    names = list(FORMATS) if to == "all" else [name for name in to.split(",") if name.strip()]
    formats = list(map(export_format, names))
    article = article_of(run)
    if any(format_.name == "wikitext" for format_ in formats):
        formats = _allowed_formats(article, formats, is_asked=cite_wikipedia, is_all=to == "all")
    folder = out or (run if run.is_dir() else run.parent)
    for chosen in formats:
        path = folder / f"article{chosen.suffix}"
        say(str(write(article, chosen.name, path, citation_style=citation_style)))


def _allowed_formats(
    article: "Article", formats: "list[ArticleFormat]", *, is_asked: bool, is_all: bool
) -> "list[ArticleFormat]":
    """Return the formats to write, without wikitext if not allowed, and print the sources that Wikipedia rejects."""
    from storm_pipeline.output.export.wikitext import objections

    rejected = objections(article)
    for objection in rejected:
        tell(printable(f"Wikipedia does not accept [{objection.number}] {objection.source}: it {objection.reason}"))
    circular = sum(objection.is_wikipedia for objection in rejected)
    if not circular or is_asked:
        return formats
    why = f"{circular} of {len(article.references)} sources are Wikipedia, which wikitext must not cite"
    if not is_all:
        raise SettingsError(f"{why}: write it nevertheless with --cite-wikipedia")
    tell(f"wikitext is left out: {why} (--cite-wikipedia)")
    return [format_ for format_ in formats if format_.name != "wikitext"]


def article_of(run: Path) -> "Article":
    """Return the article in a run's folder or an article.json, or raise RunError if it cannot be read."""
    from storm_pipeline.run.article_json import from_json
    from storm_pipeline.text.files import read_json, read_plain

    path = run / "article.json" if run.is_dir() else run
    try:
        text = (read_plain if run.is_dir() else read_json)(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(
            f"{path} cannot be read ({error}): name the folder of a finished run, or its article.json"
        ) from error
    try:
        return from_json(text)
    except RunError as error:
        raise RunError(f"{path}: {error}") from error
