"""The second round of research: what was found and not used is asked for and reaches the article."""

import json
import re
from pathlib import Path

import pytest
from llm import Answer, FakeModel, default_answers
from test_pipeline import NoContents, markers_resolve

from storm_pipeline import Article, Snippet, Storm
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.search.fake import FakeSearch

SILK = "The Silk Road carried silk from Chang'an to Antioch from the second century BC."
JADE = "The Silk Road carried jade from Khotan to Chang'an long before it carried silk."
MENU = "Silk Road News Sport Business Travel Culture Weather Shop Jobs Podcasts Video Newsletters Archive Login Contact"
ASKED = "Which stone did the Silk Road carry from Khotan?"


def told(user: str) -> str:
    """One sentence per passage shown, of these two."""
    lines = re.findall(r"^(?:Passages: )?\[(\d+)\] (.*)$", user, re.M)
    written = {SILK: "Silk went from Chang'an to Antioch on the Silk Road", JADE: "Jade went from Khotan to Chang'an"}
    return " ".join(f"{written[s]} [{n}]." for n, text in lines for s in written if s in text)


def only_silk(user: str) -> str:
    """A writer that overlooks jade."""
    return " ".join(sentence for sentence in re.split(r"(?<=\]\.) ", told(user)) if sentence.startswith("Silk"))


def written(tmp_path: Path, also: str = "", **replies: Answer) -> tuple[Article, FakeModel]:
    """``also``: what the page on silk says besides."""

    def found(query: str) -> list[Snippet]:
        if "stone" in query:
            return []
        texts = {"silk": f"{SILK} {also}".strip(), "jade": JADE, "menu": MENU}
        return [Snippet(f"https://example.org/{name}", name.capitalize(), text) for name, text in texts.items()]

    answers = default_answers() | {
        "AnswerFromPassages": lambda user: told(user) if "stone" in user else only_silk(user),
        "WriteSection": only_silk,
        "FindOpenQuestions": json.dumps({"questions": [ASKED]}),
        "ReviseSection": told,
        **replies,
    }
    with FakeModel(answers) as server:
        article = Storm(
            lm=server.lm,
            search=FakeSearch(found),
            contents=NoContents(),
            embedder=HashingEmbedder(256),
            writing="whole",
            perspectives=0,
            turns=1,
            out=tmp_path / "runs",
            cache=tmp_path / "cache",
        ).write("Silk Road")
    return article, server


def test_who_asks_in_the_second_round_sees_what_the_draft_does_not_cite(tmp_path: Path) -> None:
    _, server = written(tmp_path)
    (asked,) = server.of("FindOpenQuestions")
    (unused,) = re.findall(r"^Unused: (.*)$", asked.user, re.M)
    assert JADE in unused
    assert "Podcasts" not in unused
    assert SILK not in asked.user


def test_what_whoever_asks_was_shown_is_shown_for_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.steps.later_rounds._STORED", 0)
    _, server = written(tmp_path)
    (answered,) = [asked.user for asked in server.of("AnswerFromPassages") if ASKED in asked.user]
    assert JADE in answered


def test_what_an_earlier_search_found_answers_a_later_question(tmp_path: Path) -> None:
    article, server = written(tmp_path)
    (answered,) = [asked.user for asked in server.of("AnswerFromPassages") if ASKED in asked.user]
    assert JADE in answered
    (revised, *_) = server.of("ReviseSection")
    assert JADE in revised.user
    assert any("Jade" in sentence.text for sentence in article.sentences())
    assert markers_resolve(article)


def test_an_unusable_revision_leaves_the_section_as_it_was(tmp_path: Path) -> None:
    article, server = written(tmp_path, ReviseSection="I am sorry, but I cannot help with this.")
    assert server.of("ReviseSection")
    assert any("Silk" in sentence.text for sentence in article.sentences())
    kept = [problem.detail for problem in article.report.problems if "kept as it was" in problem.detail]
    assert kept
    assert not any("left out" in problem.detail for problem in article.report.problems)
    assert markers_resolve(article)
