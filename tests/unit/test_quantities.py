"""Numbers and dates by value: what a sentence states is found in a source however its digits are written."""

import json
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.evidence.passages import numbered_passages, passages
from storm_pipeline.sources.engines.corpus import CorpusSearch
from storm_pipeline.text.plain import stated_date
from storm_pipeline.text.quantities import missing

HELD = [
    ("It had 2 million readers.", "en", "2m people read it.", "en"),
    ("It cost $1.5 billion.", "en", "The cost was $1.5bn.", "en"),
    ("It fell by 6.1 percent.", "en", "Es fiel um 6,1 Prozent.", "de"),
    ("It fell by 25 %.", "en", "It fell by 25 per cent.", "en"),
    ("Between 10 and 15 percent left.", "en", "10–15% left.", "en"),
    ("The war of 1914–1918 ended.", "en", "The war of 1914–18 ended.", "en"),
    ("The war lasted from 1914 to 1918.", "en", "The war (1914–18) was long.", "en"),
    ("It has 1,234,567 inhabitants.", "en", "Die Stadt hat 1'234'567 Einwohner.", "de"),
    ("It has 1,234,567 inhabitants.", "en", "It has 12,34,567 inhabitants.", "en"),
    ("It was popular in the 1990s.", "en", "It was a success in 1994.", "en"),
    ("It was built in the 19th century.", "en", "Il fut construit au XIXe siècle.", "fr"),
    ("He died on August 3, 2022.", "en", "Er starb am 03.08.2022.", "de"),
    ("He died on August 3, 2022.", "en", "Er starb am 3. August 2022.", "de"),
    ("He died on August 3, 2022.", "en", "Il est mort le 3 août 2022.", "fr"),
    ("He died on August 1, 2022.", "en", "Il est mort le 1er août 2022.", "fr"),
    ("He died on August 3, 2022.", "en", "Он умер 3 августа 2022 года.", "ru"),
    ("He died on August 3, 2022.", "en", "2022年8月3日に亡くなった。", "ja"),
    ("He died on August 3, 2022.", "en", "توفي في ٣ أغسطس ٢٠٢٢.", "ar"),
    ("He died in August 2022.", "en", "He died on Aug. 3, 2022.", "en"),
    ("He died in 2022.", "en", "He died on Aug. 3, 2022.", "en"),
    ("He died on August 3, 2022.", "en", "In 2022 he fell ill, and died on 3 August.", "en"),
    ("He played in 2001–2002.", "en", "He played in the 2001-02 season.", "en"),
    ("The bridges are of the 3rd century BC.", "en", "Los puentes son del siglo III a. C., según dicen.", "es"),
    ("It cost 350 million.", "en", "人口25，费用为3.5亿元。", "zh"),
    ("В 1945 году погибло около 26,6 млн человек.", "ru", "In 1945, 26.6 million had died.", "en"),
    ("Caesar died in 44 BC.", "en", "Caesar starb 44 v. Chr. in Rom.", "de"),
    ("The tombs date from 3,800-3,700 BC.", "en", "They are from between 3800 and 3700 BC, and 3,800 BCE.", "en"),
    ("The volcano erupted in AD 79.", "en", "The eruption of 79 CE buried it.", "en"),
    ("Nearly 400 people came.", "en", "Some 400 people came.", "en"),
    ("It is 300 kilometres long.", "en", "It is 300km long.", "en"),
    ("It has 15,000 inhabitants.", "en", "人口1.5万人。", "zh"),
    ("It has 120 million inhabitants.", "en", "人口は1億2000万人です。", "ja"),
    ("車は6万2400台。", "ja", "It has 62,400 cars.", "en"),
    ("1日に6万台が通った。", "ja", "It carried 60,000 a day.", "en"),
    ("It was built in the 19th century.", "en", "橋は19世紀に建てられた。", "ja"),
    ("カエサルは紀元前44年に死んだ。", "ja", "Caesar died in 44 BC.", "en"),
    ("Babylon fell in 539 BC.", "en", "It fell in 539 B.C., or so.", "en"),
    ("It was built in the 19th century.", "en", "It was built between the 18th and the 19th centuries.", "en"),
    ("It was popular in the 1990s.", "en", "It was a success of the '90s.", "en"),
    ("It cost $5 million.", "en", "It cost $5m.", "en"),
    ("It is 5 metres long.", "en", "It is 5m long.", "en"),
    ("Die Stadt hat 1,5 Mio. Einwohner.", "de", "The city has 1.5 million people.", "en"),
    ("He died on August 3, 2022.", "en", "He died on 3/8/2022.", "en"),
    ("He died on August 3, 2022.", "en", "On Thursday 3 August 20:15, in 2022, he died.", "en"),
    ("He died on August 3, 2022.", "en", "It is from August 3–5, 2022.", "en"),
]
"""Sentence, its language, a source that states its quantities, the source's language."""
LACKING = [
    ("25 percent left, in 1990 people.", "en", "25 % left.", "en", "1990"),
    ("Of the 18th century and the 19th.", "en", "It was based on the 18th-century Rising.", "en", "19"),
    ("A reviewer gave it 7 out of 10.", "en", "Final score: 8/10. Rating", "en", "7"),
    ("It got 956.61 million dollars.", "en", "It got $956.61 in all.", "en", "956.61 million"),
    ("10 percent of them fell ill.", "en", "It affects 1 out of 10,000 adults.", "en", "10"),
    ("It cost 2.021 billion dollars.", "en", "It was seen in millions of homes in 2021.", "en", "2.021 billion"),
    ("A reviewer gave it 7/10.", "en", "The game earned a score of 8 out of 10.", "en", "7"),
    ("He died on August 3.", "en", "He died on August 30.", "en", "August 3"),
    ("He died on 3 August 2022.", "en", "He died in August 2022.", "en", "3 August 2022"),
    ("He died in July 2022.", "en", "He died on 3 August 2022.", "en", "July 2022"),
    ("It rose to 6.1.", "en", "It rose to 61.", "en", "6.1"),
    ("It rose to 61.", "en", "Es stieg auf 6,1.", "de", "61"),
    ("They played in Hartford on September 12.", "en", "09/10 Philadelphia, 09/11 Hartford", "en", "September 12"),
    ("It sold 1,234 copies.", "en", "La note est de 1,234.", "fr", "1,234"),
    ("2/3 of them left.", "en", "3/4 of them left.", "en", "2"),
    ("It took 30 years.", "en", "It took two decades.", "en", "30"),
    ("人口1260万。", "zh", "It has 12,640,000 inhabitants.", "en", "1260万"),
    ("It cost 2 million.", "en", "It cost 2 billion.", "en", "2 million"),
    ("It cost 1.5 billion.", "en", "Es kostete 1,5 Mio. Euro.", "de", "1.5 billion"),
    ("It began in 1994.", "en", "It was popular in the 1990s, from 1991 on.", "en", "1994"),
    ("Caesar died in 44 BC.", "en", "He died in AD 44.", "en", "44 BC"),
    ("There were 12 of them.", "en", "There were 10–15 of them.", "en", "12"),
    ("It has 150,000 inhabitants.", "en", "人口1.5万人。", "zh", "150,000"),
    ("2018年5月1日から2016年9月30日まで。", "ja", "From 1 May 2018 to 2019.", "en", "2016年9月30日"),
    ("Exactly 360 people came.", "en", "Exactly 358 people came.", "en", "360"),
    ("About 360 people came.", "en", "Exactly 385 people came.", "en", "360"),
    ("Nearly 400 people came.", "en", "Exactly 420 people came.", "en", "400"),
]
"""The same for sources that state another quantity, and which is missing."""
LANGUAGES = st.sampled_from(["en", "de", "fr", "es", "it", "pt", "pl", "ru", "zh", "ja", "ar", "", "xx"])


@pytest.mark.parametrize(("sentence", "language", "source", "of_source"), HELD)
def test_a_value_is_found_however_it_is_written(sentence: str, language: str, source: str, of_source: str) -> None:
    assert missing(sentence, [source], language=language, source_languages=[of_source]) == ()


@pytest.mark.parametrize(("sentence", "language", "source", "of_source", "lacking"), LACKING)
def test_another_value_is_missing(sentence: str, language: str, source: str, of_source: str, lacking: str) -> None:
    assert missing(sentence, [source], language=language, source_languages=[of_source]) == (lacking,)


@pytest.mark.parametrize("text", ["It is so [12].", "Use PTQ4DM or H5N1.", "She has three sons.", "In May it rains."])
def test_markers_names_words_and_months_alone_are_no_quantities(text: str) -> None:
    assert missing(text, ["It rains."]) == ()


_SEPARATORS = st.sampled_from([("en", ",", "."), ("de", ".", ","), ("fr", "\u202f", ","), ("pl", "\xa0", ",")])


@given(st.integers(2, 10**12), st.integers(0, 99), _SEPARATORS, _SEPARATORS)
def test_a_number_is_equal_in_the_notations_of_all_languages(
    value: int, hundredths: int, one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    def spelt(number: int, group: str, decimal: str) -> str:
        return f"{number:,}".replace(",", group) + f"{decimal}{hundredths:02d}"

    sentence, source = (f"Es: {spelt(value, *signs)}." for _, *signs in (one, other))
    languages = {"language": one[0], "source_languages": [other[0]]}
    assert missing(sentence, [source], **languages) == ()
    assert missing(sentence, [f"Es: {spelt(value + 1, *other[1:])}."], **languages) == (spelt(value, *one[1:]),)


@given(st.integers(2, 999))
def test_a_number_has_its_magnitude(value: int) -> None:
    for language, names in {
        "en": ("thousand", "million", "billion"),
        "de": ("Tausend", "Millionen", "Milliarden"),
        "fr": ("mille", "millions", "milliards"),
        "es": ("mil", "millones", "mil millones"),
        "it": ("mila", "milioni", "miliardi"),
        "pt": ("mil", "milhões", "bilhões"),
        "pl": ("tys.", "mln", "mld"),
        "ru": ("тыс.", "млн", "млрд"),
        "ar": ("ألف", "مليون", "مليار"),
    }.items():
        for name, scale in zip(names, (10**3, 10**6, 10**9), strict=True):
            source = f"Es: {value} {name}."
            assert missing(f"It has {value * scale:,}.", [source], source_languages=[language]) == ()
            assert missing(f"It has {value * scale * 10:,}.", [source], source_languages=[language]) != ()


@st.composite
def _spelt(draw: st.DrawFn, day: date) -> str:
    ending = "th" if 11 <= day.day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    number = draw(st.sampled_from([str(day.day), f"{day.day}{ending}"]))
    month = draw(st.sampled_from([f"{day:%B}", f"{day:%b}.", f"{day:%B}".upper()]))
    forms = [f"{month} {number}, {day.year}", f"{number} {month} {day.year}", f"{day.day} of {month}, {day.year}"]
    return draw(st.sampled_from([*forms, f"{day.day}-{day:%b}-{day.year}", day.isoformat()]))


@given(st.dates(date(1000, 1, 1), date(2199, 12, 30)), st.data())
def test_a_day_is_found_in_every_rendering_of_it(day: date, data: st.DataObject) -> None:
    one, other = data.draw(_spelt(day)), data.draw(_spelt(day))
    after = data.draw(_spelt(day + timedelta(1)))
    assert missing(f"They met on {one} in the cold.", [f"Sunday, {other}: a match."]) == ()
    assert missing(f"They met on {after} in the cold.", [f"Sunday, {other}: a match."]) == (after,)


PIECES = st.sampled_from(
    "1 19 1990 3. August März of bis 1,234 1.234 ½ 3/4 § 20er 万 億 XIX siècle BC [2] - – % am ٣ "
    "5m million bn B.C. 紀元前 "
    "99999999999999999999999999999999999999999 0000-02-30 1914–18 ' \0".split()
)
TEXTS = st.one_of(st.text(), st.lists(PIECES).map(" ".join), st.lists(PIECES).map("".join))


@given(TEXTS, LANGUAGES)
def test_any_text_states_what_it_says(text: str, language: str) -> None:
    assert missing(text, [text], language=language) == ()


@pytest.mark.parametrize("unit", ["1", "1,", " ", "1.1,", "5万", "XIX ", "3 August ", "12–", "1/", "[1]", "٣", "19th "])
def test_long_texts_are_read_to_their_end(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    assert missing(f"{text}; it is 7,654,321", [text]) == ("7,654,321",)


def test_no_number_is_of_millions_of_millions_without_end() -> None:
    text = "1" + " million" * 200_000  # is larger than a decimal may be
    assert missing(f"{text}; it is 7,654,321", [text]) == ("7,654,321",)
    assert missing("It has 3 million million.", ["It has 3 trillion."]) == ()


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["{}, ", "5 May {}, ", "the {}0s, "])
def test_very_many_values_are_looked_up_and_not_compared_one_by_one(unit: str) -> None:
    claimed, stated = ("".join(unit.format(n) for n in them) for them in (range(100, 60_000), range(60_000, 99_000)))
    if unit == "the {}0s, ":
        claimed = "".join(unit.format(100 + n % 100) for n in range(60_000))
    assert len(missing(claimed, [stated, "So it was."])) > 90


PROSE = "The dam of Selby leaks, and the villages below it have been warned since the morning."


GERMAN, SPANISH, FRENCH = (
    *("Der Damm ist alt, und er hält nicht mehr.", "La presa es vieja, y los pueblos lo saben."),
    "Le barrage est vieux, et les villages le savent.",
)


@pytest.mark.parametrize(
    ("line", "prose", "day"),
    [
        ("Published March 3, 2025", PROSE, "2025-03-03"),
        ("Published: 06:45 pm, 2 March 2025", PROSE, "2025-03-02"),
        ("PUBLISHED: November 30, 2016 at 4:08 PM CST | UPDATED: May 15, 2019 at 9:02 PM CDT", PROSE, "2016-11-30"),
        ("Last modified on Thu 2 Oct 2025 15.28 EDT", PROSE, "2025-10-02"),
        ("Updated: Apr. 29, 2011, 8:55 p.m.", PROSE, "2011-04-29"),
        ("[Last updated: 25th of November, 2025]", PROSE, "2025-11-25"),
        ("Updated May 4, 2014\n\nPublished May 3, 2014", PROSE, "2014-05-03"),
        # Months are read in the language of the page.
        ("Veröffentlicht am 3. März 2025 um 10:15 Uhr", GERMAN, "2025-03-03"),
        ("Publicado el 3 de marzo de 2025 a las 10:15", SPANISH, "2025-03-03"),
        ("Publié le 3 mars 2025 à 10h15", FRENCH, "2025-03-03"),
        # Prose, what is read in two ways, several days, and what is not at the top date nothing.
        ("The novel was published on May 3, 2014.", PROSE, None),
        ("Published on May 3, 2014, the novel sold out in a week and was printed again", PROSE, None),
        ("Published October 14, 2014 by Selby Press", PROSE, None),
        ("Posted to Berlin on May 3, 1931, Lee met the engineer", PROSE, None),
        ("By Ann LeeMarch 8, 2025 September 30, 2025", PROSE, None),
        ("Published 03/08/2022", PROSE, None),
        ("Updated on May 3, 2014 the dam was found to leak.", PROSE, None),
        ("Posted on May 3, 2014\n\nOne.\n\nPosted on May 4, 2014\n\nTwo.", PROSE, None),
        (f"{PROSE}\n" * 60 + "Published May 3, 2014\n", PROSE, None),
    ],
)
def test_a_line_with_a_label_at_the_top_dates_its_page(line: str, prose: str, day: str | None) -> None:
    assert stated_date(f"{line}\n\n{prose} {prose} {prose}") == day
    assert prose is not PROSE or stated_date(f"Selby Herald\n\nThe dam leaks\n\n{line}\n\n{prose}") == day


@pytest.mark.parametrize(
    ("lines", "day"),
    [
        ("The dam of Selby leaks\n\nSeptember 26, 2023\n\nSeptember 26, 2023\n\nStaff", "2023-09-26"),
        ("# The Dam of Selby Leaks\n\nNews\n\nTuesday, 3 March 2025 |", "2025-03-03"),
        ("The dam of Selby leaks\nMon, Mar 3, 2025 at 4:09 PM ET", "2025-03-03"),
        ("The dam of Selby leaks, again\nMar 3, 2025", None),
        ("The dam of Selby leaks\nMarch 3, 2025\nThe dam of Selby leaks\nMarch 4, 2025", None),  # a list of news
        ("The dam of Selby leaks\nMarch 3, 1924", None),  # what it tells of, since there were no pages
        ("The dam of Selby leaks\nThe dam was built on March 3, 2025", None),
        ("The dam of Selby leaks\na\nb\nc\nMarch 3, 2025", None),
        *(("The dam of Selby leaks\n04/03/2024", None), ("The dam\nMarch 3, 2025", None)),
        ("Another heading of this page\nMarch 3, 2025", None),
    ],
)
def test_a_date_alone_below_the_title_dates_its_page(lines: str, day: str | None) -> None:
    text = f"Selby Herald\n\nHome\n\n{lines}\n\n{PROSE}"
    assert stated_date(text, "The dam of Selby leaks - Selby Herald") == day
    assert stated_date(text) is None


def test_the_day_stands_behind_the_title_of_each_passage_of_the_page(tmp_path: Path) -> None:
    text = f"Published March 3, 2025\n\n{PROSE * 3}\n\n" + "Weirs are opened when rivers rise in spring. " * 20
    lines = [{"url": f"https://a.org/{n}", "title": "Dams", "text": text} for n in range(2)]
    lines[1] |= {"published": "2024-01-02"}
    (tmp_path / "pages.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    (tmp_path / "page.md").write_text(f"# The weirs\n\n{text}", "utf-8")
    found = CorpusSearch(tmp_path, limit=50).search("weirs rivers spring", 3)
    assert {(own.title, own.published) for own in found} == {
        ("Dams", "2025-03-03"),
        ("Dams", "2024-01-02"),
        ("The weirs", "2025-03-03"),
    }
    assert "[1] Dams (a.org, 2025-03-03): " in numbered_passages(passages(s for s in found if s.url.endswith("/0")))
