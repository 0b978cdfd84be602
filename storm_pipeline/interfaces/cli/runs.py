"""``storm runs``, ``storm show`` and ``storm export``: a list of the runs, the timeline of one, and its files."""

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import Json, Runs, argument, flag, option
from storm_pipeline.interfaces.cli.output import distinct_lines, load_settings, say, show_table, tell
from storm_pipeline.text.formatting import age, amount, clock, dollars, printable, with_noun

if TYPE_CHECKING:
    from storm_pipeline.interfaces.listing import RunEntry
    from storm_pipeline.output.export.formats import ArticleFormat
    from storm_pipeline.run.timeline import Session, Stage, Timeline
    from storm_pipeline.types import Article, Usage

_COLUMNS = ("stage, role", "start", "time", "calls", "fresh", "cached", "written", "cost", "searches", "retries")
_MAX_LINES = 20
_STYLE = "CSL style of the citations: apa, chicago-notes, …, or a .csl file."


@with_guard
def runs(*, out: Runs = None, as_json: Json = False) -> None:
    """List the runs below a folder with their state and usage, newest first."""
    from storm_pipeline.interfaces.listing import list_runs

    root = load_settings({"out": out} if out else {}).out
    entries = list_runs(root)
    if as_json:
        say(json.dumps([_record(entry) for entry in entries], indent=1))
    elif entries:
        columns = ("state", "age", "sessions", "calls", "tokens", "cost", "topic and folder")
        show_table(columns, [_row(entry, time.time()) for entry in entries])
    else:
        tell(printable(f"no runs in {root}: start one with `storm write TOPIC`, or name another folder with --out"))


@with_guard
def show(run: Annotated[Path, argument("RUN", "Folder of the run.")], *, as_json: Json = False) -> None:
    """Show the timeline of RUN, session by session: stages and roles with usage, and problems.

    Read-only; the run may be active or killed.
    """
    from storm_pipeline.interfaces.listing import read_timeline, run_entry

    entry = run_entry(run)
    if entry.state == "batch":
        raise RunError(f"{run} holds the runs of a batch: list them with storm runs --out {run}")
    timeline = read_timeline(run, running=entry.state == "running")
    if as_json:
        # times in seconds since 1970, costs in US dollars or null if unknown
        sessions = [asdict(session) | {"usage": _totals(session.usage)} for session in timeline.sessions]
        rows = [asdict(row) for row in timeline.usage.rows]
        say(json.dumps(_record(entry) | {"timeline": sessions, "rows": rows}, indent=1))
        return
    say(f"{printable(timeline.topic or entry.topic or str(run))}: {entry.state}, in {printable(str(run))}")
    if entry.problem:
        say(printable(entry.problem))
    _show(timeline)


def _row(entry: "RunEntry", now: float) -> tuple[str, ...]:
    about = "\n".join(printable(text) for text in (entry.topic, str(entry.folder), entry.problem) if text)
    when = "-" if entry.created is None else age(now - entry.created)
    used = ("-", "-", "-")
    if usage := entry.usage:
        used = (str(usage.calls), amount(usage.tokens_in + usage.tokens_out), dollars(usage.cost))
    return entry.state, when, str(entry.sessions or "-"), *used, about


def _record(entry: "RunEntry") -> dict[str, Any]:
    names = ("state", "topic", "created", "sessions")
    usage = {"usage": _totals(entry.usage) if entry.usage else None, "problem": entry.problem}
    return {"folder": str(entry.folder)} | {name: getattr(entry, name) for name in names} | usage


def _totals(usage: "Usage") -> dict[str, Any]:
    names = ("calls", "tokens_in", "tokens_cached", "tokens_out", "cost", "seconds")
    return {name: getattr(usage, name) for name in names}


def _show(timeline: "Timeline") -> None:
    for session in timeline.sessions:
        day = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(session.started))
        reason = f": {printable(session.reason)}" if session.reason else ""
        say(f"\nsession {session.number}, {day}, {clock(session.seconds)}, {session.ending}{reason}")
        reused = any(stage.reused for stage in session.stages)
        if session.stages:
            rows = [row for stage in session.stages for row in _stage_rows(stage, session)]
            show_table((*_COLUMNS, "reused") if reused else _COLUMNS, rows if reused else [row[:-1] for row in rows])
        for line in _problems_and_notes(session):
            say(line)
    say(f"\nin all: {_totals_line(timeline)}")


def _stage_rows(stage: "Stage", session: "Session") -> Iterator[tuple[str, ...]]:
    from storm_pipeline.types import Usage

    suffix = "" if stage.ended else " so far" if session.ending == "running" else ", cut off"
    times = clock(max(0.0, stage.started - session.started)), f"{clock(stage.seconds)}{suffix}"
    counts = tuple(str(number or "") for number in (stage.searches, stage.retries, stage.reused))
    yield printable(stage.name), *times, *_usage_cells(stage.usage), *counts
    for row in stage.rows:
        usage = Usage((row,), row.seconds)
        yield f"  {printable(row.role)}", "", clock(row.seconds), *_usage_cells(usage), "", "", ""


def _usage_cells(usage: "Usage") -> tuple[str, ...]:
    if not usage.calls:
        return ("",) * 5
    fresh = usage.tokens_in - usage.tokens_cached
    tokens = (amount(number) for number in (fresh, usage.tokens_cached, usage.tokens_out))
    return str(usage.calls), *tokens, dollars(usage.cost)


def _problems_and_notes(session: "Session") -> list[str]:
    problems = [f"{p.kind} in {printable(p.stage)}: {printable(p.detail)}" for s in session.stages for p in s.problems]
    notes = [f"note: {printable(note)}" for stage in session.stages for note in stage.notes]
    return [*distinct_lines(problems, _MAX_LINES, ", see --json"), *distinct_lines(notes, _MAX_LINES, ", see --json")]


def _totals_line(timeline: "Timeline") -> str:
    usage = timeline.usage
    stages = [stage for session in timeline.sessions for stage in session.stages]
    facts = [
        with_noun(len(timeline.sessions), "session"),
        clock(usage.seconds),
        with_noun(usage.calls, "call"),
        f"tokens: {amount(usage.tokens_in - usage.tokens_cached)} fresh",
        f"{amount(usage.tokens_cached)} cached, {amount(usage.tokens_out)} written",
        f"cost {dollars(usage.cost)}",
        *(f"{sum(getattr(stage, name) for stage in stages)} {name}" for name in ("searches", "retries", "reused")),
    ]
    return ", ".join(facts)


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
        say(printable(str(write(article, chosen.name, path, citation_style=citation_style))))


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
