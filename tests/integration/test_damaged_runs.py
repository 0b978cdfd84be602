"""Files of a run that are lost, damaged or edited: findings are reported, and nothing is bought again unasked."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from found_pages import world
from llm import FakeModel
from test_pipeline import NoContents, folder
from test_resume import stopped, storm, text

from storm_pipeline import Article, Snippet, Storm
from storm_pipeline.errors import DamagedRunError, NothingFoundError, StormError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.run.events import CallbackSink, CallFinished, Event, Noted, read_events
from storm_pipeline.run.journal import Journal
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.storm import write_from


def bare(server: FakeModel) -> Storm:
    """With the model of the run that it resumes, and else with the run's settings."""
    return Storm(lm=server.lm, search=FakeSearch(world), embedder=HashingEmbedder(), contents=NoContents())


def noted(events: list[Event]) -> list[str]:
    return [event.detail for event in events if isinstance(event, Noted)]


def test_a_damaged_cache_is_named_by_the_run_that_meets_it(server: FakeModel, tmp_path: Path) -> None:
    events: list[Event] = []
    pages = tmp_path / "cache" / "pages" / "pages.sqlite"
    pages.parent.mkdir(parents=True)
    pages.write_bytes(b"no database " * 900)
    page = Snippet("http://127.0.0.1:9/silk", "Silk", "Caravans of the Silk Road carried silk to Samarkand in 751.")
    engine = FakeSearch(lambda _: [page])
    storm(server, tmp_path, search=engine, read_pages="always", sinks=[CallbackSink(events.append)]).write("Silk")
    (said,) = [detail for detail in noted(events) if "cache" in detail]
    assert f"{pages} was damaged and moved to" in said


def delete(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def halve(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: len(lines) // 2]))


def thin_out(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[len(lines) % 2 :: 2]))  # without the last one, which says that the run has ended


@pytest.mark.parametrize(("harm", "calls"), [(delete, 0), (empty, 12), (zero, 0), (halve, 12), (thin_out, 0)])
def test_lost_journal_and_consent(steady: FakeModel, tmp_path: Path, harm: Callable[[Path], None], calls: int) -> None:
    events: list[Event] = []
    sinks = [CallbackSink(events.append)]
    prices = ("openai/fake=1000/2000",)
    whole = storm(steady, tmp_path / "whole", prices=prices).write("Silk Road")
    if calls:
        run = stopped(steady, tmp_path, calls, prices=prices)
    else:
        storm(steady, tmp_path, prices=prices).write("Silk Road")
        run = folder(tmp_path)
    harm(run / "journal.jsonl")
    asked = len(steady.asked)
    for _ in range(2):
        with pytest.raises(DamagedRunError, match=r"of \d+ replies of models are bought again") as caught:
            storm(steady, tmp_path).resume(run)
        assert "tokens ($" in str(caught.value)
        assert f"storm resume {run} --yes" in str(caught.value)
    assert len(steady.asked) == asked
    again = storm(steady, tmp_path, sinks=sinks).resume(run, accept_damage=True)
    assert len(steady.asked) > asked
    assert text(again) == text(whole)
    assert any("replies of models are bought again" in detail for detail in noted(events))


@pytest.mark.parametrize(("harm", "share"), [(delete, 1.5), (empty, 30.0), (halve, 1.5), (halve, 30.0)])
def test_run_without_its_events(steady: FakeModel, tmp_path: Path, harm: Callable[[Path], None], share: float) -> None:
    events: list[Event] = []
    intact = stopped(steady, tmp_path, 12)
    harmed = shutil.copytree(intact, tmp_path / "harmed")
    harm(harmed / "events.jsonl")
    known = [event for _, event in read_events(intact / "events.jsonl") if isinstance(event, CallFinished)]
    cap = round(share * sum(call.tokens_in + call.tokens_out for call in known))
    sinks = [CallbackSink(events.append)]
    whole = resumed(storm(steady, tmp_path, max_tokens=cap), intact, steady)
    assert resumed(storm(steady, tmp_path, max_tokens=cap, sinks=sinks), harmed, steady) == whole
    assert any("events.jsonl" in detail and "counted from journal.jsonl" in detail for detail in noted(events))


def test_of_many_edits_some_are_shown(steady: FakeModel, written: Path, tmp_path: Path) -> None:
    """A stranger's journal may hold as many contents of the settings as it has lines, with names of any length."""
    with Journal(written / "journal.jsonl") as journal:
        for number in range(1000):
            journal.add("file", "settings.json", {f"{number}{'x' * 500}": number})
    with pytest.raises(DamagedRunError, match="990 more") as caught:
        storm(steady, tmp_path).resume(written)
    assert len(str(caught.value)) < 5000


def resumed(writer: Storm, run: Path, server: FakeModel) -> tuple[int, str, float]:
    """How many calls are made, the article if there is one, and all that was spent."""
    asked = len(server.asked)
    try:
        article = writer.resume(run)
    except NothingFoundError:
        return len(server.asked) - asked, "none", 0.0
    assert isinstance(article, Article)
    spent = article.usage.tokens_in + article.usage.tokens_out
    return len(server.asked) - asked, article.to_markdown(), spent


@pytest.mark.parametrize(
    ("name", "before", "after", "said"),
    [
        ("run.json", "Silk Road", "Silk Roae", 'topic from "Silk Road" to "Silk Roae"'),
        ("run.json", '"given": {}', '"given": {"outline": "# A"}', "given from"),
        ("settings.json", '"turns": 2', '"turns": 3', "turns from 2 to 3"),
        ("settings.json", '"turns"', '"turnt"', "turns from 2 to null"),
        ("settings.json", "openai/fake", "openai/fakf", "lm from"),
    ],
)
def test_an_edited_run_asks(
    steady: FakeModel, written: Path, tmp_path: Path, name: str, before: str, after: str, said: str
) -> None:
    intact = (written / name).read_text("utf-8")
    (written / name).write_text(intact.replace(before, after), "utf-8")
    with pytest.raises(DamagedRunError, match=f"{name} was edited or damaged: .*{said}"):
        storm(steady, tmp_path).resume(written)
    (written / name).write_text(intact, "utf-8")
    storm(steady, tmp_path).resume(written)
    assert not steady.asked
    if name == "settings.json" and before == '"turns": 2':
        (written / name).write_text(intact.replace(before, after), "utf-8")
        (written / "article.md").unlink()
        edited = bare(steady).resume(written, accept_damage=True)
        assert isinstance(edited, Article)
        assert [len(held.turns) for held in edited.conversations if held.perspective.name != "Reader"] == [3, 3]
        bare(steady).resume(written)  # what was consented to is on record


@pytest.mark.parametrize("harm", [delete, empty])
def test_lost_settings_are_in_the_journal_too(steady: FakeModel, tmp_path: Path, harm: Callable[[Path], None]) -> None:
    whole = storm(steady, tmp_path).write("Silk Road")
    run, asked = folder(tmp_path), len(steady.asked)
    written = (run / "settings.json").read_text("utf-8")
    harm(run / "settings.json")
    (run / "article.md").unlink()
    with pytest.raises(DamagedRunError, match=r"settings\.json is missing or damaged"):
        storm(steady, tmp_path).resume(run)
    assert text(storm(steady, tmp_path).resume(run, accept_damage=True)) == text(whole)
    assert len(steady.asked) == asked
    assert (run / "settings.json").read_text("utf-8") == written


@pytest.mark.parametrize("name", ["run.json", "settings.json"])
def test_a_flipped_bit_buys_nothing(steady: FakeModel, written: Path, tmp_path: Path, name: str) -> None:
    chance = random.Random(name)
    (written / "article.md").unlink()
    for number in range(25):
        run = shutil.copytree(written, tmp_path / f"copy-{number}")
        data = bytearray((run / name).read_bytes())
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        (run / name).write_bytes(data)
        try:
            bare(steady).resume(run)
        except StormError as error:
            assert str(run) in str(error) or "settings" in str(error)
        assert not steady.asked, data


def test_a_run_written_from_another_counts_its_own_spending(steady: FakeModel, written: Path, tmp_path: Path) -> None:
    (written / "outline.md").write_text("# Goods\n\n# Routes\n", "utf-8")
    article = write_from(storm(steady, tmp_path), "outline", written)
    assert article.usage.calls == len(steady.asked)
    (new,) = set((tmp_path / "runs").iterdir()) - {written}
    (new / "article.md").unlink()
    assert json.loads((new / "run.json").read_text())["from"] == written.name
    events: list[Event] = []
    storm(steady, tmp_path, sinks=[CallbackSink(events.append)]).resume(new)
    assert not any("lost" in detail or "lacks" in detail for detail in noted(events))
    (written / "journal.jsonl").unlink()
    with pytest.raises(DamagedRunError, match=r"journal\.jsonl is lost"):
        write_from(storm(steady, tmp_path), "outline", written)
