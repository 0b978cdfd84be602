"""A study's file, and what is drawn from it."""

import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from rounds import study_file

from storm_bench.raters.articles import read_articles, revealing
from storm_bench.raters.assignment import Assigned, draw
from storm_bench.raters.sheets import sheets_of
from storm_bench.raters.store import Round
from storm_bench.raters.study import Study, read_study
from storm_pipeline import DatasetError, SettingsError

PAIRS = 'compare = ["oRAG", "STORM"]\nrubrics = ["storm"]'
MISTAKES = {
    'rubrics = ["strom"]': "rubrics: 'strom' is unknown: choose of storm, conner, forag",
    "rubrics = []": "rubrics: nothing is asked",
    'rubrics = ["storm"]\ncompare = ["STORM"]': "compare: name two or more systems",
    'rubrics = ["storm"]\ncompare = ["STORM", "GPT"]': "compare: name two or more systems",
    'rubrics = ["storm"]\nraters_per_item = 3': "raters_per_item: 3 raters an item, but 2",
    'rubrics = ["storm"]\nwords = 10': "words: ",
    'rubrics = ["storm"]\nspeed = 1': "speed: Extra inputs",
    f'rubrics = ["storm"]\ncompare = {[f"s{n}" for n in range(21)]}': "compare: ",
    "rubrics = [": "cannot be used",
}
TABLES = {
    '[[raters]]\nname = "anna"': "raters: 'anna' is there 2 times",
    '[[raters]]\nname = "../x"': "raters.2.name: ",
    '[[articles]]\ntopic = "Road 0"\nsystem = "STORM"\npath = "x.md"': "articles: 'Road 0 by STORM' is there 2 times",
    '[[articles]]\ntopic = "X"\nsystem = "STORM"': "articles.4.path: name a file",
    '[[articles]]\ntopic = "X"\nsystem = "Y"\npath = "x.md"\nauthor = "eve"': "articles.4.author: 'eve' is not",
    '[[facts]]\ntopic = "Tin"\nfacts = ["a"]': "facts.0.topic: there is no article on 'Tin'",
    '[[facts]]\ntopic = "Road 0"': "facts.0.facts: list at least one",
    f'[[facts]]\ntopic = "Road 0"\nfacts = {["a"] * 201}': "facts.0.facts: list at least one fact, at most 200",
    "".join(f'[[articles]]\ntopic = "Road 0"\nsystem = "{n}"\npath = "x"\n' for n in range(19)): "at most 20 are",
    '[[facts]]\ntopic = "Road 0"\npath = "none.csv"': "facts.0.path: none.csv is not a CSV",
    '[scales.tone]\ntitle = "T"\nquestion = "?"\nlevels = ["a"]': "scales.tone.levels: ",
    '[scales.comment]\ntitle = "T"\nquestion = "?"\nlevels = ["a", "b"]': "scales.comment: choose another name",
    '[scales.tone]\ntitle = "T"\nquestion = "?"\nlevels = ["a", "b"]\ngood = 9': "scales.tone: good = 9 is not between",
}


@pytest.mark.parametrize(("head", "said"), MISTAKES.items())
def test_a_mistake_is_named_with_its_key(tmp_path: Path, head: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_study(study_file(tmp_path, head=head))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("table", "said"), TABLES.items())
def test_a_mistake_in_a_table_is_named_with_its_key(tmp_path: Path, table: str, said: str) -> None:
    with pytest.raises(SettingsError, match=r"study\.toml") as caught:
        read_study(study_file(tmp_path, head=PAIRS, more=table))
    assert said in str(caught.value)


def test_an_article_that_cannot_be_read_is_named_with_its_key(tmp_path: Path) -> None:
    path = study_file(tmp_path, head=PAIRS)
    (tmp_path / "0-STORM.md").unlink()
    with pytest.raises(DatasetError, match=r"^articles\.1: .*0-STORM\.md"):
        read_articles(read_study(path), tmp_path)


def of(size: int, raters: int, per_item: int, *, seed: int, authors: int = 0, attention: int = 0) -> Study:
    """Return a study of pairs; the first authors wrote one article of a system each."""
    values = {
        "title": "T",
        "seed": seed,
        "compare": ["A", "B"],
        "rubrics": ["storm"],
        "raters_per_item": per_item,
        "attention": attention,
        "raters": [{"name": f"r{n}"} for n in range(raters)],
        "articles": [
            {"topic": f"t{n}", "system": s, "path": "x", "author": f"r{n}" if n < authors and s == "A" else ""}
            for n in range(size)
            for s in "AB"
        ],
    }
    study = Study.model_validate(values)
    assert not list(study.problems())
    return study


def test_a_thousand_draws_are_balanced() -> None:
    rng = random.Random(60)
    firsts = Counter[bool]()
    for seed in range(1000):
        raters = rng.randint(2, 10)
        per_item, size = rng.randint(1, min(3, raters)), rng.randint(1, 20)
        authors = rng.randint(0, min(size, raters)) if per_item < raters else 0
        study = of(size, raters, per_item, seed=seed, authors=authors, attention=rng.randint(0, 2))
        assigned = [one for one in draw(study) if one.articles]
        items = Counter(frozenset(one.articles) for one in assigned)
        assert set(items) == set(map(frozenset, study.items))
        assert set(items.values()) == {per_item}
        assert len({(one.rater, frozenset(one.articles)) for one in assigned}) == len(assigned)
        load = Counter({rater.name: 0 for rater in study.raters})
        load.update(one.rater for one in assigned)
        if not authors or size * per_item >= 2 * raters:
            assert max(load.values()) - min(load.values()) <= 1
        assert all(study.articles[place].author != one.rater for one in assigned for place in one.articles)
        for key in (lambda one: frozenset(one.articles), lambda one: one.rater):
            turned = Counter[object]()
            for one in assigned:
                turned[key(one)] += 1 if one.articles == tuple(sorted(one.articles)) else -1
            assert all(abs(value) <= 1 for value in turned.values())
        firsts.update(one.articles[0] % 2 == 0 for one in assigned)
    assert 0.48 < firsts[True] / firsts.total() < 0.52


def test_a_draw_is_repeatable_and_numbers_are_a_raters_own_order() -> None:
    study = of(12, 5, 2, seed=1, attention=2)
    assert draw(study) == draw(study) != draw(of(12, 5, 2, seed=2, attention=2))
    for rater in study.raters:
        own = [one for one in draw(study) if one.rater == rater.name]
        assert [one.number for one in own] == list(range(1, len(own) + 1))
        assert sum(not one.articles for one in own) == 2
        assert all(1 <= one.wanted <= 7 for one in own if not one.articles)
    orders = [[one.articles for one in draw(study) if one.rater == f"r{n}" and one.articles] for n in range(5)]
    assert all(first != second for first, second in pairwise(orders))


def test_an_item_whose_raters_wrote_it_is_an_error() -> None:
    with pytest.raises(SettingsError, match="raters_per_item: 't0' needs 2 raters who wrote none of its articles"):
        draw(of(1, 2, 2, seed=0, authors=1))


def test_writers_leave_no_mark(tmp_path: Path) -> None:
    path = study_file(tmp_path, head=PAIRS, topics=1)
    body = "# Road 0\n\nSTORM says [1] so. It is long.\n\n## See also\n\nRoads\n\n## References\n\n"
    (tmp_path / "0-STORM.md").write_text(f"{body}1. https://a.example/road R", "utf-8")
    study = read_study(path)
    articles = read_articles(study, tmp_path)
    assert [article.title for article in articles] == ["Road 0", "Road 0"]
    assert not articles[1].sections
    assert [source.url for source in articles[1].references] == ["https://a.example/road"]
    assert list(revealing(study, articles)) == ["the article on 'Road 0' by STORM has this name in its text"]


def test_articles_without_citations_and_longer_than_allowed(tmp_path: Path) -> None:
    path = study_file(tmp_path, head=f"{PAIRS}\ncitations = false\nwords = 100", topics=1)
    long = "\n\n".join(f"## Part {n}\n\n" + f"Part {n} says one thing [1]. " * (n + 2) for n in range(12))
    (tmp_path / "0-STORM.md").write_text(f"# Road 0\n\nA lead of five words.\n\n{long}", "utf-8")
    article = read_articles(read_study(path), tmp_path)[1]
    assert not article.sources
    assert not any(sentence.citations for sentence in article.sentences())
    assert 90 < sum(len(sentence.text.split()) for sentence in article.sentences()) <= 100
    assert article.lead[0].sentences[0].text == "A lead of five words."


def test_each_kind_of_question_has_its_page(tmp_path: Path) -> None:
    more = '[[facts]]\ntopic = "Road 0"\nfacts = ["It is long."]\n'
    more += '[scales.tone]\ntitle = "Tone"\nquestion = "Neutral?"\nlevels = ["no", "yes"]'
    head = 'compare = ["oRAG", "STORM"]\nrubrics = ["conner.factuality", "tone"]\nerrors = true\nusefulness = true'
    study = read_study(study_file(tmp_path, head=head, topics=1, more=more))
    articles = read_articles(study, tmp_path)
    assigned = {"anna": [Assigned("anna", 1, (1, 0)), Assigned("anna", 2, (), 4)]}
    sheets = sheets_of(Round(study, articles, assigned), "anna")
    assert [sheet.name for sheet in sheets] == ["1-1", "1-2", "1-pair", "2", "end"]
    names = [[question.name for question in sheet.questions] for sheet in sheets]
    assert names[0] == ["conner.factuality", "tone", "fact.1", "errors.done", "comment"] == names[1]
    assert names[2:4] == [["preference", "comment"], ["attention"]]
    assert list(sheets[0].questions[0].choices) == ["0", "1", "2"]
    assert [sheet.place for sheet in sheets] == [1, 0, -1, -1, -1]
