"""The lexical index: terms, ranking, the floor under which nothing is found, threads, silence."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.sources.engines.wiki_leads import WikiLeads
from storm_pipeline.text.lexical import LexicalIndex, terms

TEXTS = [
    "The Black Death was a bubonic plague pandemic that spread through Europe on the fleas of rats.",
    "Photosynthesis turns light into chemical energy; its light reactions split water.",
    "Renaissance painting used oil paint, linear perspective and the technique of sfumato.",
    "Tuberculosis is treated with several antibiotics over many months.",
    "北京は中国の首都であり、長い歴史を持つ都市である。",
    "Oil is traded on exchanges in Europe.",
]


def index(texts: list[str], floor: float = 0.25) -> LexicalIndex:
    return LexicalIndex([[(text, 1)] for text in texts], floor=floor)


@pytest.mark.parametrize(
    ("query", "best"),
    [
        *(("How did the Black Death spread?", 0), ("photosynthesis light reactions", 1)),
        *(("RENAISSANCE paintings, techniques", 2), ("Tuberculosis treatment", 3), ("中国の首都", 4)),
    ],
)
def test_the_right_text_comes_first(query: str, best: int) -> None:
    matches = list(index(TEXTS).search(query))
    assert matches[0].position == best
    assert [m.score for m in matches] == sorted((m.score for m in matches), reverse=True)


@pytest.mark.parametrize(
    "query", ["", "how did the and of it?", "xqzt blorf", "!!! ...", "xqzt blorf wug plok europe", "ロケット"]
)
def test_nothing_that_matches_gives_nothing(query: str) -> None:
    assert list(index(TEXTS).search(query)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("paintings", "painted"), ("Café", "cafe"), ("studies", "study"), ("running", "run"), ("ＴＥＳＴ", "test")),
        *(("STRASSE", "straße"), ("churches", "church")),
    ],
)
def test_forms_of_a_word_meet(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


@given(st.lists(st.text(max_size=40), max_size=8), st.text(max_size=40))
def test_any_texts_and_query(texts: list[str], query: str) -> None:
    built = index(texts)
    matches = list(built.search(query))
    assert len({m.position for m in matches}) == len(matches)
    wanted = set(terms(query))
    for match in matches:
        assert wanted & set(terms(texts[match.position]))
        assert match.score > 0
        assert 0.25 <= match.coverage <= 1


def test_wiki_leads_gives_whole_paragraphs_with_addresses(tmp_path: Path) -> None:
    told = {"Silk Road": "The Silk Road was a network of trade routes across Asia.", "Empty": " "}
    told |= {"Trade": "Trade moves goods from one person to another.", "AC/DC? (band)": "AC/DC are a rock band."}
    path = tmp_path / "leads.json"
    path.write_text(json.dumps({title: {"title": title, "extract": text} for title, text in told.items()}), "utf-8")
    engine = WikiLeads(path)
    silk = engine.search("silk road trade", 5)[0]
    assert (silk.title, silk.url, silk.text, silk.engine) == (
        *("Silk Road", "https://en.wikipedia.org/wiki/Silk_Road", told["Silk Road"], "wiki-leads"),
    )
    assert len(engine.search("silk road trade", 1)) == 1
    assert list(engine.search("silk", 0)) == list(engine.search("gribbleflux", 3)) == []
