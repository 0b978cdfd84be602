"""Replaying events.jsonl of a finished run: the progress display and the usage."""

import io
import json
from pathlib import Path

from llm import FakeModel
from rich.console import Console
from test_pipeline import folder
from test_resume import answers, stopped, storm

from storm_pipeline.interfaces.listing import read_timeline
from storm_pipeline.interfaces.progress.run_progress import ProgressSink
from storm_pipeline.run.events import read_events
from storm_pipeline.text.formatting import amount, with_noun
from storm_pipeline.types import Article


def interrupted_and_finished(tmp_path: Path) -> tuple[Path, Article]:
    """A run of two sessions: its folder, and what it made."""
    with FakeModel(answers()) as server:
        article = storm(server, tmp_path).resume(stopped(server, tmp_path, 6))
    assert isinstance(article, Article)
    return folder(tmp_path), article


def test_display_and_usage_are_rebuilt_from_the_events(tmp_path: Path) -> None:
    run, article = interrupted_and_finished(tmp_path)
    events = list(read_events(run / "events.jsonl"))
    moment = events[0][0]
    shown = io.StringIO()
    with ProgressSink(Console(file=shown, force_terminal=False, width=200), now=lambda: moment) as sink:
        for moment, event in events:  # noqa: B007 - the clock reads it
            sink.emit(event)
        totals = sink.totals()
    assert f"finished: {totals}" in shown.getvalue().splitlines()
    usage = article.usage
    sources = sum(1 + len(source.also) for source in article.sources)
    tokens = f"{amount(usage.tokens_in)} tokens in, {amount(usage.tokens_out)} out"
    assert f", {with_noun(sources, 'source')}, {with_noun(usage.calls, 'call')}, {tokens}" in totals
    assert (with_noun(len(article.report.problems), "problem") in totals) == bool(article.report.problems)
    made = read_timeline(run)
    assert made.usage.rows == usage.rows
    assert [session.ending for session in made.sessions] == ["stopped", "finished"]
    assert json.loads((run / "usage.json").read_text())["rows"] == [row.__dict__ for row in made.usage.rows]
