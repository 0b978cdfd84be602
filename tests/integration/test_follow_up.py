"""Questions about an article, answered from its own sources."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from llm import FakeModel, from_facts
from test_pipeline import storm
from test_resume import answers

from storm_pipeline import Article, BudgetSpentError, RunError, SettingsError, Storm
from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.listing import run_entry
from storm_pipeline.types import Citation, Paragraph, Section, Sentence, Snippet, Source

QUESTION = "Who travelled the road?"
SMALL: dict[str, Any] = {"perspectives": 0, "turns": 1}


def folder(place: Path) -> Path:
    return next(path for path in (place / "runs").iterdir() if path.is_dir())


def test_a_question_is_answered_from_the_articles_sources_and_paid_once(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:
        article = storm(server, tmp_path, **SMALL).write("Silk Road", "storm")
        run, asked = folder(tmp_path), len(server.asked)
        before, state = run_entry(run), json.loads((run / "run.json").read_text())
        searches = (run / "events.jsonl").read_text().count('"Searched"')
        answer = storm(server, tmp_path, **SMALL).ask(run, QUESTION)
        assert [one.signature for one in server.asked[asked:]] == ["AnswerFromPassages"]
        assert f"Question: {QUESTION}" in server.asked[-1].user
        places: dict[str, Any] = {"out": tmp_path / "runs", "cache": tmp_path / "cache"}
        again = Storm(lm=server.lm, embedder=HashingEmbedder(), **places).ask(str(run), f" {QUESTION} ")
        assert len(server.asked) == asked + 1
    assert again == answer
    assert (answer.title, answer.note, answer.usage.calls) == (QUESTION, "", 1)
    sentences = list(answer.sentences())
    assert sentences
    assert all(sentence.citations for sentence in sentences)
    known = {source.id: {s.id for s in source.snippets} for source in article.sources}
    assert all(c.snippet_id in known[c.source_id] for s in sentences for c in s.citations)
    assert answer.to_markdown().count("## References") == 1
    after = run_entry(run)
    assert after.usage
    assert before.usage
    assert after.usage.calls == before.usage.calls + 1
    assert (after.state, after.sessions, after.reason) == ("finished", before.sessions, "")
    assert json.loads((run / "run.json").read_text()) == state
    assert (run / "events.jsonl").read_text().count('"Searched"') == searches


def test_what_the_model_says_decides(tmp_path: Path) -> None:
    said = {
        "Who paid for it?": "The sources do not say.",
        "What did it cost?": "Dragons guarded every bridge of it in 1805 [1].",
    }

    def reply(user: str) -> str:
        return next((text for question, text in said.items() if question in user), None) or from_facts(user)

    with FakeModel(answers() | {"AnswerFromPassages": reply}) as server:
        article = storm(server, tmp_path, **SMALL).write("Silk Road", "storm")
        runs = storm(server, tmp_path, **SMALL)
        told = runs.ask(article, QUESTION)
        others = [runs.ask(article, question) for question in said]
    assert list(told.sentences())
    for answer in others:
        assert not list(answer.sentences())
        assert answer.note == "The article's sources do not say."
        assert not answer.sources
    assert len(list((tmp_path / "runs").iterdir())) == 1  # a question about an article leaves no folder


def test_without_a_model_the_nearest_sentences_are_quoted(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:
        article = storm(server, tmp_path, **SMALL).write("Silk Road", "storm")
        without = storm(server, tmp_path, writing="sentences", **SMALL)
        asked = len(server.asked)
        answer = without.ask(article, QUESTION)
        assert len(server.asked) == asked
    texts = {snippet.id: snippet.text for source in article.sources for snippet in source.snippets}
    assert "No language model is set" in answer.note
    assert list(answer.sentences())
    for sentence in answer.sentences():
        assert all(sentence.text in texts[citation.snippet_id] for citation in sentence.citations)


class Counting(HashingEmbedder):
    """An embedder that counts its texts."""

    count = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Count the texts and embed them."""
        self.count += len(texts)
        return super().embed(texts)


def test_of_very_many_passages_only_those_near_by_words_are_embedded(tmp_path: Path) -> None:
    passages = tuple(Snippet("https://a.org", "Road", f"In {n} traders crossed pass {n}.", place=n) for n in range(900))
    source = Source("a", "https://a.org", "Road", passages)
    cited = Sentence(passages[0].text, (Citation("a", passages[0].id),))
    article = Article("Silk Road", sections=(Section("Trade", (Paragraph((cited,)),)),), sources=(source,))
    counting = Counting()
    with FakeModel(answers()) as server:
        answer = storm(server, tmp_path, embedder=counting, **SMALL).ask(article, "Who crossed pass 777?")
    assert "pass 777" in server.asked[-1].user
    assert list(answer.sentences())
    assert counting.count < 500


def test_questions_count_in_the_caps_of_the_run(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:
        storm(server, tmp_path, **SMALL).write("Silk Road", "storm")
        run = folder(tmp_path)
        used = run_entry(run).usage
        assert used
        capped = storm(server, tmp_path, max_tokens=used.tokens_in + used.tokens_out + 1, **SMALL)
        with pytest.raises(BudgetSpentError):
            capped.ask(run, QUESTION)
    assert run_entry(run).state == "finished"


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:
        runs = storm(server, tmp_path, **SMALL)
        with pytest.raises(SettingsError, match="empty"):
            runs.ask(Article("Silk Road"), "  ")
        with pytest.raises(RunError, match="not a run's folder"):
            runs.ask(tmp_path, QUESTION)
        runs.outline("Silk Road")
        with pytest.raises(RunError, match="no article"):
            runs.ask(folder(tmp_path), QUESTION)
        assert runs.ask(Article("Silk Road"), QUESTION).note == "The article's sources do not say."
