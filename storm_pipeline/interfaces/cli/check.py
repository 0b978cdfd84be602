"""``storm check`` and ``storm refresh``: judging an article by its stored or current sources."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.errors import DatasetError, RunError, SettingsError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import Json, argument, flag, option
from storm_pipeline.interfaces.cli.output import load_settings, say, show_table, tell
from storm_pipeline.text.files import write_atomically, write_errors_as
from storm_pipeline.text.formatting import printable, with_noun

if TYPE_CHECKING:
    from storm_pipeline.output.check.refreshing import RefreshedArticle


_FAILED, _NOT_READ = typer.Exit(3), typer.Exit(4)  # status 1: an error, 2: a setting or an option is wrong
_ARTICLE = "File (.md, .wiki, .json, .docx, .html), a run's folder, or a folder of an article and its sources."
_PAGES = "Folder, file or .jsonl of the works that it cites."
_VERDICTS = "Of the verdicts, such as partly, 'not found', uncited or unread: which end with 3."


@with_guard
def check(
    ctx: typer.Context,
    article: Annotated[Path, argument("ARTICLE", _ARTICLE)],
    *,
    pages: Annotated[Path | None, option("--pages", "PATH", _PAGES)] = None,
    offline: Annotated[bool, flag("--offline", "Fetch no page.")] = False,
    fail_on: Annotated[str, option("--fail-on", "VERDICTS", _VERDICTS)] = "not,contradicted",
    to: Annotated[Path | None, option("--to", "DIR", "Write check.json and check.html into this folder.")] = None,
    as_json: Json = False,
) -> None:
    """Judge every sentence of ARTICLE by the sources that it cites, and print those with a fault.

    Sources are taken from the article, from its folder or --pages, else fetched from the web. The judge is the language
    model of --judge-lm or --lm, unless embedded, for at most $1 or --max-cost, or a cross-encoder (--judge). Without
    one, words and digits are compared, and nothing is read for support. Exit status 3: sentences fail; 4: none fails,
    but some were not read for support.
    """
    from storm_pipeline.evidence.judges.opening import open_judge
    from storm_pipeline.evidence.page_reading import kept_pages
    from storm_pipeline.output.check import check_article, read_for_check, report
    from storm_pipeline.output.check.judging import NOT_READ

    statuses = _statuses(fail_on)
    settings = load_settings(ctx.obj)
    judge = open_judge(settings.judge_of_articles, settings, announce=tell)
    read = read_for_check(article, pages, None if offline else kept_pages(settings))
    _write(to, {})  # a bad folder is found before verdicts are paid
    checked = replace(check_article(read.article, judge, read.unread), matches=read.matches, notes=read.notes)
    if read.matches and not as_json:
        show_table(report.MATCH_COLUMNS, report.match_rows(read.matches))
    if (rows := report.source_rows(checked)) and not as_json:
        show_table(report.SOURCE_COLUMNS, rows)
    nothing_read = bool(checked.unread) and len(checked.failing({"uncited", "unread"})) == len(checked.sentences)
    if as_json:
        say(report.to_json(checked))
    elif not nothing_read:
        if rows := report.rows(checked):
            show_table(report.COLUMNS, rows)
        say(report.summary(checked))
        if parts := report.left_out(checked):
            say(f"left out, so not judged: {', '.join(parts)}")
    if to:
        _write(to, {"check.json": report.to_json(checked), "check.html": report.to_page(checked)})
    if nothing_read:
        why = next(iter(checked.unread.values()))
        raise DatasetError(f"no source could be read, so nothing was judged ({why}): name them with --pages")
    if failing := checked.failing(statuses):
        tell(f"{len(failing)} of {with_noun(len(checked.sentences), 'sentence')} fail ({', '.join(statuses)})")
        raise _FAILED
    if left := len(checked.failing(NOT_READ)):
        named = "name a language model (--lm) or a cross-encoder (--judge)"
        how = "a further check pays only for these" if checked.counts["unjudged"] else named
        tell(f"{left} of {with_noun(len(checked.sentences), 'sentence')} were not read for support: {how}")
        raise _NOT_READ


def _statuses(given: str) -> list[str]:
    from storm_pipeline.output.check.judging import STATUSES

    names = [name.strip() for name in given.split(",") if name.strip()]
    if unknown := [name for name in names if name not in STATUSES]:
        raise SettingsError(f"--fail-on has no verdict {unknown[0]!r}: choose among {', '.join(STATUSES)}")
    return names


def _write(folder: Path | None, texts: Mapping[str, str]) -> None:
    """Write files into a folder, which is made. Raises RunError."""
    if folder:
        with write_errors_as(RunError, folder, " or choose another folder (--to)"):
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in texts.items():
                write_atomically(folder / name, text)


@with_guard
def refresh(
    ctx: typer.Context,
    article: Annotated[Path, argument("ARTICLE", _ARTICLE)],
    *,
    pages: Annotated[Path | None, option("--pages", "PATH", _PAGES)] = None,
    to: Annotated[Path | None, option("--to", "DIR", "Write the refreshed article into this folder.")] = None,
) -> None:
    """Read the sources of ARTICLE again, and print the sentences whose passages changed or vanished.

    An article without passages is compared with the pages that its last check has kept. Changed sentences are judged
    as by `storm check`. Files that a run's article cites are read only in --pages, since it may cite any file.

    With --to, writes the article as JSON, Markdown and HTML: those sentences cite current passages, the others are
    unchanged. Exit status 3 if a changed sentence fails.
    """
    from storm_pipeline.evidence.judges.opening import open_judge
    from storm_pipeline.evidence.page_reading import kept_pages
    from storm_pipeline.output.check.reading import read_for_check, with_files
    from storm_pipeline.output.check.refreshing import refresh as refreshed

    settings = load_settings(ctx.obj)
    read = read_for_check(article, pages, kept_pages(settings.model_copy(update={"search_cache": "replay"})))
    judge = open_judge(settings.judge_of_articles, settings, announce=tell)
    fetch = kept_pages(settings.model_copy(update={"search_cache": "refresh"}))
    _write(to, {})
    changed = refreshed(read, judge, with_files(fetch, pages))
    _print_changes(changed)
    result = changed.checked.article
    if to is not None:
        made = {"json": result.to_json(), "md": result.to_markdown(), "html": result.to_html()}
        texts = {f"article.{suffix}": text for suffix, text in made.items()}
        _write(to, texts)
        say("\n".join(printable(str(to / name)) for name in texts))
    if changed.failing:
        raise _FAILED


def _print_changes(result: "RefreshedArticle") -> None:
    from storm_pipeline.output.check.report import NOTHING_READ, SOURCE_COLUMNS, source_rows

    if gone_or_rated := source_rows(result.checked):
        show_table(SOURCE_COLUMNS, gone_or_rated)
    verdicts = {sentence.place: sentence.status for sentence in result.checked.sentences}
    rows = [(str(c.place + 1), c.kind, verdicts.get(c.place, ""), c.source, c.text, c.reason) for c in result.changes]
    if rows:
        show_table(("sentence", "passage", "verdict", "source", "text", "why"), rows)
    sentences = len({change.place for change in result.changes})
    note = f"; {NOTHING_READ}" if verdicts and not result.checked.read else ""
    say(f"{with_noun(sentences, 'sentence')} with a passage that changed or vanished, {len(result.failing)} fail{note}")
    if result.uncompared:
        why = "the words are a search engine's, or not in the article"
        tell(f"not compared, since {why}: {with_noun(result.uncompared, 'citation')}")
