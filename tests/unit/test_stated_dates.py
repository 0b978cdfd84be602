"""The day on which a page says that it was published, where no metadata say it."""

import json
from pathlib import Path

import pytest

from storm_pipeline.evidence.passages import numbered_passages, passages
from storm_pipeline.sources.engines.corpus import CorpusSearch
from storm_pipeline.text.plain import stated_date

PROSE = "The dam of Selby leaks, and the villages below it have been warned since the morning."


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("Published March 3, 2025", "2025-03-03"),
        ("Published: 06:45 pm, 2 March 2025", "2025-03-02"),
        ("PUBLISHED: November 30, 2016 at 4:08 PM CST | UPDATED: May 15, 2019 at 9:02 PM CDT", "2016-11-30"),
        ("Last modified on Thu 2 Oct 2025 15.28 EDT", "2025-10-02"),
        ("Updated: Apr. 29, 2011, 8:55 p.m.", "2011-04-29"),
        ("[Last updated: 25th of November, 2025]", "2025-11-25"),
    ],
)
def test_a_line_with_a_label_dates_its_page(line: str, day: str) -> None:
    assert stated_date(f"Selby Herald\n\nThe dam leaks\n\n{line}\n\n{PROSE}") == day


@pytest.mark.parametrize(
    ("lines", "day"),
    [
        ("The dam of Selby leaks\n\nSeptember 26, 2023\n\nSeptember 26, 2023\n\nStaff", "2023-09-26"),
        ("# The Dam of Selby Leaks\n\nNews\n\nTuesday, 3 March 2025 |", "2025-03-03"),
        ("The dam of Selby leaks, again\nMar 3, 2025", None),
        ("The dam of Selby leaks\nMarch 3, 2025\nThe dam of Selby leaks\nMarch 4, 2025", None),  # a list of news
        ("The dam of Selby leaks\nMarch 3, 1924", None),  # what it tells of, since there were no pages
        ("The dam of Selby leaks\nThe dam was built on March 3, 2025", None),
        ("The dam of Selby leaks\na\nb\nc\nMarch 3, 2025", None),
        ("The dam of Selby leaks\n04/03/2024", None),
        ("The dam of Selby leaks\nMon, Mar 3, 2025 at 4:09 PM ET", "2025-03-03"),
        ("Another heading of this page\nMarch 3, 2025", None),
        ("The dam\nMarch 3, 2025", None),
    ],
)
def test_a_date_alone_below_the_title_dates_its_page(lines: str, day: str | None) -> None:
    text = f"Selby Herald\n\nHome\n\n{lines}\n\n{PROSE}"
    assert stated_date(text, "The dam of Selby leaks - Selby Herald") == day
    assert stated_date(text) is None


@pytest.mark.parametrize(
    ("line", "prose"),
    [
        ("Veröffentlicht am 3. März 2025 um 10:15 Uhr", "Der Damm ist alt, und er hält nicht mehr."),
        ("Publicado el 3 de marzo de 2025 a las 10:15", "La presa es vieja, y los pueblos lo saben."),
        ("Publié le 3 mars 2025 à 10h15", "Le barrage est vieux, et les villages le savent."),
    ],
)
def test_months_are_read_in_the_language_of_the_page(line: str, prose: str) -> None:
    assert stated_date(f"{line}\n\n{prose} {prose} {prose}") == "2025-03-03"


@pytest.mark.parametrize(
    "line",
    [
        "The novel was published on May 3, 2014.",
        "Published on May 3, 2014, the novel sold out in a week and was printed again",
        "Published October 14, 2014 by Selby Press",
        "Posted to Berlin on May 3, 1931, Lee met the engineer",
        "By Ann LeeMarch 8, 2025 September 30, 2025",
        "Published 03/08/2022",
        "Updated on May 3, 2014 the dam was found to leak.",
    ],
)
def test_prose_and_what_is_read_in_two_ways_date_nothing(line: str) -> None:
    assert stated_date(f"The dam leaks\n\n{line}\n\n{PROSE}") is None


def test_several_days_date_nothing_and_the_publication_goes_before_changes() -> None:
    assert stated_date("Posted on May 3, 2014\n\nOne.\n\nPosted on May 4, 2014\n\nTwo.") is None
    assert stated_date("Updated May 4, 2014\n\nPublished May 3, 2014\n") == "2014-05-03"


def test_only_the_top_of_a_page_dates_it() -> None:
    assert stated_date(f"{PROSE}\n" * 60 + "Published May 3, 2014\n") is None


def test_the_day_stands_behind_the_title_of_each_passage_of_the_page(tmp_path: Path) -> None:
    text = f"Published March 3, 2025\n\n{PROSE * 3}\n\n" + "Weirs are opened when rivers rise in spring. " * 20
    lines = [{"url": f"https://a.org/{n}", "title": "Dams", "text": text} for n in range(2)]
    lines[1] |= {"published": "2024-01-02"}
    (tmp_path / "pages.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (tmp_path / "page.md").write_text(f"# The weirs\n\n{text}", encoding="utf-8")
    found = CorpusSearch(tmp_path, limit=50).search("weirs rivers spring", 3)
    assert {(own.title, own.published) for own in found} == {
        ("Dams", "2025-03-03"),
        ("Dams", "2024-01-02"),
        ("The weirs", "2025-03-03"),
    }
    assert "[1] Dams (a.org, 2025-03-03): " in numbered_passages(passages(s for s in found if s.url.endswith("/0")))
