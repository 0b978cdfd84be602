"""Long answers: a search for the question, an outline whose points name their passages, a checked and cited text."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from llm import FakeModel, from_facts
from test_pipeline import folder, markers_resolve, storm
from test_recipes import asked, written
from test_resume import answers

from storm_pipeline import Article, BudgetSpentError, RunError, SettingsError, Storm
from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.listing import run_entry
from storm_pipeline.types import Citation, Paragraph, Section, Sentence, Snippet, Source

QUESTION = "Silk Road"
"""What the test's search engine knows something about."""
POINTS = [
    {"text": "Silk was the first of the goods.", "passages": [2, 1]},
    {"text": "Caravans carried it.", "passages": [3, 3, 99, 0]},
]


def test_the_text_is_written_along_an_outline_whose_points_name_passages_and_which_is_kept(tmp_path: Path) -> None:
    with FakeModel({"OutlineText": json.dumps({"pattern": "comparative", "points": POINTS})}) as server:
        article = storm(server, tmp_path).answer(QUESTION)
    (outlined,) = server.of("OutlineText")
    text = server.of("AnswerQuestion")[0].user
    plan = text.partition("Plan:")[2]
    assert "Order: comparative\n1. Silk was the first of the goods. [2][1]\n2. Caravans carried it. [3]" in plan
    assert passages_of(text) == passages_of(outlined.user) != [], "the expansion sees all that the outline saw"
    assert article.title == QUESTION
    assert article.sections
    assert markers_resolve(article)
    assert asked(server).keys() == {"WriteQueries", "OutlineText", "AnswerQuestion", "CheckSentences"}
    kept = json.loads((folder(tmp_path) / "plan.json").read_text("utf-8"))
    assert (kept["pattern"], [point["text"] for point in kept["points"]]) == (
        "comparative",
        [p["text"] for p in POINTS],
    )
    assert [len(point["sources"]) for point in kept["points"]] == [2, 1]
    assert {url for point in kept["points"] for url in point["sources"]} <= {source.url for source in article.sources}


def passages_of(user: str) -> list[str]:
    return re.findall(r"^(?:Passages: )?(\[\d+\] .+)$", user.partition("Plan:")[0], re.M)


@pytest.mark.parametrize(("length", "words"), [("short", 165), ("standard", 440), ("200", 220)])
def test_an_answer_is_shorter_than_an_article(server: FakeModel, tmp_path: Path, length: str, words: int) -> None:
    storm(server, tmp_path, length=length, top_k=40, evidence=6000).answer(QUESTION)
    (asked_for,) = re.findall(r"^Words: (\d+)$", server.of("AnswerQuestion")[0].user, re.M)
    assert int(asked_for) <= words
    assert int(asked_for) > words / 3


def test_answers_of_interviews_and_sections_are_outlined_if_that_is_set(tmp_path: Path) -> None:
    article, server, _ = written("storm", tmp_path / "a", writing="whole", answers="outlined")
    plain, other, _ = written("storm", tmp_path / "b", writing="whole")
    assert markers_resolve(article)
    assert [section.heading for section in article.sections] == [section.heading for section in plain.sections]
    for signature, reason in (("AnswerFromPassages", "Question:"), ("WriteSection", "Section:")):
        assert (new := server.of(signature))
        assert all("Plan:\nOrder: cause-effect\n1. " in one.user for one in new)
        assert len([one for one in server.of("OutlineText") if reason in one.user]) == len(new)
    assert not other.of("OutlineText")


FOLLOW_UP = "Who travelled the road?"
SMALL: dict[str, Any] = {"perspectives": 0, "turns": 1}


def answered_folder(place: Path) -> Path:
    return next(path for path in (place / "runs").iterdir() if path.is_dir())


def test_a_question_is_answered_from_the_articles_sources_and_paid_once(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:
        article = storm(server, tmp_path, **SMALL).write("Silk Road", "storm")
        run, asked = answered_folder(tmp_path), len(server.asked)
        before, state = run_entry(run), json.loads((run / "run.json").read_text())
        searches = (run / "events.jsonl").read_text().count('"Searched"')
        answer = storm(server, tmp_path, **SMALL).ask(run, FOLLOW_UP)
        assert [one.signature for one in server.asked[asked:]] == ["AnswerFromPassages"]
        assert f"Question: {FOLLOW_UP}" in server.asked[-1].user
        places: dict[str, Any] = {"out": tmp_path / "runs", "cache": tmp_path / "cache"}
        again = Storm(lm=server.lm, embedder=HashingEmbedder(), **places).ask(str(run), f" {FOLLOW_UP} ")
        assert len(server.asked) == asked + 1
    assert again == answer
    assert (answer.title, answer.note, answer.usage.calls) == (FOLLOW_UP, "", 1)
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
        "Who paid for it?": "**The sources do not say.**",
        "What did it cost?": "Dragons guarded every bridge of it in 1805 [1].",
    }

    def reply(user: str) -> str:
        return next((text for question, text in said.items() if question in user), None) or from_facts(user)

    with FakeModel(answers() | {"AnswerFromPassages": reply}) as server:
        article = storm(server, tmp_path, **SMALL).write("Silk Road", "storm")
        runs = storm(server, tmp_path, **SMALL)
        told = runs.ask(article, FOLLOW_UP)
        others = [runs.ask(article, question) for question in said]
    assert list(told.sentences())
    for answer in others:
        assert not list(answer.sentences())
        assert answer.note == "The article's sources do not say."
        assert not answer.sources
    assert len(list((tmp_path / "runs").iterdir())) == 1  # a question about an article leaves no answered_folder


def test_without_a_model_the_nearest_sentences_are_quoted(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:
        article = storm(server, tmp_path, **SMALL).write("Silk Road", "storm")
        without = storm(server, tmp_path, writing="sentences", **SMALL)
        asked = len(server.asked)
        answer = without.ask(article, FOLLOW_UP)
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
    source = Source("a", "https://a.org", "Road", passages, ("https://b.org",))
    cited = Sentence(passages[0].text, (Citation("a", passages[0].id),))
    article = Article("Silk Road", sections=(Section("Trade", (Paragraph((cited,)),)),), sources=(source,))
    counting = Counting()
    with FakeModel(answers()) as server:
        answer = storm(server, tmp_path, embedder=counting, **SMALL).ask(article, "Who crossed pass 777?")
    assert "pass 777" in server.asked[-1].user
    assert list(answer.sentences())
    assert counting.count < 500
    assert [source.also for source in answer.sources] == [()], "the article cites another passage"


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:
        runs = storm(server, tmp_path, **SMALL)
        with pytest.raises(SettingsError, match="empty"):
            runs.ask(Article("Silk Road"), "  ")
        with pytest.raises(RunError, match="not a run's folder"):
            runs.ask(tmp_path, FOLLOW_UP)
        runs.outline("Silk Road")
        with pytest.raises(RunError, match="no article"):
            runs.ask(answered_folder(tmp_path), FOLLOW_UP)
        assert runs.ask(Article("Silk Road"), FOLLOW_UP).note == "The article's sources do not say."


def test_the_baseline_differs_by_the_outline_alone(tmp_path: Path) -> None:
    _, outlined, queries = written("answer", tmp_path / "a", writing="whole")
    _, plain, same = written("answer-no-outline", tmp_path / "b", writing="whole")
    assert queries == same
    assert queries[0] == QUESTION, "the question itself is searched for"
    assert not plain.of("OutlineText")
    with_plan, without = outlined.of("AnswerQuestion")[0].user, plain.of("AnswerQuestion")[0].user
    assert with_plan.startswith(without)
    assert with_plan[len(without) :].lstrip().startswith("Plan:")


def test_questions_count_in_the_caps_of_the_run(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:
        storm(server, tmp_path, **SMALL).write("Silk Road", "storm")
        run = answered_folder(tmp_path)
        used = run_entry(run).usage
        assert used
        capped = storm(server, tmp_path, max_tokens=used.tokens_in + used.tokens_out + 1, **SMALL)
        with pytest.raises(BudgetSpentError):
            capped.ask(run, FOLLOW_UP)
    assert run_entry(run).state == "finished"
