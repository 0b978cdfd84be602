"""Which pages are about a topic, by its names and by its own page."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.references.relevance import Floor, bare_name, names_in_full, own_page
from storm_pipeline.retrieval.embedder import HashingEmbedder, Vectors
from storm_pipeline.types import Snippet

BASIL = (
    "Basil II Porphyrogenitus, given the epithet the Bulgar Slayer, was the senior Byzantine emperor from 976 to 1025. "
    "He fought the Bulgarians."
)


@pytest.mark.parametrize(
    ("text", "name", "language"),
    [
        ("The wars of BASIL II’s reign", "Basil II", "en"),
        ("Photons have no mass.", "Photon", "en"),
        ("He met Thomas A. Edison.", "Thomas Edison", "en"),
        ("the U.S. Army", "US Army", "en"),
        ("in Zürich", "Zurich", "en"),
        ("limes are green", "Lime (fruit)", "en"),
        ("seen at Beatles concerts", "The Beatles", "en"),
        ("Johnson and Johnson", "Johnson & Johnson", "en"),
        ("das Ende des Zweiten Weltkrieges", "Zweiter Weltkrieg", "de"),
        ("丝绸之路的历史", "丝绸之路", "zh"),
    ],
)
def test_a_name_in_full_may_be_inflected(text: str, name: str, language: str) -> None:
    assert names_in_full(text, [name], language)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Basil and Joseph II", "Basil II"),
        ("vitamin D", "Vitamin C"),
        ("Oder, a river; a disaster", "2022 Oder environmental disaster"),
        ("anything", ""),
        ("anything", "()"),
        ("", "Basil II"),
    ],
)
def test_words_of_a_name_apart_do_not_name_it(text: str, name: str) -> None:
    assert not names_in_full(text, [name])


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_any_text_names_what_is_written_in_it(before: str, name: str, after: str) -> None:
    found = names_in_full(f"{before} {name} {after}", [name])
    assert found or not bare_name(name) or not any(char.isalnum() for char in name) or bare_name(name) != name


def test_a_title_as_it_is_goes_before_another_number() -> None:
    pages = [("Middle age", "Middle age is a time of life."), ("Middle Ages", "The Middle Ages lasted long.")]
    own = own_page("Middle Ages", pages)
    assert own is not None
    assert own.title == "Middle Ages"


def test_the_own_page_gives_the_topics_names_and_what_it_is() -> None:
    own = own_page("basil II", [("Basil", "Basil is a herb."), ("Basil II", BASIL)])
    assert own is not None
    assert own.title == "Basil II"
    assert set(own.names) == {"basil II", "Basil II Porphyrogenitus", "Bulgar Slayer"}
    assert own.definition.endswith("was the senior Byzantine emperor from 976 to 1025.")


@pytest.mark.parametrize(
    ("topic", "title"),
    [
        ("Bulgar Slayer", "Basil II"),
        ("the basil II", "Basil II | Britannica"),
        ("Basil II (emperor)", "Basil II - Wikipedia"),
    ],
)
def test_redirects_and_titles_of_sites_lead_to_the_own_page(topic: str, title: str) -> None:
    own = own_page(topic, [("Basil", "Basil is a herb."), (title, BASIL)])
    assert own is not None
    assert own.title == title


def test_the_exact_title_comes_before_one_with_brackets() -> None:
    pages = [("Lime (mineral)", "Lime is a mineral."), ("Lime", "A lime is a fruit.")]
    assert own_page("Lime", pages) is not None
    found = own_page("Lime (mineral)", pages)
    assert found is not None
    assert found.title == "Lime (mineral)"
    assert own_page("Lime (mineral)", pages[1:]) is None, "another lime"


def test_a_page_about_a_part_of_the_topic_is_not_its_own() -> None:
    pages = [("Renaissance music", "Renaissance music is music of the Renaissance."), ("Basil", "Basil is a herb.")]
    assert own_page("Renaissance", pages) is None
    assert own_page("Basil II", []) is None


def snippets(*pages: tuple[str, str]) -> list[Snippet]:
    return [Snippet(f"https://example.org/{i}", title, text) for i, (title, text) in enumerate(pages)]


def floor(topic: str, found: Sequence[Snippet], language: str = "en") -> Floor:
    return Floor(topic, found, HashingEmbedder().embed, language)


PROTESTS = "2022–2023 Peruvian political protests"


def test_pages_of_other_places_and_years_are_left_out() -> None:
    found = snippets(
        ("Peru", "Political protests in Peru in December 2022 followed the fall of the Peruvian president."),
        ("New Year Honours", "The following persons of New Zealand were made Companions of the Order."),
        ("Road Act 1916", "An act concerning the width of wagon wheels on county roads."),
    )
    assert floor(PROTESTS, found).bearing(found) == tuple(found[:1])


def test_what_names_the_topic_or_is_named_on_its_own_page_bears_on_it() -> None:
    found = snippets(
        ("Basil II", BASIL + " He followed John Tzimiskes."),
        ("Kievan Rus", "The prince sent guards to Emperor Basil II."),
        ("John Tzimiskes", "A general of Armenian birth who took the throne."),
        ("Joseph II", "A Habsburg ruler whose reforms angered the clergy."),
    )
    verdicts = floor("Basil II", found).judge([[one] for one in found])
    assert [verdict.relevance for verdict in verdicts] == ["about", "bears", "bears", "neither"]
    assert all(0 <= verdict.score <= 1 for verdict in verdicts)


def test_a_page_that_bears_on_the_question_alone_stays() -> None:
    found = snippets(("Prymnesium parvum", "Golden algae release toxins that kill fish in brackish water."))
    judge = floor("2022 Oder environmental disaster", found)
    assert judge.bearing(found) == ()
    assert judge.bearing(found, "Which toxins of golden algae kill fish?") == tuple(found)


def test_a_page_in_another_language_is_not_left_out_for_its_language() -> None:
    found = snippets(
        (
            "Protestas",
            "Las marchas empezaron en el sur del país y los manifestantes cortaron las carreteras.",
        )
    )
    assert floor(PROTESTS, found).bearing(found) == tuple(found)


ODER = "2022 Oder environmental disaster"


@pytest.mark.parametrize(
    ("text", "question", "stays"),
    [
        ("Das Fischsterben in der Oder begann im Sommer, und niemand kannte zuerst die Ursache.", "", True),
        ("Katastrofa na Odrze w sierpniu 2022 roku zaskoczyła władze i mieszkańców regionu.", "", True),
        ("Der Verein sucht zum Herbst neue Mitglieder, oder er muss sein Vereinsheim schließen.", "", False),
        ("Die Ministerin Lemke sprach vor dem Bundestag über die Fische und das Wasser.", "", False),
        (
            "Die Ministerin Lemke sprach vor dem Bundestag über die Fische und das Wasser.",
            "What did Steffi Lemke say?",
            True,
        ),
        ("das fischsterben in der oder begann im sommer und niemand kannte zuerst die ursache", "", True),
        ("der verein sucht zum herbst neue mitglieder und muss sein vereinsheim schließen", "", False),
        ("Что стало причиной гибели рыбы в реке, до сих пор неизвестно.", "", True),
    ],
)
def test_across_languages_names_and_numbers_tell_what_bears_on_the_topic(text: str, question: str, stays: bool) -> None:
    found = snippets(("Bericht", text))
    assert floor(ODER, found).bearing(found, question) == (tuple(found) if stays else ())


@pytest.mark.parametrize(("place", "stays"), [("nduga", True), ("banyumas", False)])
def test_a_language_that_is_not_known_is_another_one(place: str, stays: bool) -> None:
    text = f"prajurit tni gugur diserang kkb di {place} papua bertambah jadi empat orang dan jenazah dievakuasi"
    found = snippets(("Prajurit gugur", text))
    assert floor("Nduga hostage crisis", found).bearing(found) == (tuple(found) if stays else ())


def test_a_table_that_shares_a_year_with_the_topic_bears_on_nothing() -> None:
    found = snippets(("GP Results", "2022 Aragon GP Sep 16, 2022 Japanese GP Sep 23, 2022 Grid RACE FL Laps km/h"))
    assert floor(ODER, found).bearing(found) == ()


def test_words_decide_without_the_embedder() -> None:
    def refuse(texts: Sequence[str]) -> Vectors:
        raise AssertionError(texts)

    found = snippets(("Basil II", BASIL), ("Rus", "Basil II asked the Rus for help."))
    assert Floor("Basil II", found, refuse).bearing(found) == tuple(found)
    assert Floor("Basil II", (), refuse).bearing(()) == ()


@given(st.lists(st.tuples(st.text(max_size=20), st.text(min_size=1, max_size=60)), max_size=6), st.text(max_size=20))
def test_the_floor_keeps_order_and_whole_pages(pages: list[tuple[str, str]], topic: str) -> None:
    found = snippets(*pages)
    kept = floor(topic, found).bearing(found)
    assert [one for one in found if one in kept] == list(kept)
    judged = floor(topic, found).judge([[one] for one in found])
    assert [verdict.relevance != "neither" for verdict in judged] == [one in kept for one in found]
