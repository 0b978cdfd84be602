"""Articles in other languages, from sources in them: nothing is dropped, miscounted or cut for being no English."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from foreign_articles import ARABIC, GERMAN, JAPANESE, Language, Told
from llm import FakeModel, default_answers
from test_pipeline import markers_resolve, storm

from storm_pipeline import Article, Snippet
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.run.events import CallbackSink, Event, Noted
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.text.languages import join_sentences

LANGUAGES = [GERMAN, JAPANESE, ARABIC]
FAREWELL = "Thank you so much for your help!"  # which the prompt asks for in English


def scripted(language: Language) -> dict[str, Any]:
    """A model that writes what the language's script says, citing the passages that say it, and one wrong number."""
    facts = [told for own in language.sections for told in own]
    last = facts[-1]

    def text(user: str, written: list[Told]) -> str:
        lines = re.findall(r"^(?:Passages: )?\[(\d+)\] (.*)$", user, re.M)
        cited = [f"{one.written}[{n}]" for one in written for n, line in lines if one.source[:24] in line]
        return join_sentences(cited, language.code)

    def section(user: str) -> str:
        heading = re.findall(r"^Section:\s+(.+)$", user, re.M)[-1]
        own = language.sections[language.outline.index(heading) - 1]
        return text(user, [*own, *([Told(last.source, language.wrong)] if last in own else [])])

    def places(user: str) -> str:
        """Each finding in the section that tells it."""
        findings = re.findall(r"^(?:Findings: )?\[(\d+)\] (.*)$", user.rpartition("\nFindings:")[2].strip(), re.M)
        own = [[int(n) for n, line in findings if any(told.written in line for told in of)] for of in language.sections]
        placed = [{"section": number, "findings": numbers} for number, numbers in enumerate(own, 1)]
        return json.dumps({"places": placed, "same": []})

    def deleted(user: str) -> str:
        numbers = re.findall(r"^ ?(\d+)\. ", user.partition("\nRemarks:")[2], re.M)
        return "\n".join(f"{number}: delete" for number in numbers)

    outline = json.dumps({"sections": [{"title": title, "subsections": []} for title in language.outline]})
    return default_answers() | {
        "AskQuestion": lambda user: FAREWELL if "Expert:" in user else language.question,
        "AnswerFromPassages": lambda user: text(user, facts),
        "DraftOutline": outline,
        "RefineOutline": outline,
        "PlaceFindings": places,
        "WriteSection": section,
        "AnswerRemarks": deleted,
        "WriteLead": join_sentences(language.lead, language.code),
    }


@dataclass(frozen=True)
class Made:
    language: Language
    pages: list[Snippet]
    article: Article
    server: FakeModel
    events: list[Event]


def written(language: Language, tmp_path: Path, **settings: Any) -> Made:
    facts = [told for own in language.sections for told in own]
    pages = [Snippet(f"https://example.org/{n}", language.topic, told.source) for n, told in enumerate(facts, 1)]
    events: list[Event] = []
    with FakeModel(scripted(language)) as server:
        chosen = {"article_language": language.code, "writing": "whole", "perspectives": 0, "top_k": 6}
        chosen |= {"search": FakeSearch(lambda _: pages), "sinks": [CallbackSink(events.append)]}
        article = storm(server, tmp_path, **chosen, **{"embedder": HashingEmbedder(256)} | settings).write(
            language.topic
        )
    return Made(language, pages, article, server, events)


@pytest.fixture(scope="module", params=LANGUAGES, ids=lambda language: language.code)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    return written(request.param, tmp_path_factory.mktemp("run"))


def test_an_article_in_another_language_comes_through_whole(made: Made) -> None:
    language, article = made.language, made.article
    assert article.language == language.code
    assert tuple(section.heading for section in article.sections) == language.outline[1:-1]
    assert [[one.text for one in own.sentences()] for own in article.sections] == [
        [told.written for told in section] for section in language.sections
    ], article.revisions
    assert [s.text for p in article.lead for s in p.sentences] == [re.sub(r"\[\d+\]", "", s) for s in language.lead]
    assert article.report.dropped_faulty == 0
    assert all(sentence.citations for sentence in article.sentences())
    assert markers_resolve(article)
    assert len(made.server.of("AskQuestion")) == 2  # the farewell ended the interview
    (turn,) = article.conversations[0].turns
    assert turn.question == language.question
    urls = {source.id: source.url for source in article.sources}
    facts = enumerate((told for own in language.sections for told in own), 1)
    right = {told.written: {f"https://example.org/{n}"} for n, told in facts}
    assert [one.text for one in turn.answer] == list(right)
    for one in (*turn.answer, *(one for own in article.sections for one in own.sentences())):
        assert {urls[citation.source_id] for citation in one.citations} == right[one.text]


def test_right_numbers_pass_and_a_wrong_one_is_remarked_on(made: Made) -> None:
    wrong = made.language.wrong
    (remarks,) = (asked.user.partition("\nRemarks:")[2] for asked in made.server.of("AnswerRemarks"))
    (remark,) = re.findall(r"^ ?\d+\. (.*)$", remarks, re.M)
    assert remark.startswith(wrong)
    assert made.language.number in remark.removeprefix(wrong)
    assert {revision.before for revision in made.article.revisions if revision.outcome != "citations"} == {wrong}
    assert made.article.report.dropped_unsupported == 1


def test_a_user_is_told_once_that_the_embedded_encoder_is_english(tmp_path: Path) -> None:
    def notices(name: str) -> list[str]:
        embedder = HashingEmbedder(256)
        embedder.name = name
        events = written(GERMAN, tmp_path, embedder=embedder).events
        return [e.detail for e in events if isinstance(e, Noted) and "encoder" in e.detail]

    (notice,) = notices("all-MiniLM-L6-v2")
    assert "English" in notice
    assert "German" in notice
    assert "--embedder" in notice
    assert notices("mine") == []
