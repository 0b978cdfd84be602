"""Points: what a reader expects and the interviews leave open is looked up before anything is written."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from llm import Answer, FakeModel, default_answers, point_answers, points
from servers import Reply
from test_pipeline import markers_resolve
from test_pipeline import storm as plain_storm

from storm_pipeline import Article, Snippet, Storm
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.run.events import Searched
from storm_pipeline.sources.search.fake import FakeSearch

SILK = "The Silk Road carried silk from Chang'an to Antioch from the second century BC."
JADE = "The Silk Road carried jade from Khotan to Chang'an long before it carried silk."
INNS = "Inns of the Silk Road stood a day of walking apart, and each of them had a well."
TEXTS = {"silk": SILK, "jade": JADE}
ASKED = "Which stone did the Silk Road carry from Khotan?"
LEFT = "How far apart were the inns of the Silk Road?"
TOLD = {
    SILK: "Silk went from Chang'an to Antioch on the Silk Road from the second century BC",
    JADE: "Jade went from Khotan to Chang'an on the Silk Road long before silk",
    INNS: "Each of the inns of the Silk Road had a well, and they stood a day of walking apart",
}
KINDS = [
    *("white and polished", "grey and raw", "green and cut", "black and broken", "yellow and heavy", "red and cheap"),
    *("blue and scarce", "brown and cracked", "pink and tiny", "purple and famous", "orange and dull", "old and holy"),
]
SECTIONS = [{"title": "Goods", "subsections": []}, {"title": "Routes", "subsections": []}]


def told(user: str, *texts: str) -> str:
    """One sentence for each passage shown, of these texts."""
    lines = re.findall(r"^(?:Passages: )?\[(\d+)\] (.*)$", user, re.M)
    return " ".join(f"{TOLD[text]} [{n}]." for text in texts for n, line in lines if text in line)


def of_section(number: int, **said: Any) -> dict[str, Any]:
    return {"section": number, **said}


def storm(server: FakeModel, tmp_path: Path, found: FakeSearch | None = None, **given: Any) -> Storm:
    def pages(query: str) -> list[Snippet]:
        texts = {"inns": INNS} if "inns" in query else TEXTS
        return [Snippet(f"https://example.org/{name}", name.capitalize(), text) for name, text in texts.items()]

    settings = {"writing": "whole", "perspectives": 0, "turns": 1, "embedder": HashingEmbedder(256)}
    return plain_storm(server, tmp_path, search=found or FakeSearch(pages), **(settings | given))


def answers(said: str, **replies: Answer) -> dict[str, Answer]:
    return default_answers() | {
        "AskQuestion": lambda user: "Thank you so much for your help!" if "Expert:" in user else "What is it?",
        "AnswerFromPassages": lambda user: told(user, SILK),
        "RefineOutline": json.dumps({"sections": SECTIONS}),
        "WriteSection": lambda user: told(user, SILK, JADE, INNS),
        "WriteQueries": lambda user: json.dumps({"queries": [re.findall(r"Question: (.+)", user)[-1]]}),
        "FindPoints": said,
        **replies,
    }


def written(tmp_path: Path, said: str, **replies: Answer) -> tuple[Article, FakeModel, list[Any]]:
    events: list[Any] = []

    class Sink:
        def emit(self, event: Any) -> None:
            events.append(event)

    with FakeModel(answers(said, **replies)) as server:
        article = storm(server, tmp_path, sinks=[Sink()]).write("Silk Road")
    return article, server, events


def searched(events: list[Any]) -> list[str]:
    return [event.query for event in events if isinstance(event, Searched) and event.stage == "look-ups"]


def reader(article: Article) -> list[tuple[str, str]]:
    held = [own for own in article.conversations if own.perspective.name == "Reader"]
    return [(turn.question, turn.answer_text) for own in held for turn in own.turns]


def test_an_expert_sees_what_others_were_told_from_the_same_passages_in_the_turns_before(tmp_path: Path) -> None:
    def asked(user: str) -> str:
        of_inns = ("Perspective: Basic" in user) != ("Expert:" in user)
        return "How far apart were the inns?" if of_inns else "What did it carry?"

    reads = {"AskQuestion": asked, "AnswerFromPassages": lambda user: told(user, SILK, INNS)}
    with FakeModel(answers(points(), **reads)) as server:
        storm(server, tmp_path, perspectives=1, turns=2).write("Silk Road")
    known = [own.user.partition("Passages:")[0] for own in server.of("AnswerFromPassages")]
    assert [f"- {TOLD[SILK]}." in one or f"- {TOLD[INNS]}." in one for one in known] == [False, False, True, True]


def test_who_names_points_sees_outline_findings_sources_and_uncited_pages(tmp_path: Path) -> None:
    _, server, _ = written(tmp_path, points())
    (asked,) = server.of("FindPoints")
    assert re.search(r"^(?:Outline: )?\s*1\. Goods\n\s*2\. Routes$", asked.user, re.M)
    assert re.search(rf"\[1\] {re.escape(TOLD[SILK])}\. \(page 2\)", asked.user)
    pages = asked.user.partition("\nPages:")[2]
    assert pages.index("1. Jade: The Silk Road carried jade") < pages.index("2. Silk: The Silk Road carried silk")


def test_a_point_that_the_run_has_found_already_is_answered_without_a_search(tmp_path: Path) -> None:
    said = points(sections=[of_section(1, points=[ASKED])])
    article, server, events = written(
        tmp_path, said, AnswerPoints=lambda user: point_answers(told(user, JADE) if ASKED in user else "")
    )
    (asked,) = server.of("AnswerPoints")
    assert JADE in asked.user
    assert re.search(r"^Section:\s+Goods$", asked.user, re.M)
    assert not searched(events)
    assert reader(article) == [(ASKED, f"{TOLD[JADE]}.")]
    assert any("Jade" in sentence.text for sentence in article.sentences())
    assert markers_resolve(article)


def test_a_point_that_nothing_found_answers_goes_to_the_web_once(tmp_path: Path) -> None:
    said = points(sections=[of_section(2, points=[LEFT]), of_section(1, points=[ASKED])])
    article, server, events = written(
        tmp_path, said, AnswerPoints=lambda user: point_answers(told(user, INNS if LEFT in user else JADE))
    )
    asked = [one.user for one in server.of("AnswerPoints") if LEFT in one.user]
    assert [INNS in user for user in asked] == [False, True]
    assert not any(JADE in user for user in asked[1:]), "what was shown is not shown again"
    assert searched(events) == [LEFT]
    assert dict(reader(article))[LEFT] == f"{TOLD[INNS]}."
    assert any("inns" in sentence.text for sentence in article.sentences())
    assert markers_resolve(article)


def test_what_the_web_does_not_answer_either_stays_open(tmp_path: Path) -> None:
    said = points(sections=[of_section(2, points=[LEFT])])
    article, server, events = written(tmp_path, said, AnswerPoints=point_answers("The sources do not say."))
    assert len(server.of("AnswerPoints")) == 2
    assert len(searched(events)) == 1
    assert reader(article) == []


def test_numbers_and_questions_that_make_no_sense_are_ignored(tmp_path: Path) -> None:
    said = points(
        sections=[
            of_section(9, points=["Who?"]),
            of_section(-1, points=["Why?"]),
            of_section(1, points=[ASKED, "", ASKED.replace(" ", "  "), *(f"What of no. {n}?" for n in range(9))]),
            of_section(1, first=[99, 0, -4, 1]),
            of_section(0, heading="", after=77),
        ],
        same=[[1, 5], [], [0]],
        contradicting=[[1, 1], [1], [7, 8]],
        doubtful=[-1, 44],
        off_topic=[12],
    )
    article, server, _ = written(tmp_path, said, AnswerPoints=lambda user: point_answers(told(user, JADE)))
    first = server.of("AnswerPoints")[0].user.partition("\nQuestions:")[2]
    assert len(re.findall(r"^ ?\d+\. ", first, re.M)) == 6
    assert "Who?" not in first
    assert [own.title for own in article.outline.sections] == ["Goods", "Routes"]
    assert article.report.left_out == 0
    assert markers_resolve(article)


def test_a_missing_heading_is_added_where_it_belongs_and_its_points_are_looked_up(tmp_path: Path) -> None:
    new = of_section(0, heading="Inns and wells", after=1, points=[LEFT], subheadings=["Wells"])
    said = points(sections=[new, of_section(2, subheadings=["Passes", "Goods"])])
    article, server, _ = written(tmp_path, said, AnswerPoints=lambda user: point_answers(told(user, INNS)))
    (placed, *_) = server.of("PlaceFindings")
    lines = [line.strip() for line in placed.user.partition("Outline:")[2].strip().splitlines()[:3]]
    assert lines == ["1. Goods", "2. Inns and wells (Wells)", "3. Routes (Passes)"]
    asked = server.of("AnswerPoints")[0].user
    assert re.search(r"^Section:\s+Inns and wells$", asked, re.M)
    (outline,) = (tmp_path / "runs").glob("*/outline.md")
    assert outline.read_text("utf-8") == "# Goods\n# Inns and wells\n## Wells\n# Routes\n## Passes"
    assert markers_resolve(article)


def test_a_thin_section_without_an_answer_joins_the_one_before_it(tmp_path: Path) -> None:
    said = points(sections=[of_section(2, is_thin=True, points=[LEFT])])
    written(tmp_path / "open", said)
    written(tmp_path / "told", said, AnswerPoints=lambda user: point_answers(told(user, INNS)))
    outlines = [next((tmp_path / name / "runs").glob("*/outline.md")).read_text("utf-8") for name in ("open", "told")]
    assert outlines == ["# Goods\n## Routes", "# Goods\n# Routes"]


def test_findings_go_where_who_names_points_says_and_answers_where_they_were_asked(tmp_path: Path) -> None:
    said = points(sections=[of_section(1, findings=[1]), of_section(2, findings=[1, 9], points=[ASKED])])
    _, server, _ = written(tmp_path, said, AnswerPoints=lambda user: point_answers(told(user, JADE)))
    assert not server.of("PlaceFindings")
    (evidence,) = (tmp_path / "runs").glob("*/evidence.json")
    found = [(own["heading"], own["findings"]) for own in json.loads(evidence.read_text("utf-8"))]
    assert found == [("Goods", [f"{TOLD[SILK]}."]), ("Routes", [f"{TOLD[JADE]}."])]


@pytest.mark.parametrize(("length", "left_out"), [("100", 6), ("1000", 0)])
def test_findings_that_the_article_has_no_room_for_are_left_out(tmp_path: Path, length: str, left_out: int) -> None:
    stones = [f"The Silk Road carried {three} jade from Khotan" for three in KINDS]

    def answered(user: str) -> str:
        number = next(n for n, line in re.findall(r"^(?:Passages: )?\[(\d+)\] (.*)$", user, re.M) if JADE in line)
        return " ".join(f"{text} [{number}]." for text in stones)

    placed = [4, 3, 5, 6, 1, 8]
    sections = [of_section(1, findings=placed, share=70), of_section(2, findings=[], share=30)]
    said = points(sections=sections, contradicting=[[number, *placed] for number in placed])
    with FakeModel(answers(said, AnswerFromPassages=answered)) as server:
        article = storm(server, tmp_path, length=length).write("Silk Road")
    assert article.report.left_out == left_out
    (asked,) = server.of("FindPoints")
    (room,) = re.findall(r"^Room: (\d+)$", asked.user, re.M)
    assert (int(room) < len(stones)) == bool(left_out)
    shown = "".join(one.user.partition("\nFindings:")[2] for one in server.of("WriteSection"))
    assert shown.count("Contradict each other: ") <= len(stones)
    told_of = [text for text in stones if f"- {text}." in shown]
    assert told_of == [stones[0], *stones[2:6], stones[7]] if left_out else len(told_of) > len(stones) // 2


def test_what_nobody_answers_is_searched_for_by_the_queries_named_with_it(tmp_path: Path) -> None:
    queries = ["  wells and inns ", "wells and inns", "inns of Asia"]
    unanswered = json.dumps({"answers": [{"point": 1, "answer": "", "queries": queries}]})
    said = points(sections=[of_section(1, points=[LEFT])])
    article, server, events = written(
        tmp_path, said, AnswerPoints=lambda user: point_answers(told(user, INNS)) if INNS in user else unanswered
    )
    assert searched(events) == ["wells and inns", "inns of Asia"]
    assert not any(LEFT in one.user for one in server.of("WriteQueries"))
    (held,) = [own for own in article.conversations if own.perspective.name == "Reader"]
    assert held.turns[0].queries == ("wells and inns", "inns of Asia")


def test_where_an_answer_fails_its_points_go_to_the_web(tmp_path: Path) -> None:
    said = points(sections=[of_section(2, points=[LEFT])])
    replies = answers(said, AnswerPoints=lambda user: point_answers(told(user, INNS)))
    with FakeModel(replies, faults={"AnswerPoints": [Reply(400, {"error": {"message": "no"}})]}) as server:
        article = storm(server, tmp_path).write("Silk Road")
    assert dict(reader(article)) == {LEFT: f"{TOLD[INNS]}."}
    assert any("points of section 'Routes'" in problem.detail for problem in article.report.problems)
