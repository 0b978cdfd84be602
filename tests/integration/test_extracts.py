"""Extracts (writing: sentences): what their model decides, by models that decide well, badly, or not at all."""

import json
import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from found_pages import world
from llm import Answer, FakeModel
from test_pipeline import NoContents

from storm_pipeline import Article, Storm
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.search.fake import FakeSearch

WORDS = "lamp turnip ladder umbrella walrus piano gravel onion kettle violin badger cellar".split()
SIDES = "dredging ferries storms trade lighthouses fishing".split()


def nonsense(user: str) -> random.Random:
    """A generator that makes the same nonsense of the same prompt."""
    return random.Random(user)


NONSENSE: dict[str, Answer] = {
    "AskQuestion": lambda user: f"{' '.join(nonsense(user).sample(WORDS, 5)).capitalize()}?",
    "WriteQueries": lambda user: json.dumps({"queries": [" ".join(nonsense(user).sample(WORDS, 3))] * 2}),
    "NameGroups": lambda user: json.dumps({"headings": [word.title() for word in nonsense(user).sample(WORDS, 3)]}),
}


def extract(folder: Path, answers: Mapping[str, Answer], topic: str = "Silk Road", **settings: object) -> Article:
    given: dict[str, object] = {"search": FakeSearch(world), "perspectives": 1, "turns": 2, **settings}
    given |= {"out": folder / "runs", "cache": folder / "cache", "embedder": HashingEmbedder(), "call_attempts": 1}
    given["contents"] = NoContents()
    with FakeModel(answers) as server:
        return Storm(lm=server.lm, writing="sentences", **given).write(topic)  # type: ignore[arg-type]


def below_the_lead(article: Article) -> list[tuple[str, list[str]]]:
    return [(own.heading, [sentence.text for sentence in own.sentences()]) for own in article.sections]


def test_a_model_that_answers_nonsense_writes_other_sections(tmp_path: Path) -> None:
    """It names other sections, and finds and tells other sentences."""
    good = below_the_lead(extract(tmp_path / "good", {}))
    bad = below_the_lead(extract(tmp_path / "bad", NONSENSE))
    assert good
    assert not {heading for heading, _ in good} & {heading for heading, _ in bad}
    told, other = ({text for _, texts in own for text in texts} for own in (good, bad))
    assert told != other


def test_what_a_model_leaves_undecided_is_titles_of_sources_and_reported(tmp_path: Path) -> None:
    article = extract(tmp_path, {"NameGroups": "walrus"})
    assert any("the headings are titles of sources" in str(problem) for problem in article.report.problems)
    assert article.lead


def document(side: str) -> str:
    """A Markdown document of some 280 words on a side of a harbour."""
    rng, about = random.Random(side), ("harbour office", "council", "guild", "company", "state", "town")
    told = "The {who} of the {verb} {side} at Port Averil harbour in {year}, when {n} boats lay at the {where} quay."
    verbs = "opened taxed rebuilt forbade leased surveyed".split()
    lines = [
        told.replace(" of the ", " ", 1).format(
            who=rng.choice(about),
            verb=rng.choice(verbs),
            side=side,
            year=1700 + 17 * i,
            n=3 + i,
            where=rng.choice(WORDS),
        )
        for i in range(14)
    ]
    return f"# The {side}\n\n{' '.join(lines)}\n"


@pytest.mark.parametrize("topic", ["Port Averil harbour", "Harbour of Port Averil"])
def test_six_good_documents_make_three_sections_of_four_hundred_true_words(tmp_path: Path, topic: str) -> None:
    """Also where no document has the topic's very name."""
    papers = {side: document(side) for side in SIDES}
    (tmp_path / "papers").mkdir()
    for side, paper in papers.items():
        assert 250 <= len(paper.split()) <= 300
        (tmp_path / "papers" / f"{side}.md").write_text(paper, encoding="utf-8")
    headings = json.dumps({"headings": ["Trade and fishing", "Ferries and dredging", "Storms and lighthouses"]})
    article = extract(tmp_path, {"NameGroups": headings}, topic, search=f"corpus:{tmp_path / 'papers'}")
    told = [text for _, texts in below_the_lead(article) for text in texts]
    assert len(article.sections) >= 3
    assert sum(len(text.split()) for text in told) >= 400
    assert all(any(text in paper for paper in papers.values()) for text in told)
    assert not any("#" in text for text in told)


@pytest.mark.parametrize("reply", ["walrus", json.dumps({"headings": ["Ships and storms"]})])
def test_groups_without_a_heading_of_their_own_lose_no_sentence_and_are_reported(tmp_path: Path, reply: str) -> None:
    """All of them have the title of the one document."""
    (tmp_path / "papers").mkdir()
    sides = "\n\n".join(document(side).partition("\n\n")[2] for side in SIDES)
    (tmp_path / "papers" / "harbour.md").write_text(f"# Port Averil\n\n{sides}", encoding="utf-8")
    search = f"corpus:{tmp_path / 'papers'}"
    good = extract(tmp_path / "good", {}, "Port Averil harbour", search=search)
    bad = extract(tmp_path / "bad", {"NameGroups": reply}, "Port Averil harbour", search=search)
    told, other = ({text for _, texts in below_the_lead(own) for text in texts} for own in (good, bad))
    assert len(good.sections) > 1
    assert other == told
    headings = [heading for heading, _ in below_the_lead(bad)]
    assert "Port Averil" in headings
    assert len(set(headings)) == len(headings)
    assert any("titles of sources" in str(problem) for problem in bad.report.problems)
