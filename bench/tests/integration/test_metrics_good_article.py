"""Good Article criteria against the human article, by judges that answer by rule."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from articles import section
from judge_llm import FakeModel, compared
from scored_articles import case

from storm_bench.errors import MetricError
from storm_bench.judges.model_judge import JudgeModel, open_judge
from storm_bench.metrics.base import Score
from storm_bench.metrics.good_article import CRITERIA, GROUPS, MEASURES, good_article
from storm_bench.types import Case, HumanArticle, HumanSection
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.open_models import open_models
from storm_pipeline.run.events import CallbackSink, Degraded, Events
from storm_pipeline.settings import Settings
from storm_pipeline.types import Sentence

HUMAN = HumanArticle(
    "Lake Orrin",
    lead="Lake Orrin is a lake in Valmere.[1]",
    sections=(HumanSection("History", "The dam was begun in 1931.", (HumanSection("Families", "400 moved away."),)),),
)
SHORT = "Lake Orrin is wet."


def beside(human: HumanArticle, *sections: str, lead: str = SHORT) -> Case:
    """A generated article beside a human one; each section is a text of sentences that end with full stops."""
    parts = (section(f"Part {n}", *re.findall(r"\S[^.]*\.", text)) for n, text in enumerate(sections))
    own = case(*parts, lead=(Sentence(lead),) if lead else ())
    return replace(own, topic=replace(own.topic, human=human))


CASE = beside(HUMAN)


@pytest.fixture(autouse=True)
def settings(tmp_path: Path) -> Settings:
    return Settings.build({"lm_timeout": 5, "call_attempts": 1, "parse_attempts": 2, "cache": tmp_path})


def judged(
    settings: Settings, better: Callable[[str, str, str], str], *cases: Case, longest: int = 8000
) -> tuple[list[Score], FakeModel]:
    with FakeModel({"CompareArticles": lambda user: compared(user, better)}) as server:
        return good_article(open_judge(server.lm, settings), longest=longest).score(cases), server


def test_the_prompts_of_a_pair(settings: Settings) -> None:
    _, server = judged(settings, lambda *_: "tie", CASE)
    assert len(server.asked) == 6
    human = (
        "Lake Orrin is a lake in Valmere.\n\n# History\n\nThe dam was begun in 1931.\n\n## Families\n\n400 moved away."
    )
    prompts = [asked.user for asked in server.asked]
    for shown in (
        f"Topic: Lake Orrin\nArticle a: {SHORT}\nArticle b:\n{human}\nCriteria:\n",
        f"Topic: Lake Orrin\nArticle a:\n{human}\nArticle b: {SHORT}\nCriteria:\n",
    ):
        own = [prompt.removeprefix(shown) for prompt in prompts if prompt.startswith(shown)]
        assert sorted(text for one in own for text in re.findall(r"^\d+\. (.+)$", one, re.M)) == sorted(
            text for *_, text in CRITERIA
        )
        assert all(one.startswith("1. ") and len(one.splitlines()) == 13 for one in own)
    assert "[shortened here]" in server.asked[0].messages[0][1], "the note on cuts is explained"


def test_a_judge_that_always_prefers_the_first_finds_ties_and_is_biased(settings: Settings) -> None:
    (found,), _ = judged(settings, lambda *_: "A", CASE)
    values = (1 / 2, 0, 1, 0, 1, 1, *(1 / 2 for _ in GROUPS))
    assert found == dict(zip((measure.name for measure in MEASURES), values, strict=True))


def test_a_judge_that_prefers_the_longer(settings: Settings) -> None:
    longer = beside(
        HUMAN, "The dam was begun in 1931 by the Orrin Company, and it was ready in 1935.", lead="A lake. " * 9
    )
    (first, second), _ = judged(settings, lambda a, b, _: "A" if len(a) > len(b) else "B", CASE, longer)
    assert (first["good_article_lm"], first["good_article_losses_lm"], first["good_article_bias_lm"]) == (0, 1, 0)
    assert (second["good_article_lm"], second["good_article_wins_lm"], second["good_article_bias_lm"]) == (1, 1, 0)


def test_groups_and_shares_follow_the_criteria(settings: Settings) -> None:
    """The generated article wins on headings and the lead's length, and loses on spelling; the rest is tied."""

    def better(a: str, b: str, text: str) -> str:
        generated, human = ("A", "B") if a == SHORT else ("B", "A")
        if text.startswith("Headings") or "lead's length" in text:
            return generated
        return human if text.startswith("Spelling") else "tie"

    (found,), _ = judged(settings, better, CASE)
    assert found["good_article_wins_lm"] == 2 / 39
    assert found["good_article_losses_lm"] == 1 / 39
    assert found["good_article_ties_lm"] == 36 / 39
    assert found["good_article_lm"] == pytest.approx((2 + 18) / 39)
    assert found["good_article_layout_lm"] == pytest.approx((1 + 3 / 2) / 4)
    assert found["good_article_lead_lm"] == pytest.approx((1 + 4 / 2) / 5)
    assert found["good_article_prose_lm"] == pytest.approx((6 / 2) / 7)
    assert found["good_article_breadth_lm"] == 1 / 2


def test_articles_without_text_are_not_compared(settings: Settings) -> None:
    empty = (beside(HUMAN, lead=""), beside(HumanArticle("Lake Orrin"), "Text."))
    found, server = judged(settings, lambda *_: "A", *empty)
    assert all(set(score.values()) == {None} for score in found)
    assert not server.asked


def verdicts(*numbers: int, better: str = "A") -> str:
    return json.dumps({"verdicts": [{"criterion": n, "reason": "So.", "better": better} for n in numbers]})


@pytest.mark.parametrize(
    "reply",
    [
        "Article A is better.",
        verdicts(*range(1, 13)),
        verdicts(*range(1, 15)),
        verdicts(*range(1, 13), 12),
        verdicts(*range(1, 14), better="both"),
        '{"verdicts": []}',
    ],
)
def test_a_reply_without_one_verdict_per_criterion_gives_no_value(settings: Settings, reply: str) -> None:
    with FakeModel({"CompareArticles": reply}) as server:
        metric = good_article(open_judge(server.lm, settings))
        with pytest.raises(MetricError, match="gave no answer to CompareArticles"):
            metric.score([CASE])
    with FakeModel({"CompareArticles": verdicts(*range(13, 0, -1))}) as server:
        (found,) = good_article(open_judge(server.lm, settings)).score([CASE])
    assert found["good_article_bias_lm"] == 1, "verdicts may be in any order"


def test_both_articles_are_cut_to_the_same_length_with_a_note(settings: Settings) -> None:
    long = HumanArticle("Lake Orrin", lead="It is a lake.", sections=(HumanSection("Fish", "It has many fish. " * 20),))
    own = beside(long, "It has many birds. " * 30)
    (found,), server = judged(settings, lambda *_: "tie", own, longest=40)
    for asked in server.asked:
        shown = re.findall(r"Article [ab]:(.*?)(?=\n(?:Article b|Criteria):)", asked.user, re.S)
        assert len(shown) == 2
        assert all(text.rstrip().endswith("[shortened here]") for text in shown)
        assert all(len(text.split()) <= 40 + len("# Part 0 [shortened here]".split()) for text in shown)
    assert found["good_article_shown_lm"] == pytest.approx((40 + 40) / (84 + 124), abs=0.05)


def windowed(server: FakeModel, settings: Settings, window: int, notes: list[str]) -> JudgeModel:
    """The server's model as a judge with a known window."""
    own = settings.model_copy(update={"lm": server.lm, "context": window})
    note = CallbackSink(lambda event: notes.append(event.detail) if isinstance(event, Degraded) else None)
    models = LanguageModels.outside_a_run({"reviewer": open_models(own)["reviewer"]}, own, Events(note))
    return JudgeModel(models, "fake", window=window)


@pytest.mark.parametrize("window", [4096, 6000, 16_384])
def test_a_known_window_is_never_exceeded(settings: Settings, window: int) -> None:
    notes: list[str] = []
    long = HumanArticle(
        "Lake Orrin", lead="It is a lake.", sections=(HumanSection("Fish", "It had 12 fish in 1931. " * 1500),)
    )
    with FakeModel({"CompareArticles": lambda user: compared(user, lambda *_: "A")}) as server:
        metric = good_article(windowed(server, settings, window, notes))
        (found,) = metric.score([beside(long, "It has many birds. " * 500)])
    assert metric.parameters["window"] == window
    assert not notes, "the adapter cuts nothing unseen"
    shown = found["good_article_shown_lm"]
    assert shown is not None
    assert 0 < shown < 1
    assert all(
        "[shortened here]\nCriteria:" in asked.user or "[shortened here]\nArticle b:" in asked.user
        for asked in server.asked
    )


def test_a_window_without_room_for_two_articles_is_refused(settings: Settings) -> None:
    long = HumanArticle("Lake Orrin", lead="It is a lake. " * 500)
    with FakeModel({"CompareArticles": ""}) as server:
        metric = good_article(windowed(server, settings, 1200, []))
        with pytest.raises(MetricError, match=r"window of fake \(1,200 tokens\) has no room for two articles"):
            metric.score([beside(long, "It has many birds. " * 500)])
        assert not server.asked
