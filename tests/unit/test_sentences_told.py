"""What an extract tells: whose sentences, which of them, under which heading, and what stands first."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from contexts import run
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline import Article, Storm
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.evidence.subject import Subject, keep_related, keep_relevant, subject_of
from storm_pipeline.sources.search.base import NoContents
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.types import UNTITLED, Brief, Heading, Outline, Section, Snippet

THINGS = "turbine spillway gallery fishway crest reservoir tunnel road museum village".split()
OPENING = (
    "The Orrin Dam is a concrete dam on the river Orrin above the town of Selby. "
    "It was built by the state between 1931 and 1936. Engineers of the capital planned it as a source of power. "
    f"It has one each of a {', '.join(THINGS)}."
)
OWN = Snippet("https://example.org/dam", "Orrin Dam", OPENING)
OUTLINE = Outline("Orrin Dam", (Heading("Turbine and tunnel"), Heading("Fishway and museum")))


def about(thing: str) -> Snippet:
    """A page of three sentences about a thing of the dam."""
    verbs = ("carries", "closes", "warms")
    text = " ".join(f"The {thing} of the Orrin Dam {verb} the {thing}s of the dam in the north." for verb in verbs)
    return Snippet(f"https://example.org/{thing}", f"{thing.title()} at Orrin Dam", text)


PAGES = [OWN, *map(about, THINGS)]


def extract(
    snippets: Sequence[Snippet], outline: Outline | None = OUTLINE, topic: str = "Orrin Dam", **settings: object
) -> Article:
    with TemporaryDirectory() as folder:
        own: dict[str, object] = {"search": FakeSearch(lambda query: list(snippets)), "contents": NoContents()}
        own |= {"embedder": HashingEmbedder(256), "out": Path(folder), "cache": Path(folder), "progress": False}
        return Storm(**own, **settings).write(topic, outline=outline)  # type: ignore[arg-type]


def texts(sections: Sequence[Section]) -> list[str]:
    return [sentence.text for section in sections for sentence in section.sentences()]


def lead(article: Article) -> list[str]:
    return [sentence.text for paragraph in article.lead for sentence in paragraph.sentences]


def test_the_lead_is_the_topics_own_page_whole_and_unchanged() -> None:
    article = extract([*PAGES[1:], replace(OWN, text="Orrin Dam. " + OPENING.replace(". It", ".[2] It"))])
    assert " ".join(lead(article)) == OPENING, "the page's own title and notes are not the article's"
    assert not set(texts(article.sections)) & set(lead(article))


def test_without_a_page_of_its_own_the_lead_is_what_is_nearest_to_the_topic() -> None:
    near = Snippet(
        "https://example.org/near", "Near", "The Orrin Dam is the Orrin Dam. A museum of cheese stands there."
    )
    assert lead(extract([*PAGES[1:], near]))[0] == "The Orrin Dam is the Orrin Dam."


def test_what_is_nearest_to_the_topic_is_told() -> None:
    far = "Cheese, milk and butter of many other villages are sold at the market on most mornings in autumn."
    pages = [replace(page, text=f"{page.text} {far.replace('milk', page.title)}") for page in PAGES[1:]]
    told = texts(extract([OWN, *pages]).sections)
    assert told
    assert not any("Cheese" in text for text in told)


def test_passages_stand_under_the_heading_that_they_are_nearest_to_each_behind_the_first_of_its_page() -> None:
    headed = [replace(page, text=f"The Orrin Dam. {page.text}") for page in PAGES[1:]]
    for section in extract([OWN, *headed], section_facts=20).sections:
        told = [sentence.text for sentence in section.sentences()]
        own = [thing for thing in ("turbine", "tunnel", "fishway", "museum") if thing in section.heading.casefold()]
        assert all(f"the {thing} of" in " ".join(told).casefold() for thing in own)
        assert "The Orrin Dam." not in told, "a heading is no sentence"
        for text in told:
            thing = text.split()[1]
            opening = f"The {thing} of the Orrin Dam carries the {thing}s of the dam in the north."
            assert told.index(opening) <= told.index(text)


@pytest.mark.parametrize(("headings", "most"), [(1, 10), (2, 10), (5, 10)])
def test_an_article_has_so_many_sentences_whatever_its_headings(headings: int, most: int) -> None:
    outline = Outline("Orrin Dam", tuple(Heading(thing.title()) for thing in THINGS[:headings]))
    sections = extract(PAGES[1:], outline, section_facts=most // 5).sections
    chosen = [text for text in texts(sections) if "carries" not in text]  # the first of a page says what it is
    assert 0 < len(chosen) <= most


def test_without_headings_of_the_user_each_page_stands_under_its_title() -> None:
    article = extract(PAGES, None)
    title = {page.source_id: page.title for page in PAGES}
    assert article.sections
    for section in article.sections:
        assert {title[one.citations[0].source_id] for one in section.sentences()} == {section.heading}
    assert [own.title for own in article.outline.sections] == [own.heading for own in article.sections]


def test_single_sentences_of_pages_stand_together_before_the_other_sections() -> None:
    single = [replace(page, text=page.text[: page.text.index(".") + 1]) for page in PAGES[1:5]]
    first, *others = extract([OWN, *single, *PAGES[5:]], None).sections
    assert first.heading == UNTITLED
    assert {one.text for one in first.sentences()} == {page.text for page in single}
    assert others
    assert {own.heading for own in others} <= {page.title for page in PAGES[5:]}


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Water", "Water is wet and cold in all lands. The Orrin Dam holds some of it back."),  # begins with another
        ("Water", "Water is held back by the Orrin Dam. It is wet and cold in all lands."),  # names it in passing
        ("Old Orrin Dam", "The Old Orrin Dam is a song of the north. Old Orrin Dam is sung by all."),  # a longer name
    ],
)
def test_of_a_page_about_something_else_nothing_is_told(title: str, text: str) -> None:
    page = Snippet("https://example.org/other", title, text)
    assert not set(text.split(". ")) & {told.rstrip(".") for told in texts(extract([*PAGES, page], None).sections)}


def test_beside_the_topics_own_page_each_sentence_names_the_topic() -> None:
    pages = [replace(page, text=f"{page.text} Milk and cheese are sold in the village too.") for page in PAGES[1:]]
    told = texts(extract([OWN, *pages], None).sections)
    assert told
    assert all("Orrin Dam" in text for text in told)


KINDS = ("Earth", "Stone", "Wood", "Steel")
DAM = Snippet("https://example.org/dam", "Dam", f"A dam holds back water. Dams are made of {', '.join(KINDS)}.")


def kind(
    name: str, text: str = "A dam of {} holds back water. A {} dam is a wall, as any dam is. Some leak. No dam is dry."
) -> Snippet:
    return Snippet(f"https://example.org/{name}", f"{name} dam", text.format(name, name))


def test_a_page_is_told_from_its_first_sentence_on_as_long_as_each_names_the_topic() -> None:
    article = extract([DAM, *map(kind, KINDS)], None, topic="Dam")
    assert {own.heading for own in article.sections} == {f"{name} dam" for name in KINDS}
    for own in article.sections:
        made = own.heading.split()[0]
        assert [one.text for one in own.sentences()] == [
            f"A dam of {made} holds back water.",
            f"A {made} dam is a wall, as any dam is.",
        ]


@pytest.mark.parametrize(
    "page",
    [
        Snippet("https://example.org/cheese", "Steel", "Steel is made behind a dam. The dam is made of steel."),
        kind("Beaver"),  # of which the topic's own page does not speak
        Snippet("https://example.org/dams", "Dams", "The dams are a people of the south. They live at a dam."),
        kind("Stone", "A {} Dam is a song of the north. It is sung at a dam."),  # a proper name
        kind("Wood", "The wood dam is a game of three or four. It is played at a dam."),  # its title alone
    ],
)
def test_of_a_page_on_no_part_of_the_topic_nothing_is_told(page: Snippet) -> None:
    article = extract([DAM, kind("Earth"), page], None, topic="Dam")
    assert [own.heading for own in article.sections] == ["Earth dam"]


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.sampled_from(PAGES), min_size=1, unique=True), st.integers(1, 9), st.sampled_from([None, OUTLINE]))
def test_no_sentence_stands_twice_and_each_is_a_sentence_of_what_it_cites(
    pages: list[Snippet], number: int, outline: Outline | None
) -> None:
    copy = [replace(page, url=page.url + "/copy") for page in pages]
    article = extract([*pages, *copy], outline, section_facts=number)
    told = [sentence.text for sentence in article.sentences()]
    by_id = {page.source_id: page.text for page in (*pages, *copy)}
    assert len(told) == len(set(told))
    for sentence in article.sentences():
        assert any(sentence.text in by_id[citation.source_id] for citation in sentence.citations)


def test_a_page_is_related_if_it_names_the_topic_or_is_near_to_it() -> None:
    other = Snippet("https://example.org/x", "Cheese", "Cheese is made of milk in the mountains of another land.")
    with run() as (ctx, _):
        subject = subject_of("Orrin Dam", [OWN])
        assert keep_related(subject, [other, OWN, about("road")], ctx.store) == (OWN, about("road"))


@pytest.mark.parametrize(
    ("topic", "titles", "own"),
    [
        ("Mercury (planet)", ["Mercury", "Mercury (planet)"], "Mercury (planet)"),
        ("Mercury (planet)", ["Venus", "Mercury"], "Mercury"),
        ("the silk road", ["Silk Road", "The Silk Road"], "The Silk Road"),
        ("Silk", ["Silk Road"], None),
    ],
)
def test_the_own_page_has_the_topic_as_its_title(topic: str, titles: list[str], own: str | None) -> None:
    pages = [Snippet(f"https://example.org/{n}", title, f"{title} is a thing.") for n, title in enumerate(titles)]
    found = subject_of(topic, pages)
    assert [page.title for page in pages if page.source_id in found.page_ids] == ([own] if own else [])
    assert found.definition == (f"{own} is a thing." if own else "")


def test_a_letter_is_named_by_a_word_of_its_own() -> None:
    subject = Subject("E (mathematical constant)")
    assert not subject.is_named_separately("Every equation is an equality.")
    assert subject.is_named_separately("The base is e, about 2.718.")


ODER = "2022 Oder environmental disaster"


def snippets(*pages: tuple[str, str]) -> list[Snippet]:
    return [Snippet(f"https://example.org/{i}", title, text) for i, (title, text) in enumerate(pages)]


EMBED = HashingEmbedder().embed


def test_pages_that_name_the_topic_or_are_near_to_it_or_to_the_question_are_kept() -> None:
    found = snippets(
        ("Poland", "Tonnes of fish died in the river in a disaster for the whole environment of the Oder."),
        ("Report", "The commission wrote on the 2022 ODER environmental disaster."),
        ("Prymnesium parvum", "Golden algae release toxins that kill fish in brackish water."),
        ("Road Act 1916", "An act concerning the width of wagon wheels on county roads."),
    )
    assert keep_relevant(Brief(ODER), found, EMBED) == tuple(found[:2])
    asked = "Which toxins of golden algae kill fish?"
    assert keep_relevant(Brief(ODER), found, EMBED, asked) == tuple(found[:3])
    others = (f"Who was the {place} minister in office?" for place in ("Polish", "German", "Czech", "Danish"))
    assert keep_relevant(Brief(ODER), found, EMBED, *others, asked) == tuple(found[:3])


def test_a_page_is_kept_whole_and_one_in_another_language_too() -> None:
    page = [Snippet("https://a.org", "A", text) for text in ("The Oder is long.", "Wheels of wagons are wide.")]
    found = [*page, *snippets(("Pogoda", "Katastrofa zaskoczyła władze i mieszkańców regionu w sierpniu."))]
    assert keep_relevant(Brief("Oder"), found, EMBED) == tuple(found)
    assert keep_relevant(Brief("Odra", language="pl"), found, EMBED) == tuple(found[:2])
