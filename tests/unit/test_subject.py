"""What an article is about, and whether a text speaks of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.identity import source_id
from storm_pipeline.types import Snippet
from storm_pipeline.writers.small.subject import Subject, sources_of, subject_of


def subject(topic: str, *pages: tuple[str, str]) -> Subject:
    """The subject by pages given as title and text."""
    return subject_of(topic, sources_of(Snippet(f"https://example.org/{title}", title, text) for title, text in pages))


BASIL = subject(
    "Basil II", ("Basil II", "Basil II was emperor of Byzantium from 976 to 1025. He conquered Bulgaria in his wars.")
)
ABEL = subject(
    "Niels Henrik Abel", ("Niels Henrik Abel", "Niels Henrik Abel was a Norwegian mathematician. He died young.")
)
RENAISSANCE = subject(
    "Renaissance",
    ("Renaissance", "The Renaissance was a period of European history that began in Italy. It was a time of new art."),
)
SUN = subject("Sun", ("Sun", "The Sun is the star at the centre of the planets. It is a ball of hot plasma."))
ARMY = subject("Army", ("Army", "An army is a force that fights on land. Every army has ranks."))
SUDAN = subject("Sudan", ("Sudan", "Sudan is a country that borders Chad to the west and South Sudan to the south."))
WEST_ASIA = subject("West Asia", ("West Asia", "West Asia is the western part of the continent. It has many deserts."))


@pytest.mark.parametrize(
    ("about", "text", "named"),
    [
        (BASIL, "Basil II blinded the prisoners of the war.", True),
        (BASIL, "The Bulgarians feared Basil II's army.", True),
        (BASIL, "Basil is a herb of the kitchen.", False),
        (BASIL, "In World War II the city was bombed.", False),
        (BASIL, "Constantine II fled before Basil the Macedonian.", False),
        (RENAISSANCE, "The Renaissance spread from Florence.", True),
        (RENAISSANCE, "Painters of the High Renaissance worked in Rome.", True),
        (RENAISSANCE, "The Harlem Renaissance flowered in the 1920s.", False),
        (RENAISSANCE, "Gothic art was succeeded by the Renaissance.", False),
        (RENAISSANCE, "The Middle Ages lasted until the Renaissance.", False),
        (RENAISSANCE, "Until the 1400s no town knew what the Renaissance would be.", True),
        (SUN, "The planets move around the Sun.", True),
        (SUN, "The Sun's surface is hot.", True),
        (SUN, "Sun Yat-sen founded the republic.", False),
        (SUN, "The black hole has 900 million times the mass of the Sun.", False),
        (SUN, "The star is ten times larger than the Sun.", False),
        (SUN, "Jupiter is the fifth planet from the Sun.", False),
        (SUN, "Neptune is the eighth and farthest known planet orbiting the Sun.", False),
        (SUN, "A white dwarf packs a mass that is comparable to the Sun.", False),
        (SUN, "Solar wind comes from the Sun.", True),
        (ARMY, "A militia has civilian members, as opposed to a professional standing army.", False),
        (RENAISSANCE, "The period runs from the fall of Rome until after the Renaissance.", False),
        (SUN, "The planets lie in a disc with sunspots above it.", False),
        (WEST_ASIA, "The University of West Asia teaches law.", False),
        (ARMY, "The army crossed the river at night.", True),
        (SUDAN, "Juba is the capital of South Sudan.", False),
        (SUDAN, "Nubia is in Northern Sudan.", True),
        (ARMY, "The Red Army took the city in spring.", False),
        (WEST_ASIA, "The desert is bordered to the north by West Asia.", False),
        (WEST_ASIA, "South Asia has the sea on one side, with West Asia to its west.", False),
        (WEST_ASIA, "The desert of New West Asia is dry.", False),
        (WEST_ASIA, "East Asia is the second-largest part of the continent after West Asia.", False),
        (WEST_ASIA, "West Asia borders Africa.", True),
        (WEST_ASIA, "Trade reached West Asia by sea.", True),
        (WEST_ASIA, "South Asia has a monsoon.", False),
    ],
)
def test_only_the_full_name_names_the_subject(about: Subject, text: str, named: bool) -> None:
    assert about.named_in(text) is named


def test_a_neighbour_with_the_name_in_its_own_is_no_part() -> None:
    assert not SUDAN.is_part_of("South Sudan")
    assert SUDAN.is_part_of("Northern Sudan")


def test_a_forename_makes_a_one_word_name_somebody_elses() -> None:
    nero = subject("Nero", ("Nero", "Nero was a Roman emperor. He died in 68."))
    assert nero.has_namesake_in("He was born to Tiberius Claudius Nero and his wife.")
    assert not nero.has_namesake_in("Peter was crucified under Emperor Nero.")
    assert not BASIL.has_namesake_in("They feared Emperor Basil II.")


@pytest.mark.parametrize(
    ("about", "text", "meant"),
    [
        (ABEL, "Abel proved it at nineteen.", True),
        (ABEL, "Abelian groups commute.", False),
        (BASIL, "Henry II went to war.", False),
        (WEST_ASIA, "South Asia has a monsoon.", False),
        (SUN, "The Sun shines.", False),
    ],
)
def test_a_surname_means_a_person_alone(about: Subject, text: str, meant: bool) -> None:
    assert about.surname_in(text) is meant


def test_the_page_with_the_topics_name_is_its_own_and_defines_it() -> None:
    about = subject(
        "Sun",
        ("Sun Tzu", "Sun Tzu was a general. He wrote a book."),
        ("The Sun", "The Sun is a star of the galaxy. It shines by fusion."),
    )
    assert about.own == {source_id("https://example.org/The Sun")}
    assert about.definition == "The Sun is a star of the galaxy."
    assert about.described == f"Sun: {about.definition}"
    assert not about.is_person


def test_a_longer_name_of_another_thing_is_no_part() -> None:
    about = subject("Roman Empire", ("Roman Empire", "The Roman Empire was a state of classical times in Europe."))
    assert about.is_part_of("Western Roman Empire")
    assert not about.is_part_of("Holy Roman Empire")
    assert ARMY.is_part_of("Standing army")
    assert not ARMY.is_part_of("Red Army")
    assert subject("Kingdom", ("Kingdom (taxonomy)", "A kingdom is a rank. A kingdom has phyla.")).has_namesakes
    assert not about.has_namesakes


def test_brackets_tell_namesakes_apart() -> None:
    pages = (
        ("Mercury (element)", "Mercury is a metal that is liquid. It is heavy."),
        ("Mercury (planet)", "Mercury is the planet nearest to the star. It has no moon."),
    )
    assert subject("Mercury (planet)", *pages).definition.startswith("Mercury is the planet")
    assert subject("Mercury (element)", *pages).definition.startswith("Mercury is a metal")


def test_a_topic_without_a_page_is_defined_by_whoever_says_what_it_is() -> None:
    about = subject("Orrin Dam", ("Selby", "Selby is a town. The Orrin Dam is a dam of the river above Selby."))
    assert about.definition == "The Orrin Dam is a dam of the river above Selby."
    assert not about.own


def test_a_phrase_is_named_by_most_of_its_words() -> None:
    about = subject("Hanseatic trade in Bergen")
    assert about.named_in("In Bergen the Hanseatic merchants had their trade.")
    assert not about.named_in("Bergen has a university.")


@given(st.text(max_size=30).filter(str.strip), st.text(max_size=200))
def test_any_topic_and_text_are_handled(topic: str, text: str) -> None:
    about = subject(topic.strip(), ("Page", text))
    assert about.names
    assert about.named_in(text) in (True, False)
    assert about.surname_in(text) is False, "nobody is known to be a person"
