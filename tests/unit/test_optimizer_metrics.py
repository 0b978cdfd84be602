"""What compiling learns from and judges by: examples from articles, and the metrics of queries and texts."""

from dataclasses import replace
from pathlib import Path

import dspy
import pytest
from articles import section as cited_section
from articles import sentence, source
from hypothesis import given
from hypothesis import strategies as st
from work import calls_of

from storm_pipeline.errors import DatasetError, SettingsError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.models.programs import Programs
from storm_pipeline.optimize.compiling import job_for
from storm_pipeline.optimize.metrics import Examples, Metric
from storm_pipeline.optimize.tasks import TASKS, examples_of, read_articles, read_training
from storm_pipeline.settings import Settings
from storm_pipeline.types import Article, Paragraph, Section, Sentence

EMBED = HashingEmbedder().embed
SETTINGS = Settings.build({"lm": "openai/x"})
ROADS = "Amber Salt Silk Tea Wine Tin Fur Glass".split()
SECTIONS = {
    "Origin": "Merchants of {name} opened the {road} in 1204. The first inn of the {road} stood in Selby. "
    "Monks kept its bridges for {name}.",
    "Trade": "Carts of {name} went to Veddel every spring. The toll for {name} at Orsund was 3 marks. "
    "Kings envied the towns of {name}.",
    "Decline": "A flood took the {road} in 1702. Ships from Hallin carried {name} afterwards. "
    "Nobody paid the toll for {name}.",
}


def paragraph(text: str) -> tuple[Paragraph, ...]:
    return (Paragraph(tuple(Sentence(f"{one.strip()}.") for one in text.split(".") if one.strip())),)


def article(name: str) -> Article:
    road = f"{name} Road"
    told = tuple(Section(h, paragraph(text.format(name=name, road=road))) for h, text in SECTIONS.items())
    return Article(road, paragraph(f"The {road} was a road from Selby to Veddel. It was opened in 1204."), told)


ARTICLES = [article(name) for name in ROADS]


def examples(program: str) -> Examples:
    return [one for _, own in examples_of(TASKS[program], ARTICLES, SETTINGS) for one in own]


def metric(program: str) -> tuple[Metric, dspy.Example]:
    found = examples(program)
    return TASKS[program].metric(EMBED, found), found[0]


@pytest.mark.parametrize("program", TASKS)
def test_examples_have_the_inputs_of_the_program_and_hide_what_they_are_judged_by(program: str) -> None:
    found = examples(program)
    signature = Programs().named()[program].predict.signature
    told = (one.get("topic") or one.get("article") or one.passages for one in found)
    assert len({next(road for road in ROADS if road in own) for own in told}) == len(ROADS)
    for one in found:
        assert set(one.inputs()) == set(signature.input_fields)
        assert "gold" not in one.inputs()
        assert "flood" not in repr(one.get("gold"))


def test_queries_are_worth_the_more_the_better_they_find_the_sections_passages() -> None:
    judge, gold = metric("queries")
    scores = [
        judge(gold, dspy.Prediction(queries=queries))
        for queries in (["merchants opened the Amber Road 1204 Selby"], ["Amber Road"], ["banana"], [])
    ]
    best, vague, wrong, none = (one.score for one in scores)
    assert 1 >= best > wrong >= none == 0
    assert best >= vague
    other = judge(
        gold, dspy.Prediction(queries=["ships from Hallin carried Amber after the flood of the Amber Road 1702"])
    )
    assert best > other.score, "the other sections of the article are passages too"
    assert "rank 1" in scores[0].feedback and "Never among" in scores[2].feedback


@pytest.mark.parametrize(("program", "field"), [("passage_answer", "answer"), ("section", "text"), ("lead", "lead")])
def test_a_text_is_worth_the_more_the_better_it_is_supported_and_formed(program: str, field: str) -> None:
    judge, gold = metric(program)
    shown = gold.gold.passages
    number = next(i for i, own in enumerate(shown, 1) if "1204" in own.text)
    good = f"In 1204 merchants of Amber opened the Amber Road [{number}]."

    def scored(text: str) -> dspy.Prediction:
        return judge(gold, dspy.Prediction(**{field: text}))

    assert scored(good).score > scored("Pandas invented the steam engine in 1950 [1].").score
    assert scored(good).score > scored(good.replace(f" [{number}]", "")).score
    assert scored(good).score > scored(f"{good} It is long [99].").score
    assert scored("").score == 0
    assert "does not say this" in scored("Pandas invented the steam engine in 1950 [1].").feedback


@given(st.sampled_from(["queries", "passage_answer", "section", "lead"]), st.text(max_size=80))
def test_any_reply_has_a_score_and_words(program: str, text: str) -> None:
    judge, gold = metric(program)
    reply = {"queries": [text], "answer": text, "text": text, "lead": text}
    found = judge(gold, dspy.Prediction(**reply))
    assert 0.0 <= found.score <= 1.0 and found.feedback


def rests_on(own: Article) -> list[str]:
    ((_, (first, *_)),) = examples_of(TASKS["queries"], [own], SETTINGS)
    return [passage.text for passage in first.gold.passages]


def test_examples_rest_on_what_a_section_cites_and_on_sources_that_have_a_text() -> None:
    pages = [source(f"page-{n}", f"Fact number {n} of the road.") for n in range(6)]
    sections = [cited_section(h, sentence(f"{h} is told.", page)) for h, page in zip(SECTIONS, pages, strict=False)]
    assert rests_on(Article("Amber Road", (), tuple(sections), tuple(pages))) == ["Fact number 0 of the road."]
    bare, told = source("origin", "https://a.test/the-origin-of-amber"), source("bridges", "Monks kept the bridges.")
    assert rests_on(replace(ARTICLES[0], sources=(bare, told))) == ["Monks kept the bridges."]
    assert rests_on(replace(ARTICLES[0], sources=(bare,))) == rests_on(replace(ARTICLES[0], sources=()))


def test_topics_are_drawn_by_seed_and_at_most_as_many_as_wanted() -> None:
    def drawn(seed: int) -> set[str]:
        split = job_for("draft", ARTICLES, SETTINGS, topics=5, seed=seed).split
        return {topic for part in (split.train, split.validation, split.held_back) for topic, _ in part}

    assert len(drawn(0)) == 5 and drawn(0) == drawn(0) != drawn(1)


def test_copies_are_not_looked_for_in_every_article() -> None:
    none = [Article(f"Empty {number}", (), ()) for number in range(400)]
    assert calls_of(lambda: job_for("draft", [*ARTICLES, *none], SETTINGS))["call"] < 30_000


def test_copies_are_on_one_side_of_the_split_and_articles_of_a_title_are_one_topic() -> None:
    copy = Article("Road of Amber", (), ARTICLES[0].sections)
    made = job_for("draft", [*ARTICLES, copy, ARTICLES[0]], SETTINGS)
    assert made.copies == ("Road of Amber", "Amber Road")
    topics = [topic for part in (made.split.train, made.split.validation, made.split.held_back) for topic, _ in part]
    assert sorted(topics) == sorted(own.title for own in ARTICLES)
    sizes = "3 topics (3 examples) to train on, 2 topics (2 examples) to choose by, 3 topics (3 examples) held back"
    assert made.sizes == sizes


def test_programs_whose_articles_hold_no_replies_cannot_show_them() -> None:
    with pytest.raises(SettingsError, match="hold no replies of 'section'"):
        job_for("section", ARTICLES, SETTINGS, "labeled")
    assert job_for("section", ARTICLES, SETTINGS).optimizer == "gepa"


def test_a_training_set_is_a_folder_or_a_data_set_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Amber Road\n\nA road.\n\n## Trade\n\nSalt was sold.\n", "utf-8")
    assert read_training(str(tmp_path)) == read_articles(tmp_path)
    with pytest.raises(DatasetError, match="nothing reads the data set 'nothing'"):
        read_training(f"nothing:{tmp_path}")
