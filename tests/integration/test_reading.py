"""Pages that the model chooses are read from end to end, before anything is planned."""

import json
import re
from pathlib import Path

import pytest
from llm import FakeModel, point_answers, points
from test_points import INNS, JADE, SILK, TEXTS, TOLD, answers, of_section, storm, told

from storm_pipeline import Snippet
from storm_pipeline.errors import StoppedError
from storm_pipeline.run.events import CallFinished
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.types import READING

GUIDE = "https://example.org/guide"
CAMELS = "Bactrian camels carried most goods of the Silk Road, up to 200 kg each."
TOLD[CAMELS] = "Most goods of the Silk Road were carried by Bactrian camels, up to 200 kg each"


def web(query: str) -> list[Snippet]:
    """A page of three passages, and two others."""
    guide = [Snippet(GUIDE, "A guide to the Silk Road", text, place=i) for i, text in enumerate((SILK, INNS, CAMELS))]
    return [*guide[:1], *(Snippet(f"https://example.org/{n}", n.capitalize(), t) for n, t in TEXTS.items()), *guide[1:]]


def chosen(user: str, *titles: str) -> str:
    lines = re.findall(r"^(?:Pages: )?(\d+)\. (.+)$", user, re.M)
    return json.dumps({"chosen": [int(n) for title in titles for n, line in lines if line.startswith(title)]})


READS = {
    "ChoosePages": lambda user: chosen(user, "A guide"),
    "ReadPage": lambda user: told(user, INNS, CAMELS),
}


def test_what_a_page_tells_beside_the_answers_is_a_finding(tmp_path: Path) -> None:
    with FakeModel(answers(points(), **READS)) as server:
        article = storm(server, tmp_path, FakeSearch(web)).write("Silk Road")
    (choice,), (read,), (planned,) = map(server.of, ("ChoosePages", "ReadPage", "FindPoints"))
    assert re.search(r"A guide to the Silk Road \(example.org, 46 words, 100% read\): ", choice.user)
    assert read.user.index(SILK) < read.user.index(INNS) < read.user.index(CAMELS)
    assert f"- {TOLD[SILK]}." in read.user.partition("Passages:")[0]  # known already
    assert TOLD[INNS] in planned.user and TOLD[CAMELS] in planned.user
    (held,) = (own for own in article.conversations if own.perspective.focus == READING)
    assert [sentence.text for turn in held.turns for sentence in turn.answer] == [f"{TOLD[t]}." for t in (INNS, CAMELS)]


def test_what_was_read_is_not_shown_again_for_a_point(tmp_path: Path) -> None:
    said = points(sections=[of_section(1, points=["What carried the goods of the Silk Road?"])])
    reads = {**READS, "AnswerPoints": lambda user: point_answers(told(user, JADE))}
    with FakeModel(answers(said, **reads)) as server:
        storm(server, tmp_path, FakeSearch(web)).write("Silk Road")
    (asked,) = server.of("AnswerPoints")
    assert JADE in asked.user and CAMELS not in asked.user


@pytest.mark.parametrize("given", [{"reading_tokens": 0}, {"reading_tokens": 10}])
def test_no_more_is_read_than_the_setting_says(tmp_path: Path, given: dict[str, int]) -> None:
    with FakeModel(answers(points(), **READS)) as server:
        article = storm(server, tmp_path, FakeSearch(web), **given).write("Silk Road")
    assert not server.of("ReadPage") and article.sections


@pytest.mark.parametrize("reply", ['{"chosen": [99, 0, -1]}', "no", '{"chosen": []}'])
def test_a_choice_of_nothing_or_of_nonsense_reads_no_page(tmp_path: Path, reply: str) -> None:
    with FakeModel(answers(points(), **READS | {"ChoosePages": reply})) as server:
        article = storm(server, tmp_path, FakeSearch(web)).write("Silk Road")
    assert not server.of("ReadPage") and article.sections
    failed = any("no page was read from end to end" in problem.detail for problem in article.report.problems)
    assert failed == (reply == "no")


def test_a_page_says_nothing_and_another_one_fails(tmp_path: Path) -> None:
    reads = {
        "ChoosePages": lambda user: chosen(user, "A guide", "Jade"),
        "ReadPage": lambda user: "" if JADE in user else "The sources do not say.",
    }
    with FakeModel(answers(points(), **reads)) as server:
        article = storm(server, tmp_path, FakeSearch(web)).write("Silk Road")
    assert article.sections and not any(own.perspective.focus == READING for own in article.conversations)
    assert any("reading 'Jade'" in problem.detail for problem in article.report.problems)


def test_of_a_long_page_the_passages_on_the_topic_are_read(tmp_path: Path) -> None:
    filler = [f"The weather of year {n} was mild in the hills, and the harvest was good there." for n in range(46)]
    texts = [*filler[:20], INNS, *filler[20:], CAMELS]
    pages = [Snippet(GUIDE, "A guide to the Silk Road", text, place=i) for i, text in enumerate(texts)]
    with FakeModel(answers(points(), **READS)) as server:
        storm(server, tmp_path, FakeSearch(lambda _: pages), evidence=200, top_k=50).write("Silk Road")
    (read,) = server.of("ReadPage")
    assert read.user.index(INNS) < read.user.index(CAMELS)
    assert sum(text in read.user for text in filler) < 20


@pytest.mark.parametrize("asked", [1, 2])
def test_a_run_that_is_killed_while_it_reads_buys_nothing_twice(tmp_path: Path, asked: int) -> None:
    with FakeModel(answers(points(), **READS)) as server:
        whole = storm(server, tmp_path / "whole", FakeSearch(web)).write("Silk Road")
        calls = len(server.asked)

        class Killing:
            left = asked

            def emit(self, event: object) -> None:
                if isinstance(event, CallFinished) and event.stage == "reading":
                    self.left -= 1
                    if not self.left:
                        killed.stop()

        killed = storm(server, tmp_path, FakeSearch(web), sinks=[Killing()])
        with pytest.raises(StoppedError):
            killed.write("Silk Road")
        article = storm(server, tmp_path, FakeSearch(web)).resume(next((tmp_path / "runs").iterdir()))
        assert len(server.asked) == 2 * calls
    assert article.to_markdown() == whole.to_markdown()
