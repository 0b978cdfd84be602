"""The writer for small models: what it takes from the sources, shortens, and puts in order."""

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from contexts import Told, run
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.identity import normalised_text
from storm_pipeline.references.evidence import Evidence
from storm_pipeline.references.facts import Fact
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.writer import Material
from storm_pipeline.text.words import words
from storm_pipeline.types import Citation, Heading, Outline, Snippet
from storm_pipeline.writers.small.abbreviations import explained_in, written_out
from storm_pipeline.writers.small.aspects import descriptions, grouped
from storm_pipeline.writers.small.choice import best_statements
from storm_pipeline.writers.small.evidence import FactEvidence
from storm_pipeline.writers.small.flow import flowing
from storm_pipeline.writers.small.kinds import kind_of, only_defines
from storm_pipeline.writers.small.mentions import opens_with, tells_of
from storm_pipeline.writers.small.order import in_paragraphs, in_reading_order
from storm_pipeline.writers.small.sections import sections_of
from storm_pipeline.writers.small.shortening import shortened
from storm_pipeline.writers.small.standing import is_of_nobody, lacks_subject, leans, names_a_thing_before, with_subject
from storm_pipeline.writers.small.statements import Statement, statements_about
from storm_pipeline.writers.small.subject import Subject, sources_of, subject_of
from storm_pipeline.writers.small.writer import SmallWriter

OPENING = (
    "The Orrin Dam is a concrete dam on the river Orrin above the town of Selby. "
    "It was built by the state between 1931 and 1936. "
    "Engineers of the capital planned the Orrin Dam as a source of power."
)
OWN = Snippet("https://example.org/dam", "Orrin Dam", OPENING)
THINGS = "turbine spillway gallery fishway crest reservoir tunnel road museum village".split()
VERBS = ("carries", "closes", "warms", "divides")


def about(thing: str, year: int | None = None) -> Snippet:
    """A page of four different sentences about a thing of the dam."""
    when = f"in {year} " if year else ""
    texts = [
        f"The {thing} of the Orrin Dam {verb} {when}the {thing} {verb[::-1]} {thing[::-1]}{i} of the dam."
        for i, verb in enumerate(VERBS)
    ]
    return Snippet(f"https://example.org/{thing}", f"{thing.title()} of Selby", " ".join(texts))


def written(snippets: Sequence[Snippet], **settings: Any) -> AbstractContextManager[tuple[RunContext, Told]]:
    return run(snippets, {"NameSection": lambda inputs: {"heading": ""}}, writing="sentences", **settings)


def gathered(snippets: Sequence[Snippet], *titles: str) -> Evidence[FactEvidence]:
    with written(snippets) as (ctx, _):
        outline = Outline("Orrin Dam", tuple(Heading(title) for title in titles))
        before = SmallWriter().gather(ctx, Material(outline))
        return SmallWriter().gather(ctx, Material(outline, before=before))


def selected_of(ctx: RunContext, pages: Sequence[Snippet]) -> tuple[Fact, ...]:
    """The facts of a section on history, from these pages alone."""
    return (
        SmallWriter().gather(ctx, Material(Outline("Orrin Dam", (Heading("History"),)), only=pages)).sections[0].facts
    )


def told(snippets: Sequence[Snippet]) -> list[str]:
    """The texts of all that is gathered."""
    evidence = gathered(snippets)
    return [fact.text for fact in (*evidence.for_lead, *(f for own in evidence.sections for f in own.facts))]


def test_the_lead_is_the_opening_of_the_topics_own_page_in_its_order() -> None:
    others = [about(thing) for thing in THINGS]
    evidence = gathered([*others[:5], OWN, *others[5:]])
    assert [fact.text for fact in evidence.for_lead] == [
        "The Orrin Dam is a concrete dam on the river Orrin above the town of Selby.",
        "It was built by the state between 1931 and 1936.",
        "Engineers of the capital planned the Orrin Dam as a source of power.",
    ]
    assert {fact.citation.source_id for fact in evidence.for_lead} == {OWN.source_id}


def test_sections_have_at_least_four_statements_and_none_stands_twice() -> None:
    evidence = gathered([OWN, *(about(thing) for thing in THINGS)], "Fishway", "Weather")
    assert evidence.sections
    assert all(len(own.facts) >= 4 for own in evidence.sections)
    assert [own.heading for own in evidence.sections] == list(evidence.outline.sections)
    texts = [
        normalised_text(fact.text)
        for fact in (*evidence.for_lead, *(f for own in evidence.sections for f in own.facts))
    ]
    assert len(texts) == len(set(texts))


def test_too_little_for_a_section_is_all_lead() -> None:
    few = Snippet("https://example.org/few", "Selby", "The Orrin Dam supplies the town of Selby with electric power.")
    evidence = gathered([OWN, few], "History", "Legacy")
    assert not evidence.sections
    assert not evidence.outline.sections
    assert [fact.citation.source_id for fact in evidence.for_lead] == [OWN.source_id] * 3 + [few.source_id]


def test_no_statement_is_taken_twice_though_pages_copy_each_other() -> None:
    copy = Snippet("https://example.net/copy", "Orrin Dam copied", OPENING)
    texts = told([copy, OWN, Snippet("https://example.net/other", "Dams", OPENING.replace(". ", ".  "))])
    assert len(texts) == len({normalised_text(text) for text in texts})
    assert all(sum(word in text for text in texts) == 1 for word in ("concrete", "Engineers"))


def test_pages_that_do_not_name_the_topic_give_nothing() -> None:
    namesakes = "The Orrin Line is a railway of the north. Orrin was a king, and a dam of beavers lay in his park."
    texts = told([OWN, Snippet("https://example.org/x", "Orrin Line", namesakes)])
    assert not any("railway" in text or "beavers" in text for text in texts)


def test_of_a_page_that_names_the_topic_only_sentences_that_do_are_taken() -> None:
    text = "The Orrin Dam flooded the farms of the valley near Selby. Cheese is made in the valley of Selby and sold."
    texts = told([OWN, Snippet("https://example.org/x", "Selby", text)])
    assert any("flooded" in one for one in texts)
    assert not any("Cheese" in one for one in texts)


def test_a_pronoun_that_opens_a_sentence_gives_way_to_the_pages_title() -> None:
    text = (
        "Ada Berg was the engineer of the Orrin Dam above the town of Selby. "
        "She planned the Orrin Dam and its tunnel in the town of Selby."
    )
    texts = told([OWN, Snippet("https://example.org/x", "Ada Berg", text)])
    assert "Ada Berg planned the Orrin Dam and its tunnel in the town of Selby." in texts


REGION = subject_of("West Asia", sources_of([Snippet("https://example.org/w", "West Asia", "West Asia is a region.")]))
LATIN = subject_of("Latin", sources_of([Snippet("https://example.org/l", "Latin", "Latin is a language.")]))
CULT = subject_of("Cult", sources_of([Snippet("https://example.org/c", "Cult", "A cult is a group. Every cult ends.")]))


@pytest.mark.parametrize(
    ("subject", "text", "tells"),
    [
        (REGION, "It is used in Eastern Europe, Central Asia, North Asia, and West Asia, and by minorities.", False),
        (REGION, "It is spoken throughout South Asia, West Asia, and East Asia.", False),
        (REGION, "South Asia borders China to the east, Siberia to the north, West Asia to the west and Java.", False),
        (REGION, "Jordan, officially the Kingdom of Jordan, is a country in the Levant region of West Asia.", True),
        (REGION, "The Mekong or Mekong River is a river in West Asia and Southeast Asia.", True),
        (REGION, "West Asia, Europe, Africa and Siberia meet there.", True),
        (CULT, "Venus was revered under numerous cult titles.", False),
        (CULT, "The building blocks of a town are law, custom, cult, script, and trade.", False),
        (CULT, "Cult, law, custom, script, and trade make a town.", True),
        (CULT, "Religion encompassed both public rites and cult practices.", False),
        (CULT, "Members of a cult often leave it.", True),
        (CULT, "The cult of Venus lasted.", True),
        (CULT, "Cults fail.", True),
        (CULT, "The minds of apes are often cult to have plans.", False),
        (REGION, "He ruled parts of present-day Central Asia, West Asia, and Iran from 1077.", False),
        (REGION, 'Berg was called "one of the last West Asia hands" by a friend.', False),
        (REGION, '"West Asia" is a name of the region.', True),
        (LATIN, "The word metal comes from the Latin metallum and is old.", False),
        (LATIN, "The name of the stars is Latin for a cross.", False),
        (LATIN, "It was founded in 1088, and its name is derived from the Latin phrase for a guild.", False),
        (LATIN, "The Vulgate is a translation of the Bible into Latin.", True),
        (LATIN, "Latin words stand in many laws.", True),
    ],
)
def test_a_name_in_a_list_or_before_another_noun_tells_nothing(subject: Subject, text: str, tells: bool) -> None:
    assert tells_of(subject, "Selby", text) is tells


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Armenia, officially the Republic of Armenia, is a landlocked country in West Asia.", "Places"),
        ("Turkey is a country mainly located in Anatolia.", "Places"),
        ("The Euphrates is one of the most important rivers of the region.", "Places"),
        ("Hibernation is a state of minimal activity.", ""),
        ("The Parthian Empire was a major Iranian political and cultural power of old.", ""),
        ("The Goths were a Germanic people who fought the Roman emperor.", ""),
        ("Francis Petrarch was an Italian scholar and poet of the Renaissance.", "People"),
        ("Lorenzo was the ruler of Florence. He held the balance of power.", "People"),
        ("The Mexican War was an invasion of Mexico. It ended after he signed a treaty.", ""),
        ("The Parthian Empire was a power of Iran. " + "It grew by trade on its roads. " * 12 + "He died.", ""),
        ("Ra was the ancient Egyptian deity of the Sun. He was a king.", ""),
        ("The School of Athens is a fresco by Raphael. He was young.", "Works"),
        ("Renaissance art is the painting, sculpture and decorative arts of the period.", ""),
        ("Gothic art was a style of medieval art.", ""),
        ("Photons fly.", ""),
    ],
)
def test_a_page_says_what_kind_of_thing_it_is_about(text: str, kind: str) -> None:
    assert kind_of(text) == kind


@pytest.mark.parametrize(
    ("title", "text", "opens"),
    [
        ("Venus", "The cult is composed mostly of women.", False),
        ("Hymenoptera", "Cults typically have a special priest.", False),
        ("Venus", "The cult of Venus was composed mostly of women.", True),
        ("Hymenoptera", "Like the ants and the bees of the warm south, those of Hymenoptera have a cult.", True),
        ("Opium", "Opium's cult acts on the mind of the user.", True),
        ("Fire cult", "Much of the land was owned by the cult in the south.", False),
        ("Fire cult", "Much of the land was owned by the fire cult in the south.", True),
        ("Fire cult", "Land in the south is owned by a cult more often than by a state.", True),
    ],
)
def test_a_common_noun_on_another_page_means_one_of_its_own(title: str, text: str, opens: bool) -> None:
    assert opens_with(CULT, title, text) is opens


@pytest.mark.parametrize(
    ("title", "text", "is_part"),
    [
        ("Fire cult", "A fire cult is a cult that honours fire. Its priests sing at night in the open.", True),
        ("Cult of personality", "A cult of personality is an image of a leader. The cult is made by praise.", False),
        ("Language cult", "In Selby, the language cult occurs when words die. It is the cult of the state.", False),
        ("History of the cult", "The history of the cult begins in Selby. It ends in the state of the north.", True),
        ("Cult of Selby", "In 1900 the Cult of Selby was a cult in the town of the state and its people.", False),
        ("Cult building", "A cult building is a house in which a cult meets. The town of Selby has many.", True),
        ("Cult cream", "Cult cream is a food of milk and sugar. The people of Selby eat cult cream a lot.", False),
    ],
)
def test_a_kind_of_what_a_common_noun_means_is_called_so_by_its_page(title: str, text: str, is_part: bool) -> None:
    page = Snippet("https://example.org/x", title, text)
    store: Any = SimpleNamespace(embed=lambda texts: np.ones((len(texts), 1), dtype=np.float32))
    found = statements_about(CULT, [page], store)
    assert [one.of_a_part for one in found] == [True] * is_part


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("Selby is an island in the warm sea of the south.", True),
        ("Selby is a city in the cold north of the old state, by whose long wall an island lies.", False),
    ],
)
def test_a_place_tells_of_a_common_noun_if_it_is_one(text: str, is_told: bool) -> None:
    own = Snippet("https://example.org/i", "Island", "An island is a piece of land in water. Every island ends.")
    store: Any = SimpleNamespace(embed=lambda texts: np.eye(len(texts), dtype=np.float32) + 0.6)
    page = Snippet("https://example.org/m", "Selby", text)
    assert bool(statements_about(subject_of("Island", sources_of([own])), [page], store)) is is_told


def test_what_the_lead_has_told_is_not_told_again() -> None:
    first = "The Orrin Dam formed a lake of four square miles when men of the north closed the river in 1936."
    own = Snippet("https://example.org/dam", "Orrin Dam", f"The Orrin Dam is a dam. {first} It is made of stone.")
    again = "The forming of the lake behind the Orrin Dam began when men of the north closed the river in 1936."
    more = "The lake behind the Orrin Dam took shape in 1940 when men of the north filled it by a canal of stone."
    pages = [Snippet(f"https://example.org/{n}", f"Lake {n}", text) for n, text in enumerate((again, more))]
    found = told([own, *pages])
    assert first in found
    assert again not in found
    assert more in found


def test_of_many_statements_the_surest_to_be_on_the_topic_are_told() -> None:
    sure = Snippet("https://example.org/s", "Walls of the Orrin Dam", "The Orrin Dam has walls of grey stone.")
    unsure = Snippet(
        "https://example.org/u",
        "Engineers",
        "Engineers came by river. They built canals. The Orrin Dam was built by engineers who knew rivers.",
    )
    with written([OWN, unsure, sure]) as (ctx, _):
        found = statements_about(Subject("Orrin Dam", ("Orrin Dam",)), [unsure, sure], ctx.store)
    assert {one.fact.title for one in found} == {unsure.title, sure.title}
    assert [one.fact.title for one in best_statements(found, 1)] == [sure.title]


@pytest.mark.parametrize(
    "text",
    [
        "The root of the Orrin Dam is a number such that; in other words, a number whose square is it.",
        "The group of the Orrin Dam and of all its walls is denoted by.",
        "The wall of the Orrin Dam is an -dimensional space of the old town.",
        "The height of the Orrin Dam may be put in the form where are the stones of it.",
        "The walls of the Orrin Dam are told by equations such as",
        "John of the Orrin Dam was born and raised in Selby c.",
    ],
)
def test_a_sentence_that_lost_a_formula_or_a_date_is_not_told(text: str) -> None:
    page = Snippet("https://example.org/x", "Walls of Selby", text)
    with written([OWN, page]) as (ctx, _):
        assert not statements_about(Subject("Orrin Dam", ("Orrin Dam",)), [page], ctx.store)


@pytest.mark.parametrize(("nearness", "is_told"), [(0.7, True), (0.37, False)])
def test_pages_that_have_little_to_do_with_a_common_noun_are_not_told_of(nearness: float, is_told: bool) -> None:
    own = Snippet("https://example.org/m", "Metal", "A metal is a thing that shines in the sun of the day.")
    page = Snippet(
        "https://example.org/b",
        "Bell",
        "A bell is an instrument. Bells are made of metal, which bends when men strike it. They hang in towers.",
    )

    def embed(texts: Sequence[str]) -> Any:
        rows = np.eye(len(texts), dtype=np.float32) * (1 - nearness**2) ** 0.5
        rows[:, 0] = [1.0 if one.startswith("Metal") else nearness for one in texts]
        return rows

    store: Any = SimpleNamespace(embed=embed)
    found = statements_about(subject_of("Metal", sources_of([own])), [own, page], store)
    assert any(one.fact.title == "Bell" for one in found) is is_told


def test_a_page_whose_subject_is_also_called_so_is_of_another_thing() -> None:
    tool = Snippet("https://example.org/t", "Plane (tool)", "A plane is a tool for wood. Every plane has a blade.")
    page = Snippet("https://example.org/a", "Airplane", "An airplane, also plane, is a machine that flies over land.")
    store: Any = SimpleNamespace(embed=lambda texts: np.eye(len(texts), dtype=np.float32) + 0.6)
    assert not statements_about(subject_of("Plane (tool)", sources_of([tool, page])), [page], store)


def test_a_page_of_the_same_name_is_of_another_thing() -> None:
    album = Snippet("https://example.org/a", "Orrin (album)", "Orrin is an album of the singer Ada. It was sold.")
    genre = Snippet("https://example.org/g", "Orrin (genre)", "Orrin is a genre of songs with much suspense in them.")
    about_album = subject_of("Orrin (album)", sources_of([album, genre]))
    store: Any = SimpleNamespace(embed=lambda texts: np.eye(len(texts), dtype=np.float32) + 0.6)
    assert {one.fact.title for one in statements_about(about_album, [album, genre], store)} == {"Orrin (album)"}


def test_where_time_orders_histories_come_first_and_undated_pages_last() -> None:
    texts = {
        "Fall": "The Orrin Dam fell in 1950 by night.",
        "Lord": "A lord of Selby had the Orrin Dam from 960 until he sold it.",
        "Rise": "The Orrin Dam rose after the 1845 law of the state.",
        "Gate": "The Orrin Dam has a gate of green wood.",
        "History of it": "The Orrin Dam was planned in 1990 by men of the state.",
    }
    pages = [Snippet(f"https://example.org/{title}", title, text) for title, text in texts.items()]
    with written([OWN, *pages]) as (ctx, _):
        found = statements_about(Subject("Orrin Dam", ("Orrin Dam",)), pages, ctx.store)
    assert [one.fact.title for one in in_reading_order(found, by_time=True)] == [
        "History of it",
        "Lord",
        "Rise",
        "Fall",
        "Gate",
    ]


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("Selby's people have no cult of their own.", False),
        ("The people have neither temples nor cults.", False),
        ("Temples do not only hold a cult, they hold many.", True),
        ("There is no other cult in Selby.", True),
        ("What looks like a 'cult' is a market.", False),
        ("The temple of Selby has a cult.", True),
        ("A Selby cult has 93 members.", False),
        ("In medicine, law, or cult, a Selby is a house.", False),
    ],
)
def test_what_denies_a_common_noun_or_quotes_the_word_does_not_tell_of_it(text: str, is_told: bool) -> None:
    assert tells_of(CULT, "Selby", text) is is_told


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Selbian is spoken in Norland.", True),
        ("The book was written in Selbian.", True),
        ("Modern Selbian verbs have two forms.", True),
        ("Selbian literature grew in Norland.", False),
        ("He was a painter of Selbian art.", False),
        ("Ada Berg was a Selbian poet.", False),
    ],
)
def test_the_name_of_a_language_is_no_name_of_what_its_people_make(text: str, is_named: bool) -> None:
    subject = Subject(
        "Selbian language", ("Selbian language", "Selbian"), definition="Selbian is a language.", text=text
    )
    assert subject.named_in(text) is is_named


@pytest.mark.parametrize(
    "text",
    [
        "New Selby is a group of islands 1,210 km east of West Asia.",
        "West Asia is less than 500 km away, behind the sea of Selby.",
        "Selby ends in the north; West Asia is the country's southern neighbour.",
    ],
)
def test_a_distance_does_not_name_the_subject(text: str) -> None:
    assert not REGION.named_in(text)


@pytest.mark.parametrize("text", ["The second is a named body of water.", "Selby occupied a part of the region."])
def test_what_stands_for_a_thing_before_leans(text: str) -> None:
    assert leans(text)


def test_it_that_stands_for_nothing_gets_no_name() -> None:
    text = "Since then, it has been more common among historians to refer to the age."
    assert with_subject(text, "Modern era", "The modern era is a time.", "The modern era is a time.") == text


def test_a_title_with_a_comma_is_another_person_of_that_name() -> None:
    king = Subject("Carl the Old", ("Carl the Old", "Carl II"), definition="Carl II was a king.", is_person=True)
    assert not king.is_part_of("Carl II, Holy Emperor")
    assert king.is_part_of("Court of Carl II")


def test_a_noun_that_its_page_has_in_the_plural_alone_is_a_common_noun() -> None:
    own = Snippet("https://example.org/b", "Border", "Borders are generally drawn on maps. Most borders are old.")
    assert subject_of("Border", sources_of([own])).names[0] == "border"


def test_a_section_on_kinds_of_the_topic_says_so() -> None:
    own = Snippet("https://example.org/t", "Ferry", "A ferry is a boat that carries people. Every ferry has a captain.")
    kinds = ("cable lakes two wood", "chain rivers three iron", "river deltas four steel", "night seas nine glass")
    pages = []
    for kind in kinds:
        name, water, number, made_of = kind.split()
        text = f"A {name} ferry is a ferry, a boat that carries people over {water}. It has {number} {made_of} decks."
        pages.append(Snippet(f"https://example.org/{name}", f"{name.title()} ferry", text))
    with written([own, *pages]) as (ctx, _):
        evidence = SmallWriter().gather(ctx, Material(Outline("Ferry")))
    assert [section.heading.title for section in evidence.sections] == ["Types"]


def test_the_title_of_another_page_does_not_name_the_topic() -> None:
    assert not tells_of(subject_of("Renaissance", ()), "Timur", "Timur's reign led to a Timurid age.")
    assert not tells_of(CULT, "Cult of a Salesman", "Cult of a Salesman is a play about dreams.")
    assert tells_of(CULT, "Cult of Venus", "The cult of Venus was a cult of Rome.")


def test_places_people_and_works_have_sections_of_their_own() -> None:
    lives = {
        "Ada Berg": "was an engineer of the Orrin Dam. She won.",
        "Bo Dahl": "was the painter who drew the walls of the Orrin Dam. He won.",
        "Cleo Eck": "was a Norwegian singer to whom the Orrin Dam meant home.",
        "Dag Falk": "was a Danish lawyer whose letters on water and stone made the Orrin Dam known abroad.",
    }
    people = [Snippet(f"https://example.org/{name}", name, f"{name} {text}") for name, text in lives.items()]
    sections = gathered([OWN, *people, *(about(thing) for thing in THINGS[:3])]).sections
    assert sections[-1].heading.title == "People"
    assert sections[-1].is_named
    assert {fact.title for fact in sections[-1].facts} == {page.title for page in people}


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Chrysanthemum", "Most species originate from the Orrin Dam, and the centre of variety is in Selby."),
        ("Diode", "Electrons in the odd crystal recombine with the electron holes in it near the Orrin Dam."),
        (
            "Taiping Rebellion",
            "The conflict lasted 14 years until the fall of the Taiping-held Orrin Dam in 1864.",
        ),
        ("Maya peoples", "Today they live in the villages of the state near the Orrin Dam above the town of Selby."),
        ("History of Selby", "Since then, the Orrin Dam has been defined by its place in the trade of the state."),
        ("Parthian Empire", "The empire, located on the road between the Orrin Dam and Selby, became a centre."),
        ("Linus Pauling", "Of these, the Orrin Dam of the state is the only one that Pauling saw in Selby."),
        ("Jack Kilby", "For this invention, the state gave the Orrin Dam to Kilby and the town of Selby."),
        ("Martin Scorsese", "Five of his films were made at the Orrin Dam above the town of Selby by the state."),
        ("Uranus", "The planet's ring near the Orrin Dam has a complex structure that the state of Selby studies."),
        ("Quetzal", "The quetzal of the Orrin Dam above the town of Selby has two known subspecies, P. m."),
        ("Conspiracy theory", "As such, the Orrin Dam is known to the state as a theory of conspiracy."),
        ("Surface tension", "The two are equal, but at the Orrin Dam it is common to use the odd name of Selby."),
        ("Cougar", "Further south, its range extends through the Orrin Dam to the town of Selby and the state."),
        ("Language death", "A related term is that of the Orrin Dam, the odd end of the town of Selby."),
        ("Energy level", "The term is used for the energy levels of the water behind the Orrin Dam of Selby."),
        ("Cave painting", "Scholars suggest that the oldest of such paintings were made at the Orrin Dam of Selby."),
        ("Renaissance music", "A convenient watershed for its end is the Orrin Dam that the state built at Selby."),
    ],
)
def test_a_sentence_that_lacks_what_was_named_before_it_is_left_out(title: str, text: str) -> None:
    opening = f"{title} is old. The Orrin Dam knows it well."
    texts = told([OWN, Snippet("https://example.org/x", title, f"{opening} {text}")])
    assert text not in texts


def test_what_is_cut_from_a_sentence_does_not_count() -> None:
    long = (
        "Selby has a broad field that the state of the north extended from the old river of the west out into the new "
        "valley of the east by men of the old guard, where it meets a wind that comes from the Orrin Dam."
    )
    assert not any("broad field" in one for one in told([OWN, Snippet("https://example.org/x", "Selby", long)]))


def test_no_page_but_those_about_the_subject_gives_many_sentences_where_there_are_many_pages() -> None:
    evidence = gathered([OWN, *(about(thing) for thing in THINGS), *(about(f"{thing}house") for thing in THINGS)])
    counts = Counter(fact.title for own in evidence.sections for fact in own.facts)
    assert max(counts.values()) <= 2


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("The unit of energy, the joule (J), is named after him.", True),
        ("The unit of energy was named after James Joule by his friends.", False),
        ("Alexander won with his army.", False),
        ("Born in Selby, it grew.", True),
    ],
)
def test_somebody_whom_nothing_names_costs_the_sentence(text: str, lacks: bool) -> None:
    assert (is_of_nobody(text) or lacks_subject(text, "James Joule")) is lacks


def test_pronouns_of_the_own_page_mean_its_subject_and_its_short_sentences_stay() -> None:
    own = Snippet(
        "https://example.org/b",
        "Ada Berg",
        "Ada Berg was a queen of the north. She and her brother were crowned young. Bitter wars followed in 960. "
        "None of her heirs lived.",
    )
    store: Any = SimpleNamespace(embed=lambda texts: np.eye(len(texts), dtype=np.float32))
    found = statements_about(subject_of("Ada Berg", sources_of([own])), [own], store)
    assert [one.fact.text for one in found] == [
        "Ada Berg was a queen of the north.",
        "She and her brother were crowned young.",
        "Bitter wars followed in 960.",
        "None of her heirs lived.",
    ]


def test_few_statements_of_one_form_are_taken() -> None:
    names = [f"{thing.title()}{end}" for thing in THINGS for end in ("berg", "dal")]
    pages = [
        Snippet(f"https://example.org/{n}", n, f"{n} is a village below the Orrin Dam in its valley.") for n in names
    ]
    others = [about(thing) for thing in THINGS[:3]]
    facts = [fact.text for own in gathered([OWN, *pages, *others]).sections for fact in own.facts]
    assert sum("is a village below" in text for text in facts) == 3, "of one form"


def test_a_few_sentences_left_of_the_own_page_stay_in_the_lead() -> None:
    more = (
        "The Orrin Dam has four tunnels of brick. Salmon climb the Orrin Dam by a ladder. Every May the Orrin Dam is "
        "painted grey. A museum in the Orrin Dam shows old tools. Two villages were drowned by the Orrin Dam. "
        "Visitors reach the Orrin Dam by bus."
    )
    own = Snippet(OWN.url, OWN.title, f"{OPENING} {more}")
    lead = gathered([own, *(about(thing) for thing in THINGS)]).for_lead
    assert {fact.citation.source_id for fact in lead} == {own.source_id}
    assert len(lead) == len(OPENING.split(". ")) + len(more.split(". "))


def test_a_pronoun_that_may_mean_something_else_costs_the_sentence() -> None:
    text = (
        "Farmers of the valley hated the state for years. "
        "He sold the farms near the Orrin Dam above the town of Selby to the state."
    )
    texts = told([OWN, Snippet("https://example.org/x", "Ada Berg", text)])
    assert not any("sold the farms" in one for one in texts)


@pytest.mark.parametrize("opening", ["The odd booklet praises", "As the only booklet of its time, it praises"])
def test_a_thing_that_an_earlier_sentence_named_costs_the_sentence(opening: str) -> None:
    text = (
        f"A book on the valley was printed in Selby. {opening} the engineers of the Orrin Dam above the town of Selby."
    )
    texts = told([OWN, Snippet("https://example.org/x", "Ada Berg", text)])
    assert not any("booklet" in one for one in texts)


@pytest.mark.parametrize(
    ("text", "title", "before", "opening", "changed"),
    [
        ("He was a mason.", "Ada Berg (mason)", "Ada Berg was born.", "Ada Berg was born.", "Ada Berg was a mason."),
        ("Its mass is large.", "Sun", "The Sun is hot.", "The Sun is a star.", "The Sun's mass is large."),
        ("Her sons fled.", "Agnes", "Agnes was a queen.", "Agnes was a queen.", "Agnes' sons fled."),
        ("It is hot.", "Sun", "Helium was found by chance there.", "The Sun is a star.", "It is hot."),
        (
            "A sea of the north, it meets the ocean.",
            "North Sea",
            "The North Sea is cold.",
            "The North Sea is a sea.",
            "A sea of the north, the North Sea meets the ocean.",
        ),
        ("The dam is high.", "Sun", "The Sun is hot.", "The Sun is a star.", "The dam is high."),
        ("The odd film tells of Ada.", "Ida", "Berg made it.", "Ida is a film by Berg.", "Ida tells of Ada."),
        (
            "The herring shoals left it.",
            "A History of Selby",
            "Boats came.",
            "The herring fair of Selby is old.",
            "The herring shoals left it.",
        ),
        (
            "The sample absorbs light.",
            "Spectroscopy",
            "It is old.",
            "Spectroscopy is a method that shines light on a sample.",
            "The sample absorbs light.",
        ),
        ("The dam bursts in it.", "Ida", "Berg made it.", "Ida is a film by Berg.", "The dam bursts in it."),
        ("The film of Ida shows it.", "Ida", "Berg made it.", "Ida is a film by Berg.", "The film of Ida shows it."),
        (
            "The harbour was at its busiest in 1912.",
            "A History of Orsund Harbour",
            "It is old.",
            "Steamships changed Orsund Harbour more than any war.",
            "The harbour was at its busiest in 1912.",
        ),
        (
            "Its largest exhibit is a ship.",
            "Orsund Harbour today",
            "The museum of the harbour has ships.",
            "About 310,000 people visit Orsund Harbour every year.",
            "Its largest exhibit is a ship.",
        ),
        (
            "The system formed.",
            "Solar System",
            "It is old.",
            "The Solar System is the system of the Sun.",
            "The Solar System formed.",
        ),
        ("It was odd.", "Dam flood", "It was high.", "The dam (DF) flood was a flood.", "The dam flood was odd."),
        ("Lewis coined it.", "Gil N. Lewis", "He was a chemist.", "Gil Lewis was one.", "Gil N. Lewis coined it."),
        ("Lewis is an island.", "Isle of Lewis", "It is big.", "Lewis is an island.", "Lewis is an island."),
        ("In 1931, it burst.", "Sun", "The Sun is hot.", "The Sun is a star.", "In 1931, the Sun burst."),
        ("Under his reign, it grew.", "Babur", "He won.", "Babur was a king.", "Under Babur's reign, it grew."),
        ("It is common to swim.", "Sun", "The Sun is hot.", "The Sun is a star.", "It is common to swim."),
        ("In 1931, it burst.", "Sun", "A dam was built.", "The Sun is a star.", "In 1931, it burst."),
        (
            "As the only treatise to survive, it was read by all.",
            "Vitruvius",
            "Vitruvius wrote a treatise that he gave to Augustus.",
            "Vitruvius was a Roman architect.",
            "As the only treatise to survive, it was read by all.",
        ),
    ],
)
def test_the_title_stands_for_what_it_means_alone(
    text: str, title: str, before: str, opening: str, changed: str
) -> None:
    assert with_subject(text, title, before, opening) == changed


@pytest.mark.parametrize(
    ("page", "sentence", "alone"),
    [
        ("It is told by quantum electrodynamics (QED).", "QED is exact.", "Quantum electrodynamics is exact."),
        ("The Bank of the North (BN) lent it.", "In 1931 BN was closed.", "In 1931 Bank of the North was closed."),
        ("Mass-energy relations (MER) hold.", "No MER is lost.", "No mass-energy relations is lost."),
        ("It was sold to the state (UK).", "The UK closed it.", "The UK closed it."),
        (
            "It uses alternating current (AC).",
            "Alternating current (AC) is cheap.",
            "Alternating current (AC) is cheap.",
        ),
        ("It uses alternating current (AC).", "The AC-130 is a plane.", "The AC-130 is a plane."),
    ],
)
def test_an_abbreviation_that_its_page_explains_is_written_out(page: str, sentence: str, alone: str) -> None:
    assert "MSEA" not in written_out("MSEA borders it.", explained_in("Mainland Southeast Asia", ["MSEA borders it."]))
    assert written_out("NBC owns NBC News.", explained_in("NBC", ["NBC owns NBC News."])) == "NBC owns NBC News."
    agreement = "The North American Free Trade Agreement, referred to as NAFTA, was signed."
    assert written_out(agreement, explained_in("North American Free Trade Agreement", [agreement])) == agreement
    assert written_out("IR is warm.", explained_in("Infrared", ["IR is warm."])) == "Infrared is warm."
    assert written_out(sentence, explained_in("Selby", [page])) == alone


def test_general_pages_come_first_then_time_goes_on() -> None:
    pages = [about("tunnel", 1990), about("crest", 1890), about("museum"), about("village", 1940)]
    facts = [fact for own in gathered(pages).sections for fact in own.facts]
    with written(pages) as (ctx, _):
        selected = selected_of(ctx, pages)
    for found in (facts, list(selected)):
        order = list(dict.fromkeys(fact.title.split()[0] for fact in found))
        assert len(order) == len({fact.title for fact in found}), "a page's matter stays together"
    order = list(dict.fromkeys(fact.title.split()[0] for fact in selected))
    assert order == [name for name in ("Museum", "Crest", "Village", "Tunnel") if name in order]
    assert len(order) >= 3


def test_passages_of_one_document_are_told_in_the_order_of_their_time() -> None:
    texts = [
        f"The Orrin Dam was {verb} in {year} by men of {verb}. The {verb} gate of the Orrin Dam is of {verb[::-1]}."
        for year, verb in ((1979, "closed"), (1887, "planned"), (1931, "built"), (1950, "raised"), (1899, "paid"))
    ]
    passages = [Snippet("file:///a.pdf", "Papers", text) for text in texts]
    (section,) = gathered([OWN, *passages]).sections
    years = [int(word) for fact in section.facts for word in words(fact.text) if word.isdigit()]
    assert years == [1887, 1899, 1931, 1950, 1979]


def test_a_lead_without_a_page_of_the_topic_names_it() -> None:
    own = Snippet(
        "file:///a.md", "Orrin Dam now", "A museum was opened in it in 1950. The Orrin Dam has 3 tunnels now."
    )
    with written([own]) as (ctx, _):
        lead = SmallWriter().gather(ctx, Material(Outline("Orrin Dam"))).for_lead
    assert "Orrin Dam" in lead[0].text


def test_a_surname_after_another_first_name_is_another_person() -> None:
    khan = Subject("Kublai Khan", ("Kublai Khan",), is_person=True)
    assert khan.surname_in("In the north the great Khan ruled.")
    assert khan.surname_in("Emperor Khan ruled.")
    assert not khan.surname_in("Hulegu Khan was a Mongol ruler who conquered much of West Asia.")


def test_documents_that_define_no_topic_open_with_what_is_earliest() -> None:
    now = "The Orrin Dam is one of the few dams where reeds grow on the crest. A ferry links the Orrin Dam with Selby."
    then = (
        "The Orrin Dam was raised by ten metres in 1950. The first mention of the Orrin Dam stands in a roll of 1287."
    )
    pages = [
        Snippet("file:///now.md", "Orrin Dam today", now),
        Snippet("file:///then.md", "A history of the Orrin Dam", then),
    ]
    with written(pages) as (ctx, _):
        lead = SmallWriter().gather(ctx, Material(Outline("Orrin Dam"))).for_lead
    assert lead[0].text == "The first mention of the Orrin Dam stands in a roll of 1287."


def test_passages_of_one_document_stand_under_the_matter_of_each() -> None:
    facts = [
        Fact(f"The dam of {i} {word}.", "Papers", Citation("file", f"{word}{i}"))
        for word in ("opera", "army")
        for i in range(4)
    ]
    found = [Statement(fact, False, False, False, 0.5, (fact.text, 0), False, "") for fact in facts]
    store: Any = WordCounts()
    made = sections_of(Subject("Selby", ("Selby",)), ASPECTS, found, store, fewest=4, most=6, words=200)
    assert {own.heading.title: len(own.statements) for own in made} == {"Music": 4, "War": 4}


class WordCounts:
    """Stands in for a store: a vector counts a few words."""

    words = ("songs", "opera", "battle", "army", "heat", "dam")

    def embed(self, texts: Sequence[str]) -> Any:
        counts = np.array([[text.casefold().count(word) for word in self.words] for text in texts], dtype=np.float32)
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-6)


ASPECTS = {"Music": "songs and opera", "War": "the army in battle", "Heat and energy": "heat"}


def sectioned(topic: str, *matters: str, each: int = 4) -> dict[str, int]:
    """Heading → number of statements, of pages that have a word of a matter each."""
    facts = [
        Fact(f"The dam of {i} {word}.", f"{word} {i}", Citation(f"{word}{i}", "n"))
        for word in matters
        for i in range(each)
    ]
    found = [Statement(fact, False, False, False, 0.5, (fact.title, 0), False, "") for fact in facts]
    about_topic = Subject(topic, (topic,), definition="A dam.")
    store: Any = WordCounts()
    return {
        own.heading.title: len(own.statements)
        for own in sections_of(about_topic, ASPECTS, found, store, fewest=4, most=6, words=200)
    }


def test_pages_on_one_matter_are_a_section_under_its_name() -> None:
    assert sectioned("Selby", "opera", "battle") == {"Music": 4, "War": 4}
    assert sectioned("Selby", "opera", "battle", each=12) == {"Music": 10, "War": 10}, "no section is longer"
    assert sectioned("Selby", "opera", each=30) == {"Music": 19}, "but a single one"
    assert not sectioned("Selby", "opera", each=3)


def test_no_aspect_names_a_section_of_which_most_is_about_other_matters() -> None:
    assert sectioned("Selby", "opera", "opera", "battle", each=2) == {"Music": 6}
    assert sectioned("Selby", "battle", "opera", "heat", each=2) == {"Related subjects": 6}


def test_a_heading_does_not_repeat_the_topic() -> None:
    assert sectioned("Music", "opera") == {"Related subjects": 4}, "until the model names it"
    assert sectioned("Energy", "heat") == {"Related subjects": 4}, "the heat of energy is no heading of it"


@given(st.data())
def test_pages_are_grouped_without_loss_of_what_is_needed(data: st.DataObject) -> None:
    headings = list(descriptions())
    number = data.draw(st.integers(1, 12))
    seed = data.draw(st.integers(0, 10_000))
    nearness = np.random.default_rng(seed).random((number, len(headings)), dtype=np.float32)
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=number, max_size=number))
    needed = data.draw(st.lists(st.booleans(), min_size=number, max_size=number))
    groups = grouped(nearness, sizes, headings, 4, needed)
    pages = [page for group in groups for page in group.pages]
    assert len(pages) == len(set(pages))
    assert len({group.heading for group in groups}) == len(groups)
    assert all(sum(sizes[page] for page in group.pages) >= 4 for group in groups)
    assert not groups or {page for page in range(number) if needed[page]} <= set(pages)


def statement(title: str, text: str, relevance: float = 0.5, *, defines: bool = False) -> Statement:
    fact = Fact(text, title, Citation(title, title))
    return Statement(fact, False, False, False, relevance, (title, 0), False, "", defines=defines)


def in_flow(*found: Statement, by_time: bool = False) -> list[str]:
    store: Any = WordCounts()
    return [one.fact.title for one in flowing(found, store, by_time=by_time)]


@pytest.mark.parametrize("by_time", [False, True])
def test_no_more_than_three_definitions_stand_in_a_row(by_time: bool) -> None:
    rows = [statement(f"D{i}", f"An opera{i} is a dam of songs.", 0.9 - i / 10, defines=True) for i in range(5)]
    assert in_flow(*rows, by_time=by_time) == ["D0", "D1", "D2"]
    telling = statement("T", "The army broke the dam in 1950.", 0.1)
    kept = in_flow(*rows, telling, by_time=by_time)
    assert "T" in kept
    assert not any("T" not in kept[i : i + 4] for i in range(len(kept) - 3))


def test_a_page_is_followed_by_the_one_that_is_nearest_to_it() -> None:
    songs, opera = statement("Songs", "Songs on the dam."), statement("Songs and opera", "Songs and opera on it.")
    battle, army = statement("Battle", "A battle at the dam.", 0.4), statement("Army", "The battle of the army.", 0.3)
    assert in_flow(songs, army, opera, battle) == ["Songs", "Songs and opera", "Battle", "Army"]


@pytest.mark.parametrize(
    ("text", "is_bare"),
    [
        ("Oil painting is a method of painting with pigments in oil.", True),
        ("Oil painting is a method of painting with pigments in a medium of drying oil as what binds them.", False),
        ("Military ranks are a system of relationships within armies.", True),
        ("The term tide refers to the rise of the sea.", True),
        ("Mount Everest is the highest mountain on Earth.", False),
        ("The Panama Canal is a waterway that was opened in 1914.", False),
        ("Erosion is a process that is caused by wind.", False),
        ("Songs were sung at the dam.", False),
    ],
)
def test_a_bare_definition_is_short_and_has_no_number_superlative_or_cause(text: str, is_bare: bool) -> None:
    assert only_defines(text) == is_bare


def test_a_page_belongs_where_its_title_says() -> None:
    assert sectioned("Selby", "music", "war") == {"Music": 4, "War": 4}


def test_a_name_that_its_own_page_only_begins_with_is_written_as_others_write_it() -> None:
    own = Snippet("https://example.org/o", "Communism", "Communism is an order of property. Communism ends classes.")
    others = [
        Snippet(f"https://example.org/{i}", f"Man {i}", f"He praised {'c' * (i > 0)}{'C' * (i == 0)}ommunism in {i}.")
        for i in range(12)
    ]
    assert subject_of("Communism", sources_of([own, *others])).names == ("communism",)
    assert subject_of("Communism", sources_of([own, *others[:3]])).names == ("Communism",)


def test_it_after_a_clause_is_not_the_topic_that_the_clause_names() -> None:
    text = "Located in the Orrin Dam off the coast, it is bordered by the Sea of Selby."
    assert names_a_thing_before(text, "Selby", lambda said: "Orrin Dam" in said)
    assert not names_a_thing_before("Built beside Selby, it is wide.", "Selby", lambda said: False)


def test_a_page_about_a_part_comes_before_examples() -> None:
    part = Snippet(
        "https://example.org/art",
        "Orrin Dam architecture",
        "Orrin Dam architecture is plain. It has arches of stone now.",
    )
    pages = [about("museum"), part, about("crest")]
    with written([OWN, *pages]) as (ctx, _):
        selected = selected_of(ctx, pages)
    assert selected[0].title == part.title


def test_an_answer_is_sentences_of_what_was_found_with_their_sources() -> None:
    pages = [OWN, *(about(thing) for thing in THINGS[:4])]
    with written(pages, answer_facts=6) as (ctx, _):
        answer = SmallWriter().answer(ctx, "Orrin Dam", "What does the turbine of the Orrin Dam do?", pages)
    by_source = {page.source_id: page.text for page in pages}
    assert 1 <= len(answer.sentences) <= 6
    for sentence in answer.sentences:
        (citation,) = sentence.citations
        assert sentence.text in by_source[citation.source_id]


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("However, the dam was closed in 1950.", "The dam was closed in 1950."),
        ("The dam (/ˈɒrɪn/) was closed in 1950.", "The dam was closed in 1950."),
        ("Berg, earl of Selby,, was a judge.", "Berg, earl of Selby, was a judge."),
        ("The dam is 61 metres (200 ft) high.", "The dam is 61 metres high."),
        ("The dam, a wall of stone (built by monks), stands.", "The dam, a wall of stone (built by monks), stands."),
    ],
)
def test_what_an_encyclopedia_can_do_without_goes(long: str, short: str) -> None:
    assert shortened(long) == short


def test_a_number_that_opens_an_enumeration_goes() -> None:
    assert shortened("Firstly, a dam is a wall of the valley.") == "A dam is a wall of the valley."


def test_a_sentence_leans_if_what_opens_it_is_followed_by_this() -> None:
    assert leans("As a wall, this is used to close a valley.")
    assert not leans("As a wall, a dam is used to close a valley.")


def test_a_clause_stays_whose_words_the_next_sentence_takes_up() -> None:
    long = (
        "In geometry, a Cartesian coordinate system in a plane is a coordinate system that specifies each point of the "
        "plane uniquely by a pair of real numbers called coordinates, which are distances from two lines called axes."
    )
    assert shortened(long).endswith("called coordinates.")
    assert shortened(long, "The point where the axes meet is called the origin.") == long


def test_an_abbreviation_that_only_other_sentences_use_goes() -> None:
    text = "Berg, chief of the Selby Water Board (SWB), is the engineer who planned the Orrin Dam."
    texts = told([OWN, Snippet("https://example.org/x", "Berg", text)])
    assert text.replace(" (SWB)", "") in texts


@given(
    st.lists(
        st.sampled_from(
            "However, the Dam was built (200 ft) (lit. wall) (/dæm/) in 1931, which closed thus , with stone , "
            "including Selby and therefore (see map) high; making 61 metres () 1936".split(" ")
        ),
        min_size=1,
        max_size=60,
    )
)
def test_shortening_keeps_words_and_their_order(parts: list[str]) -> None:
    source = " ".join(parts) + "."
    left = iter(word.casefold() for word in words(source))
    assert all(any(word == other for other in left) for word in map(str.casefold, words(shortened(source))))


@given(st.lists(st.integers(1, 5), max_size=8))
def test_paragraphs_keep_order_and_end_where_the_page_changes(sizes: list[int]) -> None:
    pages = [f"s{page}" for page, size in enumerate(sizes) for _ in range(size)]
    facts = [Fact(f"Sentence {i}.", page, Citation(page, f"n{page}")) for i, page in enumerate(pages)]
    paragraphs = in_paragraphs(facts)
    sentences = [sentence for paragraph in paragraphs for sentence in paragraph.sentences]
    assert [(s.text, s.citations) for s in sentences] == [(fact.text, (fact.citation,)) for fact in facts]
    assert all(len(paragraph.sentences) >= min(2, len(facts)) for paragraph in paragraphs)
    for one, other in pairwise(paragraphs):
        assert one.sentences[-1].citations != other.sentences[0].citations
