"""Keeping a page out: in all its addresses, on mirrors, and where others repeat it."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.sources.reliable.ground_truth import GroundTruth, repeats_wikipedia, wikipedia_article

SILK = "https://en.wikipedia.org/wiki/Silk_Road"
TITLES = st.text(
    st.characters(exclude_categories=("C", "Z"), exclude_characters="#<>[]|{}_/?"), min_size=1, max_size=15
)
FORMS = [
    *("https://en.wikipedia.org/wiki/{}", "http://en.wikipedia.org/wiki/{}#History"),
    *("https://en.m.wikipedia.org/wiki/{}", "https://www.en.wikipedia.org/wiki/{}/"),
    "https://en.wikipedia.org/w/index.php?title={}",
    "https://en.wikipedia.org/w/index.php?oldid=5&title={}&action=history",
    *("https://en.m.wikipedia.org/w/index.php/{}", "https://www.wikiwand.com/en/{}"),
    *("https://wikiwand.com/en/articles/{}", "https://wikimili.com/en/{}", "https://wiki2.org/en/{}"),
    *("https://en.wikipedia-on-ipfs.org/wiki/{}", "https://dbpedia.org/page/{}"),
]
MIRRORS = [
    ("https://everything.explained.today/Silk_Road/", "Silk Road explained"),
    ("https://infogalactic.com/info/Silk_Road", ""),
    ("https://en-academic.com/dic.nsf/enwiki/17073", "Silk Road"),
    ("https://alchetron.com/Silk-Road", "Silk Road - Alchetron, The Free Social Encyclopedia"),
    ("https://kids.kiddle.co/Silk_Road", "Silk Road facts for kids"),
    ("https://www.popflock.com/learn?s=Silk_Road", "Silk Road"),
    ("https://graphsearch.epfl.ch/concept/27996", "Silk Road | EPFL Graph Search"),
    ("https://findatwiki.com/silk%20road", ""),
    ("https://www.wikizero.com/en/Silk_Road.html", ""),
    ("https://en.wikipedia.org/?curid=27996", "Silk Road - Wikipedia"),
    ("https://en.wikipedia.org/wiki/Silk_route", "Silk Road - Wikipedia"),
]
OTHERS = [
    ("https://en.wikipedia.org/wiki/Silk", "Silk - Wikipedia"),
    ("https://en.wikipedia.org/wiki/Silk_Road_(marketplace)", "Silk Road (marketplace) - Wikipedia"),
    ("https://en.wiktionary.org/wiki/Silk_Road", "Silk Road - Wiktionary"),
    ("https://example.org/wiki/Silk_Road", "Silk Road"),
    ("https://www.britannica.com/topic/Silk-Road", "Silk Road | Facts, History & Map"),
    ("https://en.wikipedia.org.evil.example/wiki/Silk_Road", "Silk Road"),
    ("https://everything.explained.today/Silk/", "Silk explained"),
    ("https://infogalactic.com/info/Silk_Road_Economic_Belt", "Silk Road Economic Belt"),
    ("https://en.wikipedia.org/w/index.php?search=Silk_Road", ""),
]
IN_OTHER_LANGUAGES = ["https://de.wikipedia.org/wiki/Silk_Road", "https://www.wikiwand.com/fr/Silk_Road"]
PROSE = (
    "The caravans left the oasis before dawn, and by noon the drivers had unloaded their bales of raw silk in the "
    "courtyard of the customs house, where clerks weighed every bundle twice and wrote the sums in two languages."
)
OTHER_PROSE = (
    "Glass beads were melted in small furnaces behind the market, and the furnace men sold them by the string to "
    "traders who carried them inland, so that archaeologists find the same colours a thousand miles apart today."
)


@pytest.mark.parametrize("excluded", FORMS)
@pytest.mark.parametrize("found", FORMS)
def test_every_form_excludes_every_other(excluded: str, found: str) -> None:
    truth = GroundTruth([excluded.format("Silk_Road")])
    assert truth.recognise(found.format("silk%20Road"), "", "")


@pytest.mark.parametrize(("url", "title"), MIRRORS)
def test_copies_on_mirrors_are_recognised_by_title(url: str, title: str) -> None:
    assert GroundTruth(titles=["Silk Road"]).recognise(url, title, "")
    assert GroundTruth(["https://en.wikipedia.org/wiki/Silk_Road"]).recognise(url, title, "")
    assert GroundTruth(titles=["Spice trade"]).recognise(url, title, "") is None


@pytest.mark.parametrize(("url", "title"), OTHERS)
def test_other_pages_are_not(url: str, title: str) -> None:
    assert GroundTruth([SILK], ["Silk Road"]).recognise(url, title, "") is None


@pytest.mark.parametrize("url", IN_OTHER_LANGUAGES)
def test_an_address_means_one_language_and_a_title_every(url: str) -> None:
    assert GroundTruth([SILK]).recognise(url, "Silk Road", "") is None
    assert GroundTruth(titles=["silk road"]).recognise(url, "Silk Road", "")


def test_other_addresses_are_recognised_by_their_canonical_form() -> None:
    truth = GroundTruth(["https://x.org/a"])
    assert truth.recognise("http://www.x.org/a/?utm_source=z#frag", "", "") == "this page is kept out"
    assert truth.recognise("https://x.org/b", "", "") is None


def test_chinese_variants_are_one_article() -> None:
    forms = ["wiki", "zh-tw", "zh-hans"]
    assert {wikipedia_article(f"https://zh.wikipedia.org/{form}/丝绸之路") for form in forms} == {("zh", "丝绸之路")}
    assert wikipedia_article("https://www.wikiwand.com/zh-hant/丝绸之路") == ("zh", "丝绸之路")


@given(TITLES, st.sampled_from(FORMS), st.booleans())
def test_titles_are_read_from_any_form(title: str, form: str, encoded: bool) -> None:
    path = quote(title, safe="") if encoded or set(title) & set("%&+;") else title
    plain = wikipedia_article("https://en.wikipedia.org/wiki/" + path)
    assert wikipedia_article(form.format(path)) == plain
    assert plain is not None
    assert plain[1].casefold().replace(" ", "")


def test_pages_that_repeat_a_known_text_are_recognised() -> None:
    truth = GroundTruth(texts=[PROSE])
    copied = f"BREAKING! {PROSE.upper().replace(',', '')} Read more on our site."
    assert "repeats a kept-out page" in str(truth.recognise("https://copy.example/1", "News", copied))
    assert truth.recognise("https://other.example/1", "Beads", OTHER_PROSE) is None
    quoting = f"{OTHER_PROSE} As one writer has it, {PROSE[:70]} {OTHER_PROSE[::-1]}"
    assert truth.recognise("https://quoting.example/1", "Beads", quoting) is None


def test_copies_are_recognised_by_what_a_search_shows_of_the_page_and_what_is_known_never_changes() -> None:
    truth = GroundTruth([SILK])
    assert truth.recognise(SILK, "Silk Road", PROSE)
    assert truth.recognise("https://copy.example/1", "Caravans", PROSE) is None
    assert truth.with_texts([PROSE]).with_texts([OTHER_PROSE]).recognise("https://copy.example/1", "Caravans", PROSE)
    assert truth.with_texts([PROSE]).recognise_by_name("https://copy.example/1", "Caravans") is None
    assert truth.recognise("https://copy.example/1", "Caravans", PROSE) is None


@given(st.lists(st.sampled_from("silk road horse jade salt bead".split()), min_size=15, max_size=40), st.data())
def test_the_bound_divides_copies_from_others(known: list[str], data: st.DataObject) -> None:
    share = data.draw(st.floats(0.05, 1.0))
    own = [f"word{n}" for n in range(data.draw(st.integers(0, 40)))]
    text = " ".join([*known, *own])
    runs = {tuple(text.split()[n : n + 8]) for n in range(len(text.split()) - 7)}
    shared = {tuple(known[n : n + 8]) for n in range(len(known) - 7)}
    expected = len(runs) >= 8 and len(shared) >= share * len(runs)
    reason = GroundTruth(texts=[" ".join(known)], share=share).recognise("https://a.example/", "", text)
    assert (reason is not None) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://en.wikipedia.org/wiki/Silk_Road", True),
        ("https://de.m.wikipedia.org/w/index.php?title=Seidenstraße&oldid=3", True),
        ("https://www.wikiwand.com/en/articles/Silk_Road", True),
        ("https://de-academic.com/dic.nsf/dewiki/1", True),
        ("https://web.archive.org/web/2024/https://en.wikipedia.org/wiki/Silk_Road", True),
        ("https://museum.example/wikipedia.org/silk", False),
        ("https://wikipedia.org.example/wiki/Silk_Road", False),
        ("urn:isbn:1", False),
        ("", False),
    ],
)
def test_pages_of_wikipedia_and_its_mirrors(url: str, expected: bool) -> None:
    assert repeats_wikipedia(url) == expected
