"""An article from a frozen web: its engine gives titles and snippets, and pages are read as those of the web are."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from llm import FakeModel
from wiki_live_files import ARTICLE, FILLER, PAGES, PRESS, topic_file, write_wiki_live

from storm_benchmarks.frozen_web import FrozenWeb, longest_chain, main, read_lines, read_topic, report, written
from storm_pipeline.errors import PageError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder

FORUM = "https://www.reddit.com/r/orrin"
MORE = [
    {"url": FORUM, "title": "The dam of Lake Orrin", "text": f"The dam of Lake Orrin leaks. {FILLER}"},
    {"url": "https://copy.example/x", "title": "Orrin", "text": ARTICLE},
]


@pytest.fixture
def topic(tmp_path: Path) -> tuple[str, FrozenWeb]:
    folder = write_wiki_live(tmp_path / "data", orrin=topic_file(pages=[*PAGES, *MORE]))
    return read_topic(folder / "orrin.json.gz")


def test_the_engine_gives_titles_and_short_snippets(topic: tuple[str, FrozenWeb]) -> None:
    title, web = topic
    assert (title, len(web.pages)) == ("Lake Orrin", 3)  # without Wikipedia, a copy of the article, and a notice
    found = web.search("what the dam of Lake Orrin cost", 2)
    assert [(one.url, one.title) for one in found] == [(PRESS, "The dam of Orrin"), (FORUM, MORE[0]["title"])]
    assert "12 million crowns" in found[0].text
    assert len(found[0].text.split()) <= 30


def test_a_page_is_fetched_without_markup(topic: tuple[str, FrozenWeb]) -> None:
    page = topic[1].fetch(PRESS)
    assert page.title == "The dam of Orrin"
    assert "The dam of Lake Orrin was begun in 1929, and it cost 12 million crowns." in page.pages[0][1]
    with pytest.raises(PageError, match="not among the pages"):
        topic[1].fetch("https://elsewhere.example/")


def test_a_run_reads_whole_pages_under_the_source_policy(topic: tuple[str, FrozenWeb], tmp_path: Path) -> None:
    few: dict[str, Any] = {"perspectives": 1, "turns": 1, "related_topics": 0, "out": tmp_path, "cache": tmp_path / "c"}
    with FakeModel() as model:
        article, folder = written(*topic, {"lm": model.lm, **few}, embedder=HashingEmbedder())
        again, same = written(*topic, {"lm": model.lm, **few}, folder, embedder=HashingEmbedder())
    assert (article.sections, folder) == (again.sections, same)
    results = [one["value"] for one in read_lines(folder / "journal.jsonl") if one["kind"] == "search"]
    found = [one for result in results for one in result["snippets"]]
    assert {one["origin"] for one in found if one["url"] == PRESS} == {"page"}
    assert FORUM not in {one["url"] for one in found}
    assert max(len(one["text"].split()) for one in found) > 60  # a passage, not the engine's snippet
    printed = "\n".join(report(article, folder))
    assert f"calls: {article.usage.calls}" in printed
    assert f"  {FORUM}: generally unreliable" in printed


def test_calls_side_by_side_make_no_chain(tmp_path: Path) -> None:
    calls = [(0, 2), (1, 2), (2, 3), (2.5, 4), (3, 5)]  # start and end of each
    lines = (f'{{"event": "CallFinished", "at": {end}, "seconds": {end - start}}}' for start, end in calls)
    (tmp_path / "events.jsonl").write_text("\n".join(lines))
    assert longest_chain(tmp_path / "events.jsonl") == 3


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (gzip.compress(bytes(2**26 + 1)), "more than"),
        (gzip.compress(b'{"title": "A\\u001bB"}'), "damaged"),
        (b"{", "damaged"),
    ],
    ids=["bomb", "other", "none"],
)
def test_a_file_of_another_kind_is_one_line(data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "t.json.gz").write_bytes(data)
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "t.json.gz"), "--lm", "scripted/model", "--out", str(tmp_path / "out")])
    message = str(ended.value)
    assert (message[:7], why in message, message.isprintable()) == ("error: ", True, True)
