"""One text, one source: which pages have one text, and how they are found, shown and cited."""

import io
import random
import zipfile
from dataclasses import replace

import pytest
from contexts import run
from hypothesis import given
from hypothesis import strategies as st
from year_judge import YearJudge

from storm_pipeline.evidence.copies import same_texts
from storm_pipeline.evidence.editions import one_source_per_text
from storm_pipeline.evidence.passages import passages
from storm_pipeline.evidence.snippet_index import SnippetIndex
from storm_pipeline.output.check.reading import Read
from storm_pipeline.output.check.refreshing import refresh
from storm_pipeline.output.export.formats import export
from storm_pipeline.run.article_json import from_json
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet

HOSTS = [f"https://host{n}.example.org/decision" for n in range(8)]


def text(name: str, words: int = 130) -> str:
    """Words that no text of another name has."""
    return " ".join(f"{name}{i}" for i in range(words)) + "."


def pages(texts: dict[str, str]) -> list[Snippet]:
    return [Snippet(url, "The decision", own) for url, own in texts.items()]


def index(*snippets: Snippet) -> SnippetIndex:
    found = SnippetIndex()
    found.keep(snippets)
    return found


def cited(snippet: Snippet, *more: Snippet, told: str = "It was decided.") -> Sentence:
    return Sentence(told, tuple(Citation(own.source_id, own.id) for own in (snippet, *more)))


def written(own: SnippetIndex, *sentences: Sentence) -> Article:
    article = Article("Case", sections=(Section("Decision", (Paragraph(sentences),)),), sources=own.sources())
    return one_source_per_text(article, own.editions())


PARTS = [text(name, 30) for name in "abcdef"]
TEXTS = st.dictionaries(
    st.sampled_from([f"p{i}" for i in range(9)]), st.lists(st.sampled_from(PARTS), max_size=5), max_size=9
)


@given(TEXTS, st.randoms(use_true_random=False))
def test_groups_do_not_depend_on_order_any_two_share_half(texts: dict[str, list[str]], chance: random.Random) -> None:
    groups = same_texts(texts)
    names = list(texts)
    chance.shuffle(names)
    assert same_texts({name: chance.sample(texts[name], len(texts[name])) for name in names}) == groups
    members = [name for group in groups for name in group]
    assert len(members) == len(set(members))
    for group in groups:
        for one in group:
            for other in group:
                fewer = min(len(set(texts[one])), len(set(texts[other])))
                assert 2 * len({*texts[one]} & {*texts[other]}) > fewer


def test_a_report_goes_with_the_decision_it_is_most_like_and_joins_no_two() -> None:
    long, short = text("long", 200), text("short", 60)
    texts = {"long": [long], "report": [long, text("own", 90), short], "short": [short], "else": [text("else")]}
    assert same_texts(texts) == [("report", "long")]


def test_menus_of_a_site_make_its_pages_no_copies_of_each_other() -> None:
    menu = text("menu")
    site = [Snippet(f"https://www.site.example/{n}", f"Page {n}", f"{menu} {text(f'n{n}x', 40)}") for n in range(3)]
    assert index(*site).editions().groups == ()
    alike = [replace(own, title="Page") for own in site]
    assert len(index(*alike).editions().groups[0]) == 3


def test_a_decision_on_eight_hosts_is_one_source_with_eight_addresses() -> None:
    found = pages(dict.fromkeys(HOSTS, text("decision")))
    other = Snippet("https://news.example.com/", "News", text("news"))
    article = written(index(*found, other), cited(found[5], found[2], other), cited(found[7]))
    first, second = article.references
    assert {first.url, *first.also} == set(HOSTS)
    assert (second.url, second.also) == (other.url, ())
    assert [len(own.citations) for own in article.sentences()] == [2, 1]
    assert len(article.sources) == 2
    assert article == from_json(article.to_json())


def test_what_one_edition_alone_says_is_cited_of_it_under_the_same_number() -> None:
    shared, own = text("shared"), "The court gave the farmers their land back in the end."
    a, b = pages({HOSTS[0]: shared, HOSTS[1]: shared})
    more = Snippet(HOSTS[1], "The decision", own)
    (sentence,) = written(index(a, b, more), cited(more)).sentences()
    article = written(index(a, b, more), cited(more), cited(a))
    assert len(article.references) == 1
    assert {c.snippet_id for c in sentence.citations} == {more.id}


def test_two_editions_are_one_support_and_two_of_their_passages_are_two() -> None:
    first, second = text("first"), text("second")
    changed = first.replace("first40 first41 first42 first43", "fourty")
    a, c = (Snippet(HOSTS[0], "The decision", own) for own in (first, second))
    b, d = (Snippet(HOSTS[1], "The decision", own) for own in (changed, second))
    (once, twice) = written(index(a, b, c, d), cited(a, b), cited(b, c)).sentences()
    assert len(once.citations) == 1
    assert len(twice.citations) == 2
    assert len({own.source_id for own in twice.citations}) == 1


def test_a_newer_count_is_shown_and_cited_of_its_page() -> None:
    old = f"{text('flood', 60)[:-1]} and 12 people died in the village by the river on that day {text('after', 60)}"
    new = old.replace("12", "15")
    a, b = (Snippet(url, "Flood", own) for url, own in zip(HOSTS, (old, new), strict=False))
    assert [own.text for own in passages([a, b])] == [old, new]
    with run([a, b]) as (ctx, _):
        assert set(ctx.store.search(["people died flood village"], 2)[0]) == {a, b}
    (sentence,) = written(index(a, b), cited(b, told="15 people died.")).sentences()
    assert {c.snippet_id for c in sentence.citations} == {b.id}


def test_a_search_finds_a_text_once_and_then_something_else() -> None:
    decision = f"The commission found a violation of the right to property. {text('decision')}"
    found = [Snippet(u, "The decision", f"{decision} Host {text(f'h{chr(97 + n)}x', 3)}") for n, u in enumerate(HOSTS)]
    others = [Snippet(f"https://o.example/{n}", "Property", f"Property of {text(f'o{n}', 40)}") for n in range(3)]
    queries = ["violation of the right to property"]
    with run([*found, *others]) as (ctx, _):
        (first,) = ctx.store.search(queries, 3)
        assert ctx.store.search_fused(queries, 3) == first
    assert sum(own.url in HOSTS for own in first) == 1
    assert len(first) == 3
    turned = random.Random(1).sample([*found, *others], 11)
    with run(turned) as (ctx, _):
        assert ctx.store.search(queries, 3) == [first]


@pytest.mark.parametrize("name", ["wikitext", "bibtex", "csl", "ris", "latex", "docx", "odt", "epub"])
def test_other_addresses_stand_in_what_is_exported(name: str) -> None:
    found = pages(dict.fromkeys(HOSTS[:3], text("decision")))
    article = written(index(*found), cited(found[0]))
    made = export(article, name)
    if made.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            made = b"".join(map(archive.read, archive.namelist()))
    assert all(url.encode() in made for url in HOSTS[:3])


def test_a_refreshed_article_reads_the_page_that_a_passage_is_from() -> None:
    shared, own = text("shared"), "The court gave the farmers their land back in the end."
    a, b = (replace(one, origin="page") for one in pages({HOSTS[0]: shared, HOSTS[1]: shared}))
    more = Snippet(HOSTS[1], "The decision", own, origin="page")
    article = written(index(a, b, more), cited(more, told="The farmers have their land back."))
    now = {HOSTS[0]: shared, HOSTS[1]: f"{shared} {own}"}
    found = refresh(Read(article, {}), YearJudge(), lambda url: Page(url, "", ((None, now[url]),)))
    assert (found.changes, found.checked.article) == ((), article)
