"""``storm refresh``: which sentences of a run's article rest on words that their pages no longer have."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.cli.check import FAILED, edited
from storm_pipeline.cli.consent import settings_asking
from storm_pipeline.cli.export import article_of
from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.output import say, show_table, tell
from storm_pipeline.files import write_atomically
from storm_pipeline.text.formatting import counted

if TYPE_CHECKING:
    from storm_pipeline.check.refreshing import Refreshed
    from storm_pipeline.types import Article


def refresh(
    ctx: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run, or its article.json.")],
    *,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Ask the model of --lm for sentences that their pages support no more.")
    ] = False,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="DIR", help="Write the refreshed article into this folder.")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Read the sources of RUN's article again, and print the sentences whose passages changed or vanished.

    With --to, writes the article as JSON, Markdown and a page: those sentences cite what their pages say now, all
    others stay as they are. Ends with 3 if a sentence has lost its support.
    """
    with Guard(debug=debug):
        from storm_pipeline.check.refreshing import refresh as refreshed
        from storm_pipeline.judges.opening import open_judge
        from storm_pipeline.pages.reading import kept_pages

        settings = settings_asking(ctx.obj)
        article = article_of(run)
        judge = open_judge(settings.judge, settings)
        found = refreshed(article, judge, kept_pages(settings.model_copy(update={"search_cache": "refresh"})))
        _print(found)
        failing = [own for own in found.checked.sentences if own.place in found.failing]
        result = found.checked.article
        if rewrite and failing:
            result = edited(found.checked, failing, judge, settings)
        if to is not None:
            _write(result, to)
        if failing:
            raise typer.Exit(FAILED)


def _print(found: "Refreshed") -> None:
    rows = [
        (str(own.place + 1), own.kind, "no" if own.place in found.failing else "", own.source, own.text, own.reason)
        for own in found.changes
    ]
    if rows:
        show_table(("sentence", "passage", "supported", "source", "text", "why"), rows)
    sentences = len({own.place for own in found.changes})
    lost = len(found.failing)
    say(f"{counted(sentences, 'sentence')} with a passage that changed or vanished, {lost} not supported now")
    if found.uncompared:
        tell(f"not compared, since the words are a search engine's: {counted(found.uncompared, 'citation')}")


def _write(article: "Article", folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, text in (("json", article.to_json()), ("md", article.to_markdown()), ("html", article.to_html())):
        write_atomically(folder / f"article.{suffix}", text)
        say(str(folder / f"article.{suffix}"))
