"""Articles in other languages, from sources in them: nothing is dropped, miscounted or cut for being no English."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from foreign_articles import ARABIC, CHINESE, GERMAN, Language, Told
from llm import FakeModel, default_answers
from test_pipeline import NoContents, markers_resolve

from storm_pipeline import Article, Snippet, Storm
from storm_pipeline.languages import count_words, joined
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.run.events import CallbackSink, Event, Noted
from storm_pipeline.search.fake import FakeSearch

LANGUAGES = [GERMAN, CHINESE, ARABIC]


def scripted(language: Language) -> dict[str, Any]:
    """A model that writes what the language's script says, citing the passages that say it."""

    def cited(user: str, told: Told) -> str:
        lines = re.findall(r"^(?:Passages: )?\[(\d+)\] (.*)$", user, re.M)
        number = next((n for n, text in lines if told.source in text), None)
        return f"{told.written}[{number}]" if number else ""

    def section(user: str) -> str:
        heading = re.findall(r"^Section: (.+)$", user, re.M)[-1]
        own = language.sections[language.outline.index(heading) - 1]
        sentences = [text for told in own if (text := cited(user, told))]
        return joined([*sentences, f"{language.unsupported}[1]"], language.code)

    def places(user: str) -> str:
        """Each finding in the section that tells it."""
        findings = re.findall(r"^(?:Findings: )?\[(\d+)\] (.*)$", user.rpartition("\nFindings:")[2].strip(), re.M)
        own = [[int(n) for n, text in findings if any(told.written in text for told in of)] for of in language.sections]
        return json.dumps(
            {"places": [{"section": s, "findings": numbers} for s, numbers in enumerate(own, 1)], "same": []}
        )

    def answer(user: str) -> str:
        return joined([text for own in language.sections for told in own if (text := cited(user, told))], language.code)

    def question(user: str) -> str:
        return language.farewell if "Expert:" in user else language.question

    sections = [{"title": title, "subsections": []} for title in language.outline]
    return default_answers() | {
        "AskQuestion": question,
        "AnswerFromPassages": answer,
        "DraftOutline": json.dumps({"sections": sections}),
        "RefineOutline": json.dumps({"sections": sections}),
        "PlaceFindings": places,
        "WriteSection": section,
        "AnswerRemarks": language.delete,
        "WriteLead": joined(language.lead, language.code),
    }


def pages(language: Language) -> list[Snippet]:
    return [
        Snippet(f"https://example.org/{n}", f"{language.topic} {n}", told.source)
        for n, told in enumerate((told for own in language.sections for told in own), 1)
    ]


def written(language: Language, tmp_path: Path, **settings: Any) -> tuple[Article, FakeModel, list[Event]]:
    events: list[Event] = []
    with FakeModel(scripted(language)) as server:
        article = Storm(
            lm=server.lm,
            search=FakeSearch(lambda _: pages(language)),
            contents=NoContents(),
            article_language=language.code,
            writing="whole",
            perspectives=0,
            turns=3,
            top_k=5,
            out=tmp_path / "runs",
            cache=tmp_path / "cache",
            sinks=[CallbackSink(events.append)],
            **{"embedder": HashingEmbedder(256), **settings},
        ).write(language.topic)
    return article, server, events


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.code)
def test_an_article_in_another_language_comes_through_whole(language: Language, tmp_path: Path) -> None:
    article, server, _ = written(language, tmp_path)
    assert article.language == language.code
    assert tuple(section.heading for section in article.sections) == language.outline[1:-1]
    for section, told in zip(article.sections, language.sections, strict=True):
        assert [s.text for s in section.sentences()] == [own.written for own in told], article.revisions
    assert [s.text for p in article.lead for s in p.sentences] == [re.sub(r"\[\d+\]", "", s) for s in language.lead]
    assert article.report.dropped_faulty == 0
    assert {r.before for r in article.revisions if r.outcome != "citations"} == {language.unsupported}
    assert article.report.dropped_unsupported == len(article.sections)
    by_url = {source.id: source.snippets[0].text for source in article.sources}
    for section, told in zip(article.sections, language.sections, strict=True):
        for sentence, own in zip(section.sentences(), told, strict=True):
            assert own.source in {by_url[c.source_id] for c in sentence.citations}
    assert all(sentence.citations for sentence in article.sentences())
    assert markers_resolve(article)
    questions = server.of("AskQuestion")
    assert len(questions) == 2  # the farewell ended the interview
    assert len(article.conversations[0].turns) == 1
    assert article.conversations[0].turns[0].question == language.question


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.code)
def test_lengths_are_counted_sensibly(language: Language, tmp_path: Path) -> None:
    article, server, _ = written(language, tmp_path)
    body = sum(count_words(s.text) for section in article.sections for s in section.sentences())
    assert language.words[0] <= body <= language.words[1], body
    held = sum(count_words(page.text) for page in pages(language))
    for asked in server.of("WriteSection"):
        (words,) = {int(n) for n in re.findall(r"^Words: (\d+)$", asked.user, re.M)}
        assert words <= max(60, held)
    assert not any("was merged into" in problem.detail for problem in article.report.problems)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.code)
def test_the_page_is_in_the_articles_language(language: Language, tmp_path: Path) -> None:
    article, _, _ = written(language, tmp_path)
    markdown, html = article.to_markdown(), article.to_html()
    assert f"\n## {language.references}\n" in markdown
    assert f'<html lang="{language.code}">' in html
    assert f'<h2 id="references">{language.references}</h2>' in html
    first = article.sections[0].paragraphs[0].sentences[0].text
    assert re.search(re.escape(first) + r"\[\d\]", markdown)
    assert not re.search(r"\s[。，؟،]", markdown)


def test_a_user_is_told_once_that_the_embedded_encoder_is_english(tmp_path: Path) -> None:
    class Pinned(HashingEmbedder):
        def __init__(self) -> None:
            super().__init__(256)
            self.name = "all-MiniLM-L6-v2+int8"

    def notices(**settings: Any) -> list[str]:
        events = written(GERMAN, tmp_path, **settings)[2]
        return [e.detail for e in events if isinstance(e, Noted) and "encoder" in e.detail]

    (notice,) = notices(embedder=Pinned())
    assert "English" in notice
    assert "German" in notice
    assert "--embedder" in notice
    assert notices() == []
