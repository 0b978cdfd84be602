"""Runs that are interrupted, edited, damaged, capped or shared, and what going on with them asks and makes."""

import errno
import io
import json
import os
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from found_pages import world
from llm import FakeModel, completion, default_answers, from_facts, point_a_section, point_answers
from rich.console import Console
from servers import Reply
from test_pipeline import NoContents, folder

from storm_pipeline import Article, Storm
from storm_pipeline.errors import (
    ModelAuthError,
    RunError,
    SettingsError,
    StoppedError,
    StormError,
    TooManyFailuresError,
)
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.listing import read_timeline
from storm_pipeline.interfaces.progress import ProgressSink
from storm_pipeline.run.events import (
    CallbackSink,
    CallFinished,
    Downloading,
    Event,
    Noted,
    Reused,
    RunStarted,
    StageAdvanced,
    StageStarted,
    read_events,
)
from storm_pipeline.run.folder import RunStore
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.storm import write_from
from storm_pipeline.text.formatting import amount, with_noun
from storm_pipeline.types import Outline


def answers() -> dict[str, Any]:
    """As by default, but each question depends on the conversation alone, not on what was asked before it."""

    def question(user: str) -> str:
        asked = user.count("Writer:") + 10 * len(re.findall("Editor 0", user))
        return f"What is known about aspect {asked + 1} of Silk Road?"

    return default_answers() | {
        "AskQuestion": question,
        "FindPoints": point_a_section,
        "AnswerPoints": lambda user: point_answers(from_facts(user)),
    }


def storm(server: FakeModel, tmp_path: Path, **changes: object) -> Storm:
    given: dict[str, object] = {
        "lm": server.lm,
        "search": FakeSearch(world),
        "embedder": HashingEmbedder(),
        "contents": NoContents(),
        "perspectives": 1,
        "turns": 2,
        "workers": 1,
        "call_attempts": 1,
        "max_failures": 0,
        "lm_timeout": 60,
        "out": tmp_path / "runs",
        "cache": tmp_path / "cache",
    }
    return Storm(**(given | changes))  # type: ignore[arg-type]


def stopped(server: FakeModel, tmp_path: Path, calls: int, **changes: object) -> Path:
    """The folder of a run that was stopped when so many replies had come."""
    left = iter(range(calls - 1, -1, -1))

    def take(event: Event) -> None:
        if isinstance(event, CallFinished) and next(left, -1) == 0:
            writer.stop()

    writer = storm(server, tmp_path, sinks=[CallbackSink(take)], **changes)
    with pytest.raises(StoppedError):
        writer.write("Silk Road")
    return folder(tmp_path)


def text(article: Article | Outline) -> str:
    assert isinstance(article, Article)
    return article.to_markdown()


@pytest.mark.parametrize("calls", [1, 9, 14])
def test_a_stopped_run_goes_on_where_it_was(steady: FakeModel, tmp_path: Path, calls: int) -> None:
    whole = storm(steady, tmp_path / "whole").write("Silk Road")
    asked = len(steady.asked)
    run = stopped(steady, tmp_path, calls)
    assert json.loads((run / "run.json").read_text())["status"] == "stopped"
    article = storm(steady, tmp_path).resume(run)
    assert text(article) == text(whole)
    assert len(steady.asked) == 2 * asked
    assert isinstance(article, Article)
    assert article.usage.calls == asked


def test_what_failed_is_asked_again_and_nothing_else(tmp_path: Path) -> None:
    with FakeModel(answers(), faults={"WriteLead": [Reply(401, {"error": {"message": "expired"}})]}) as server:
        with pytest.raises(ModelAuthError):
            storm(server, tmp_path).write("Silk Road")
        before = len(server.asked)
        article = storm(server, tmp_path).resume(folder(tmp_path))
        again = [asked.signature for asked in server.asked[before:]]
    assert isinstance(article, Article)
    assert article.lead
    assert set(again) <= {"WriteLead", "CheckSentences"}
    assert again.count("WriteLead") == 1


def test_what_depends_on_a_changed_setting_is_made_again_and_said(
    steady: FakeModel, written: Path, tmp_path: Path
) -> None:
    events: list[Event] = []
    with FakeModel(answers()) as other:
        writer = other.lm.replace("openai/fake", "openai/other")
        storm(steady, tmp_path, writer_lm=writer, sinks=[CallbackSink(events.append)]).resume(written)
        assert not steady.asked
        assert {request.signature for request in other.asked} == {"WriteSection", "WriteLead"}
    assert any("writer_lm" in event.detail for event in events if isinstance(event, Noted))


@pytest.mark.parametrize("name", ["outline.md", "perspectives.json", "lead.json", "article.md"])
def test_a_damaged_piece_is_named_kept_and_made_again(
    steady: FakeModel, written: Path, tmp_path: Path, name: str
) -> None:
    path = written / name
    before = path.read_text("utf-8")
    for harm in ("deleted", "truncated"):
        events: list[Event] = []
        if harm == "deleted":
            path.unlink()
        else:
            path.write_text(before[: len(before) // 2], "utf-8")
        storm(steady, tmp_path, sinks=[CallbackSink(events.append)]).resume(written)
        assert not steady.asked
        assert path.read_text("utf-8") == before
        assert path.with_name(f"{name}.1.changed").exists() == (harm == "truncated")
        assert any(name in event.detail for event in events if isinstance(event, Noted))


def test_an_edited_outline_is_written_from_in_a_folder_of_its_own(
    steady: FakeModel, written: Path, tmp_path: Path
) -> None:
    before = {path.name: path.read_bytes() for path in written.iterdir() if path.is_file()}
    (written / "outline.md").write_text("# Goods\n\n# Routes\n## Northern routes\n", "utf-8")
    article = write_from(storm(steady, tmp_path), "outline", written)
    new = {request.signature for request in steady.asked}
    assert [section.heading for section in article.sections] == ["Goods", "Routes"]
    assert new <= {
        *("FindPoints", "AnswerPoints", "WriteQueries", "PlaceFindings", "WriteSection", "WriteLead", "EditArticle"),
        "CheckSentences",
    }
    after = {path.name: path.read_bytes() for path in written.iterdir() if path.is_file()}
    assert {name for name in after if after[name] != before.get(name)} == {"outline.md"}
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_edited_perspectives_are_interviewed(steady: FakeModel, written: Path, tmp_path: Path) -> None:
    (written / "perspectives.json").write_text('[{"name": "Weaver", "focus": "Looms."}]', "utf-8")
    article = write_from(storm(steady, tmp_path), "perspectives", written)
    new = [request.signature for request in steady.asked]
    assert [c.perspective.name for c in article.conversations] == ["Basic fact writer", "Weaver", "Reader"]
    assert "FindPerspectives" not in new
    assert new.count("AskQuestion") == 3  # the weaver's two; the basic fact writer's second follows the weaver's first


@pytest.mark.parametrize(
    ("piece", "name", "content", "complaint"),
    [
        ("outline", "outline.md", "no heading here, only prose that goes on.", "heading"),
        ("outline", "outline.md", None, "cannot read"),
        ("perspectives", "perspectives.json", "{", "cannot read"),
        ("perspectives", "perspectives.json", '[{"who": 1}]', "perspectives"),
    ],
)
def test_a_piece_that_cannot_be_used_is_refused(
    steady: FakeModel, written: Path, tmp_path: Path, piece: str, name: str, content: str | None, complaint: str
) -> None:
    path = written / name
    path.unlink() if content is None else path.write_text(content, "utf-8")
    with pytest.raises(RunError, match=complaint):
        write_from(storm(steady, tmp_path), piece, written)
    with pytest.raises(SettingsError, match="choose one of"):
        write_from(storm(steady, tmp_path), "lead", written)


def test_a_folder_that_is_deleted_stays_deleted(steady: FakeModel, tmp_path: Path) -> None:
    def delete(event: Event) -> None:
        if isinstance(event, StageAdvanced):
            for made in (tmp_path / "runs").iterdir():
                while made.exists():  # other threads may write into it meanwhile
                    shutil.rmtree(made, ignore_errors=True)

    with pytest.raises(RunError, match=r"cannot write .*restore the folder"):
        storm(steady, tmp_path, sinks=[CallbackSink(delete)]).write("Silk Road")
    assert not list((tmp_path / "runs").iterdir())


@pytest.mark.parametrize(
    ("number", "remedy"), [(errno.ENOSPC, "free some space"), (errno.EROFS, "make the disk writable again")]
)
def test_a_full_or_read_only_disk_is_named(steady: FakeModel, tmp_path: Path, number: int, remedy: str) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    def break_disk(event: Event) -> None:
        if isinstance(event, StageAdvanced):
            patch.setattr("storm_pipeline.run.replica.Disk.append", refused)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(RunError, match=f"cannot write .*{remedy}, then"):
        storm(steady, tmp_path, sinks=[CallbackSink(break_disk)]).write("Silk Road")
    assert storm(steady, tmp_path).resume(folder(tmp_path)).sections


def test_what_a_killed_process_had_begun_to_write_is_swept_away(
    steady: FakeModel, written: Path, tmp_path: Path
) -> None:
    begun = [written / ".lead.json.x1y2.unfinished", written / "sections" / ".a.unfinished"]
    for path in begun:
        path.write_text("half", "utf-8")
    storm(steady, tmp_path).resume(written)
    assert not any(path.exists() for path in begun)


def test_a_second_process_is_refused(steady: FakeModel, written: Path, tmp_path: Path) -> None:
    with RunStore.open(written), pytest.raises(RunError, match="another process"):
        storm(steady, tmp_path).resume(written)


def test_a_newer_version_and_other_folders_are_refused(steady: FakeModel, written: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no run\.json"):
        storm(steady, tmp_path).resume(tmp_path)
    state = written / "run.json"
    state.write_text(state.read_text().replace('"format": 1', '"format": 99'), "utf-8")
    with pytest.raises(RunError, match="newer version"):
        storm(steady, tmp_path).resume(written)
    state.write_text("{}", "utf-8")
    with pytest.raises(RunError, match="damaged"):
        storm(steady, tmp_path).resume(written)


def test_a_cap_ends_the_run_in_order_and_more_goes_on(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:  # its usage is far below its prompts: many turns leave room
        whole = storm(server, tmp_path / "whole", turns=8, evidence=200).write("Silk Road")
        tokens = whole.usage.tokens_in + whole.usage.tokens_out
        capped = storm(server, tmp_path, turns=8, evidence=200, max_tokens=tokens * 9 // 10).write("Silk Road")
        assert capped.usage.tokens_in + capped.usage.tokens_out <= tokens * 9 // 10
        assert capped.sections
        assert any("research may use" in problem.detail for problem in capped.report.problems)
        assert text(
            storm(server, tmp_path, turns=8, evidence=200, max_tokens=10 * tokens).resume(folder(tmp_path))
        ) == text(whole)


def test_a_cap_on_dollars_needs_prices(steady: FakeModel, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="price"):
        storm(steady, tmp_path, max_cost=1).write("Silk Road")
    article = storm(steady, tmp_path, max_cost=1, prices=("openai/fake=1/2",)).write("Silk Road")
    assert article.usage.cost == pytest.approx((article.usage.tokens_in + 2 * article.usage.tokens_out) / 1e6, rel=0.6)


def test_a_price_that_is_given_later_counts_for_earlier_calls(steady: FakeModel, tmp_path: Path) -> None:
    usage, asked = storm(steady, tmp_path).write("Silk Road").usage, len(steady.asked)
    cost = (usage.tokens_in + 2 * usage.tokens_out) / 1e6
    given: dict[str, Any] = {"prices": ("openai/fake=1/2",), "turns": 3}
    with pytest.raises(StormError, match="dollars"):
        storm(steady, tmp_path, max_cost=0.5 * cost, **given).resume(folder(tmp_path))
    assert (usage.cost, len(steady.asked)) == (None, asked)
    article = storm(steady, tmp_path, max_cost=9 * cost, **given).resume(folder(tmp_path))
    assert article.usage.cost == pytest.approx((article.usage.tokens_in + 2 * article.usage.tokens_out) / 1e6, rel=0.6)


def test_too_many_failures_end_the_run_and_say_what_failed_most(tmp_path: Path) -> None:
    faults = {"AskQuestion": [Reply(500, "down")] * 100}
    with FakeModel(answers(), faults=faults) as server:
        eager = storm(server, tmp_path, perspectives=5, max_failures=2)
        with pytest.raises(TooManyFailuresError, match="3 of them alike, such as turn 1 of"):
            eager.write("Silk Road")


def test_a_run_is_streamed_and_can_be_cancelled(steady: FakeModel, tmp_path: Path) -> None:
    stream = storm(steady, tmp_path / "whole").stream("Silk Road")
    events = list(stream)
    logged = [event for _, event in read_events(folder(tmp_path / "whole") / "events.jsonl")]
    assert events == logged
    assert stream.article.sections
    with storm(steady, tmp_path).stream("Silk Road") as cut:
        for event in cut:
            if isinstance(event, CallFinished):
                break
    with pytest.raises(RunError, match="not finished"):
        _ = cut.article
    resumed = storm(steady, tmp_path).resume(folder(tmp_path))
    assert text(resumed) == text(stream.article)
    assert not [thread for thread in threading.enumerate() if thread.name == "storm-stream"]


@pytest.mark.parametrize("moment", [RunStarted, StageStarted])
def test_a_run_is_stopped_while_it_is_set_up(steady: FakeModel, tmp_path: Path, moment: type[Event]) -> None:
    sinks: list[CallbackSink] = []
    box: list[Storm] = []
    sinks.append(CallbackSink(lambda event: box[0].stop() if isinstance(event, moment) else None))
    box.append(storm(steady, tmp_path, sinks=sinks))
    with pytest.raises(StoppedError):
        box[0].write("Silk Road")
    assert not box[0].running
    run = folder(tmp_path)
    assert json.loads((run / "run.json").read_text())["status"] == "stopped"
    assert not steady.asked
    assert "set-up" in {event.stage for _, event in read_events(run / "events.jsonl")}
    assert isinstance(storm(steady, tmp_path).resume(run), Article)


def test_a_stopped_run_ends_its_download(steady: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box: list[Storm] = []

    def slow(model: str, cache: Path, progress: Callable[[str, int, int], None]) -> HashingEmbedder:
        for done in range(100):
            if done == 3:
                box[0].stop()
            progress(model, done, 100)
        raise AssertionError("it was downloaded to its end")

    monkeypatch.setattr("storm_pipeline.storm.shared_embedder", slow)
    box.append(storm(steady, tmp_path, embedder=None))
    with pytest.raises(StoppedError):
        box[0].write("Silk Road")
    events = [event for _, event in read_events(folder(tmp_path) / "events.jsonl")]
    assert [event.done for event in events if isinstance(event, Downloading)] == [0, 1, 2]


def test_a_resumed_run_keeps_its_evidence(steady: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.models.prices.listed_window", lambda _: 8192)
    run = stopped(steady, tmp_path, 6, writing="whole")
    assert "1,536 words" in (run / "events.jsonl").read_text()
    assert json.loads((run / "settings.json").read_text())["evidence"] == 1536
    monkeypatch.setattr("storm_pipeline.models.prices.listed_window", lambda _: 128_000)
    again: list[Event] = []
    storm(steady, tmp_path, sinks=[CallbackSink(again.append)]).resume(run)
    assert json.loads((run / "settings.json").read_text())["evidence"] == 1536
    assert not [event for event in again if isinstance(event, Noted) and "changed" in event.detail]
    assert sum(isinstance(event, Reused) for event in again) >= 6


def test_display_and_usage_are_rebuilt_from_the_events(steady: FakeModel, tmp_path: Path) -> None:
    run = stopped(steady, tmp_path, 6)
    article = storm(steady, tmp_path).resume(run, Article)
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


HALF = "\ud83d"


def halves() -> dict[str, str]:
    """What each signature is replied with once, with half a pair in each."""
    outline = {
        "sections": [{"title": f"Goods {HALF}", "subsections": [f"Silk {HALF}"]}, {"title": "Ways", "subsections": []}]
    }
    return {
        "FindRelatedTopics": json.dumps({"related_topics": [f"Caravan {HALF}"]}),
        "FindPerspectives": json.dumps({"editors": [{"name": f"Trader {HALF}", "focus": f"Goods {HALF}"}]}),
        "AskQuestion": f"What was traded {HALF} on it?",
        "WriteQueries": json.dumps({"queries": [f"silk {HALF} trade"]}),
        "DraftOutline": json.dumps(outline),
        "RefineOutline": json.dumps(outline),
        "WriteSection": f"Of Silk Road goods {HALF} such as silk tolls were paid near the desert [1].",
        "WriteLead": f"The Silk Road {HALF} had goods [1].",
    }


def test_half_a_pair_in_a_reply_ends_no_run(tmp_path: Path) -> None:
    faults = {signature: [Reply(body=completion(reply))] for signature, reply in halves().items()}
    with FakeModel(answers(), faults=faults) as server:
        article = storm(server, tmp_path, max_failures=2).write("Silk Road")
        assert not any(server._faults.values())
        asked = len(server.asked)
        (folder(tmp_path) / "article.md").unlink()
        assert text(storm(server, tmp_path, max_failures=2).resume(folder(tmp_path))) == text(article)
        assert len(server.asked) == asked
    text(article).encode("utf-8")
    article.to_html().encode("utf-8")
    article.to_json().encode("utf-8")


def replies(text: str) -> list[Reply]:
    return [Reply(body=completion(text))] * 40


def sections_of(made: Article | Outline) -> int:
    return len(made.sections)


OF_NO_USE: list[tuple[tuple[str, ...], str, str]] = [
    *((("WriteQueries",), bad, "FindRelatedTopics") for bad in ("", '{"quer', "<think>Let me see", "x" * 60_000)),
    *(
        (("DraftOutline", "RefineOutline"), bad, "AskQuestion")
        for bad in ("No headings.", '{"sections": [{"title": "", "subsections": []}]}')
    ),
    (("AskQuestion",), "Thank you so much for your help!", ""),
    (("WriteSection",), "Nothing is known.", "AskQuestion"),
]
"""Who replies what, and whose replies were of use, if anybody's."""


@pytest.mark.parametrize(("signatures", "bad", "kept"), OF_NO_USE)
def test_a_run_that_ended_with_useless_replies_asks_for_these_again(
    tmp_path: Path, signatures: tuple[str, ...], bad: str, kept: str
) -> None:
    with FakeModel(answers(), faults={name: replies(bad) for name in signatures}) as server:
        with pytest.raises(StormError):
            storm(server, tmp_path, parse_attempts=2, max_failures=9).write("Silk Road")
        before = len(server.asked)
        for name in signatures:
            server._faults.pop(name)
        article = storm(server, tmp_path, parse_attempts=2, max_failures=9).resume(folder(tmp_path))
        new = {asked.signature for asked in server.asked[before:]}
    assert sections_of(article)
    assert {*signatures} <= new
    assert kept not in new, "what was of use is not bought again"


def test_a_cap_counts_billed_replies_of_all_sessions_that_could_not_be_read(tmp_path: Path) -> None:
    cut = Reply(body=json.dumps(completion("word " * 500)).encode()[:-20])
    with FakeModel(faults=dict.fromkeys(answers(), [cut] * 99)) as server:
        writer = storm(server, tmp_path, prices=("openai/fake=100/100",), max_cost=0.3, call_attempts=1)
        with pytest.raises(StormError):
            writer.write("Silk Road")
        for _ in range(4):
            with pytest.raises(StormError) as error:
                writer.resume(folder(tmp_path))
        assert "of 0.3 dollars" in str(error.value)
        assert 1 < len(server.asked) < 5


PLAIN = dict.fromkeys(("DraftOutline", "RefineOutline"), "# History\n# Goods\n# Routes")


@pytest.mark.parametrize(("own", "refused"), [(PLAIN, []), ({}, ["WriteQueries"])], ids=["plain text", "second sample"])
def test_a_reply_that_served_in_the_end_is_not_asked_for_again(tmp_path: Path, own: Any, refused: list[str]) -> None:
    with FakeModel(answers() | own, faults={name: replies("no")[:1] for name in refused}) as server:
        whole = storm(server, tmp_path).write("Silk Road")
        asked = len(server.asked)
        (folder(tmp_path) / "article.md").unlink()
        again = storm(server, tmp_path).resume(folder(tmp_path))
        assert len(server.asked) == asked
    assert text(again) == text(whole)


@pytest.mark.parametrize("recipe", ["storm", "rag"])
def test_searches_that_found_nothing_are_made_again(steady: FakeModel, tmp_path: Path, recipe: str) -> None:
    found: list[Any] = []
    with pytest.raises(StormError):
        storm(steady, tmp_path, search=FakeSearch(lambda _: found)).write("Silk Road", recipe=recipe)
    article = storm(steady, tmp_path, search=FakeSearch(world)).resume(folder(tmp_path))
    assert sections_of(article)
