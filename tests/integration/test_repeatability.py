"""What a run asks and writes depends neither on threads nor on hashes, nor on which search finds an excluded copy."""

import dataclasses
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from llm import FakeModel, default_answers
from servers import Reply, Request
from test_pipeline import folder, storm

from storm_pipeline import Article, Snippet, Storm
from storm_pipeline.run.events import Excluded, read_events
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.types import Usage

Pace = Callable[[str], float]
"""Seconds that an answer to a prompt or a query takes."""

THINGS = "silk spice glass paper horse jade amber ivory cotton tea salt wool copper tin lacquer dye".split()
TOWNS = "Samarkand Bukhara Kashgar Antioch Merv Palmyra Dunhuang Tyre Aleppo Balkh Herat Khotan".split()
ASPECTS = 7


def draw(*parts: object) -> int:
    """A number that depends on its arguments alone, in every process."""
    return zlib.crc32(repr(parts).encode())


def passage(number: int) -> str:
    """A text about history, goods and routes; those of numbers that differ by a multiple of 16 share a thing."""
    thing, town, other = THINGS[number % 16], TOWNS[number % 12], TOWNS[(number * 5 + 3) % 12]
    return (
        f"The early history of {town} began when {thing} reached it from {other} some {number + 100} winters ago. "
        f"Among the goods of the Silk Road {thing} from {town} paid {number % 90 + 10} dirhams of toll. "
        f"The Silk Road's routes for {thing} led riders of {town} past the forts of {other} to the sea."
    )


def hit(query: str, place: int) -> Snippet:
    """The same passages on several pages, and the same page in several forms, as the query will have it."""
    number = draw(query, place) % 40
    host = draw(query, place, "host") % 4
    address = f"example{host}.org/{number // 2}"
    url = (f"https://{address}", f"http://www.{address}/?utm_source=q{draw(query) % 3}")[draw(query, "url") % 2]
    title = ("", f"{THINGS[number % 16].title()} of {TOWNS[number % 12]}", f"Page {number} | {query}")[draw(query) % 3]
    text = passage(number)
    text = (text, text.replace(". ", ".\n"), text.replace("Silk Road", "SILK ROAD"))[draw(query, host) % 3]
    return Snippet(url, title, text, published=("2020", None)[draw(query) % 2], page=(None, 2)[host % 2], engine="fake")


def found(query: str) -> Sequence[Snippet]:
    pages = [Snippet(f"https://denied.org/{place}", f"Found by {query}", passage(place)) for place in range(2)]
    return [*pages, *(hit(query, place) for place in range(8))]


def question(user: str) -> str:
    """Editors ask in different orders for the same aspects."""
    editor = draw(re.findall(r"Perspective: (.+)", user)[-1])
    return f"What is known about aspect {(editor + 3 * user.count('Expert:')) % ASPECTS} of the Silk Road?"


def queries(user: str) -> str:
    aspect = next(iter(re.findall(r"aspect (\d)", user)), "9")  # a second round asks for none
    return json.dumps({"queries": [f"Silk Road aspect {aspect}", f"history of aspect {aspect}", f"goods {aspect}"]})


class PacedModel(FakeModel):
    """The default model, each reply a function of its request alone, at a given pace."""

    def __init__(self, pace: Pace) -> None:
        super().__init__({**default_answers(), "AskQuestion": question, "WriteQueries": queries})
        self._pace = pace

    def _reply(self, request: Request) -> Reply:
        reply = super()._reply(request)
        return dataclasses.replace(reply, delay=self._pace(request.body.decode()))


def by_chance(seed: int) -> Pace:
    drawn = random.Random(seed)
    return lambda _: drawn.uniform(0, 0.03)


def forwards(text: str) -> float:
    return draw(text) % 8 * 0.005


def backwards(text: str) -> float:
    """What comes first by :func:`forwards` comes last."""
    return (7 - draw(text) % 8) * 0.005


def told(folder: Path, pace: Pace, writing: str = "whole") -> dict[str, object]:
    """All that a run asked and wrote, as far as clocks have no part in it."""

    def search(query: str) -> Sequence[Snippet]:
        time.sleep(pace(query))
        return found(query)

    with PacedModel(pace) as server:
        searching = FakeSearch(search, failing=lambda query: query == "goods 3")
        chosen = {"perspectives": 4, "turns": 2, "top_k": 6, "related_topics": 0, "writing": writing}
        writer = storm(server, folder, search=searching, deny_sources=("denied.org",), **chosen)
        article = writer.write("Silk Road")
        asked = sorted([one.signature, one.prompt] for one in server.asked)
    # Problems are told in the order in which they arose.
    report = dataclasses.replace(article.report, problems=tuple(sorted(article.report.problems, key=repr)))
    support = article.support and dataclasses.replace(article.support, judge="")  # whose name has the server's port
    return {
        "asked": asked,
        "markdown": article.to_markdown(),
        "article": json.loads(dataclasses.replace(article, usage=Usage(), report=report, support=support).to_json()),
        "calls": [(row.stage, row.role, row.calls, row.tokens_in, row.tokens_out) for row in article.usage.rows],
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return told(tmp_path_factory.mktemp("run"), forwards)


@pytest.mark.parametrize("pace", [backwards, by_chance(0)], ids=["backwards", "by chance"])
def test_no_pace_changes_what_is_asked_or_written(undisturbed: dict[str, object], tmp_path: Path, pace: Pace) -> None:
    assert told(tmp_path, pace) == undisturbed


def test_no_pace_changes_what_is_written_sentence_by_sentence(tmp_path: Path) -> None:
    first, *others = (told(tmp_path / pace.__name__, pace, "sentences") for pace in (forwards, backwards))
    assert others == [first]


def test_no_hash_seed_changes_what_is_asked_or_written(undisturbed: dict[str, object], tmp_path: Path) -> None:
    program = (
        "import json, sys, pathlib, test_repeatability as t\n"
        "print(json.dumps(t.told(pathlib.Path(sys.argv[1]), t.forwards)))"
    )
    here = Path(__file__).resolve()
    path = os.pathsep.join(map(str, (here.parents[2], here.parent, here.parents[1])))
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": other},
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    assert json.loads(ran.stdout) == json.loads(json.dumps(undisturbed))


PAGE = "https://en.wikipedia.org/wiki/Secret_Road"
COPIES = ("https://copy.example/1", "https://copy.example/2", "https://copy.example/3")
TEXT = (
    "The known aspect of the Silk Road's early history is how quarrymen of Zanzibar hauled obsidian to Tyre by night. "
    "Among the goods of a known aspect of the Silk Road obsidian paid 77 dirhams of toll at every gate of Zanzibar. "
    "The Silk Road's routes are known in the aspect that obsidian riders went past the forts of Zanzibar to the sea."
)
FIXED = {"Silk Road": 1, "Silk Road History": 1, "Silk Road Goods": 0}
"""What the searches of the recipes without interviews find: copies before and beside the page."""


def shown(query: str) -> Sequence[Snippet]:
    """Some searches find the page, some a copy, some both, and some a copy's own words."""
    page = Snippet(PAGE, "Secret Road - Wikipedia", TEXT)
    copy = Snippet(COPIES[draw(query) % 3], "Obsidian", TEXT)
    own = Snippet(copy.url, "Stones", "The early history of the Silk Road has goods on its routes, and a sea of them.")
    kinds = ([page], [copy], [page, copy], [own], [copy, own])
    special = FIXED.get(query, draw(query, "kind") % len(kinds))
    return [*kinds[special], *found(query)]


def storm_without(server: FakeModel, place: Path, pace: Pace = forwards, **changes: object) -> Storm:
    """A ``Storm`` that keeps a page and its copies out."""

    def search(query: str) -> Sequence[Snippet]:
        time.sleep(pace(query))
        return shown(query)

    given = {"search": FakeSearch(search), "perspectives": 3, "turns": 2, "top_k": 6, "related_topics": 0}
    return storm(server, place, **(given | {"exclude_titles": ("Secret Road",)} | changes))


def made(article: object) -> dict[str, object]:
    """The whole of it, but for what depends on clocks."""
    assert isinstance(article, Article)
    plain = dataclasses.replace(article, usage=Usage())
    return {"article": json.loads(plain.to_json()), "text": article.to_markdown(), "excluded": article.sources_excluded}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Article, list[str]]:
    """The folder of a run, what it made, and what it asked."""
    place = tmp_path_factory.mktemp("run")
    with PacedModel(forwards) as server:
        article = storm_without(server, place).write("Silk Road")
        return folder(place), article, [asked.user for asked in server.of("AnswerFromPassages")]


def test_no_copy_is_in_the_article_though_some_were_answered_from(finished: tuple[Path, Article, list[str]]) -> None:
    run, article, answered = finished
    assert any("obsidian" in prompt for prompt in answered)
    assert {one.url for one in article.sources_excluded} == {PAGE, *COPIES}
    assert not {source.url for source in article.sources} & {PAGE, *COPIES}
    text = article.to_markdown() + (run / "conversations.json").read_text("utf-8")
    text += "".join(path.read_text("utf-8") for path in (run / "conversations").iterdir())
    assert "bsidian" not in text
    assert article.sections
    answers = [sentence for talk in article.conversations for turn in talk.turns for sentence in turn.answer]
    cited = {citation.source_id for sentence in answers for citation in sentence.citations}
    assert cited <= {source.id for source in article.sources}
    assert article.report.dropped_unsupported
    excluded = json.loads((run / "excluded.json").read_text("utf-8"))
    assert {one["url"] for one in excluded} == {PAGE, *COPIES}
    assert all(one["reason"] and one["query"] for one in excluded)
    told = [event.url for _, event in read_events(run / "events.jsonl") if isinstance(event, Excluded)]
    assert set(told) == {PAGE, *COPIES}


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_killed_run_keeps_all_out(finished: tuple[Path, Article, list[str]], tmp_path: Path, share: float) -> None:
    run = tmp_path / "runs" / "run"
    shutil.copytree(finished[0], run)
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (run / "journal.jsonl").write_bytes(b"".join(lines[: round(share * len(lines))]))
    (run / "article.json").unlink()
    with PacedModel(backwards) as server:
        writer = storm_without(server, tmp_path, backwards, lm_timeout=60)
        article = writer.resume(run, accept_damage=True)  # the journal alone is cut, not the events beside it
        assert server.asked
    assert made(article) == made(finished[1])


@pytest.mark.parametrize("recipe", ["storm-no-outline", "storm-no-conversation", "orag", "rprr"])
def test_no_recipe_draws_on_a_copy(tmp_path: Path, recipe: str) -> None:
    with PacedModel(forwards) as server:
        article = storm_without(server, tmp_path).write("Silk Road", recipe=recipe)
    assert article.sections
    assert "bsidian" not in article.to_markdown()
    assert PAGE in {one.url for one in article.sources_excluded}
    assert not {source.url for source in article.sources} & {one.url for one in article.sources_excluded}
