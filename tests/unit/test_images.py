"""Images of cited articles: which licences are free, what of an answer is used, and how it is shown."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from contexts import run
from hypothesis import given, settings
from hypothesis import strategies as st
from image_server import FACTS, file_info, image, wiki
from servers import Reply, Request, ScriptedServer
from strategies import HOSTILE

from storm_pipeline.errors import RunError, SearchError
from storm_pipeline.net.retrying import Patience
from storm_pipeline.render.json import from_json, to_json
from storm_pipeline.run.events import CallbackSink, Event, Events, Reused
from storm_pipeline.run.journal import Journal, fingerprint
from storm_pipeline.run.recorded_search import RecordedLookUps
from storm_pipeline.search.tables_of_contents import NoContents
from storm_pipeline.search.wikimedia_images import LeadImages, WikimediaImages, free_licence
from storm_pipeline.steps.images import find_images
from storm_pipeline.types import Article, Snippet, Source

QUICK = Patience(connect=1, read=1, total=2, attempts=2, first_pause=0.01, longest_pause=0.02)
FREE = [
    ("Public domain", "Public domain", "", False),
    ("pd", "Public domain", "", False),
    ("CC0", "CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/", False),
    ("cc-zero", "CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/", False),
    ("CC BY 4.0", "CC BY 4.0", "https://creativecommons.org/licenses/by/4.0/", True),
    ("cc-by-sa-3.0-de", "CC BY-SA 3.0 de", "https://creativecommons.org/licenses/by-sa/3.0/de/", True),
    ("CC BY-SA 2.5-2.0-1.0", "CC BY-SA 2.5", "https://creativecommons.org/licenses/by-sa/2.5/", True),
    ("GFDL", "GFDL", "https://www.gnu.org/licenses/fdl-1.3.html", True),
    ("GFDL 1.2", "GFDL 1.2", "https://www.gnu.org/licenses/old-licenses/fdl-1.2.html", True),
]


@pytest.mark.parametrize(("name", "called", "url", "asks"), FREE)
def test_free_licences(name: str, called: str, url: str, asks: bool) -> None:
    found = free_licence(name)
    assert found
    assert (found.name, found.url, found.requires_author) == (called, url, asks)


@pytest.mark.parametrize(
    "name",
    [
        "", "Fair use", "CC BY-NC 4.0", "CC BY-ND 2.0", "CC BY-NC-SA 3.0", "CC BY-SA", "CC BY-SA 9.9", "CC BY 4.0 nc",
        "CC BY-SA 4.0 or fair use", "Copyrighted", "All rights reserved", "not public domain", "CC BY ٤.٠", "GFDL 7",
    ],
)  # fmt: skip
def test_other_licences(name: str) -> None:
    assert free_licence(name) is None


@given(
    st.sampled_from(["CC BY", "CC BY-SA"]),
    st.sampled_from(["1.0", "2.0", "2.1", "2.5", "3.0", "4.0"]),
    st.sampled_from(["", " de", " us", " igo", " scotland"]),
    st.sampled_from([" ", "-", "_", "  "]),
    st.booleans(),
)
def test_every_spelling_of_a_licence_is_read_alike(kind: str, version: str, port: str, between: str, low: bool) -> None:
    name = f"{kind} {version}{port}"
    found = free_licence((name.lower() if low else name).replace(" ", between))
    assert found == free_licence(name)
    assert found
    assert found.name == name
    assert free_licence(found.name) == found
    address = f"https://creativecommons.org/licenses/{kind[3:].lower()}/{version}/{port.strip()}/"
    assert found.url == address.replace("//", "/").replace("https:/", "https://")


@given(
    st.lists(st.sampled_from("cc by sa nc nd fair use 4.0 3.0 pd gfdl 1.2 public domain zero de".split()), max_size=6)
)
def test_no_name_with_a_restriction_is_free(words: list[str]) -> None:
    found = free_licence(" ".join(words))
    assert not (found and {"nc", "nd", "fair", "use"} & set(words))


@given(st.text(max_size=40))
def test_any_text_is_read(name: str) -> None:
    found = free_licence(name)
    assert found is None or free_licence(found.name) == found


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("url", "http://upload.wikimedia.org/a.jpg"),
        ("url", "https://upload.wikimedia.org.evil.example/a.jpg"),
        ("url", "https://uploadXwikimedia.org/a.jpg"),
        ("url", "https://upload.wikimedia.org@evil.example/a.jpg"),
        ("url", 'https://upload.wikimedia.org/a.jpg" onload="x'),
        ("url", "https://upload.wikimedia.org/a\n.jpg"),
        ("url", "javascript:alert(1)"),
        ("url", ""),
        ("file_page", "https://en.wikipedia.org/wiki/File:A.jpg"),
        ("licence_url", "https://evil.example/"),
    ],
)
def test_an_image_has_addresses_of_wikimedia_alone(name: str, address: str) -> None:
    with pytest.raises(ValueError, match=f"the {name} of an image"):
        image(**{name: address})
    record = json.loads(to_json(Article("x", images=(image(),))))
    record["article"]["images"][0][name] = address
    with pytest.raises(RunError, match="damaged"):
        from_json(json.dumps(record))


def look_up(script: Callable[[Request], Reply] | Reply, *titles: str) -> LeadImages:
    with ScriptedServer(script) as server:
        asked = {f"s{n}": title for n, title in enumerate(titles)}
        return WikimediaImages(api=f"{server.url}/w/api.php", patience=QUICK).lead_images("en", asked)


def test_a_free_lead_image_comes_with_its_credit() -> None:
    found = look_up(wiki({"Old tower": file_info("Old tower.jpg")}, {"The tower": "Old tower"}), "The tower", "Nothing")
    (only,) = found.images
    assert (only.source_id, only.licence, only.author, only.alt) == ("s0", "CC BY-SA 4.0", "Ada Low", "A tower")
    assert only.url.startswith("https://thumb.wikimedia.org/wikipedia/commons/thumb/a/ab/Old_tower.jpg/960px-")
    assert only.file_page == "https://commons.wikimedia.org/wiki/File:Old_tower.jpg"
    assert found.refused == ()


def test_the_credit_line_that_the_author_asks_for_comes_first() -> None:
    (only,) = look_up(wiki({"A": file_info(Attribution="<p>Photo: A. Low</p>")}), "A").images
    assert only.author == "Photo: A. Low"


@pytest.mark.parametrize(
    ("info", "why"),
    [
        (file_info(LicenseShortName="Fair use"), "Fair use"),
        (file_info(LicenseShortName=None), "no licence stated"),
        (file_info(LicenseShortName={"en": "CC0"}), "no licence stated"),
        (file_info(NonFree="true"), "CC BY-SA 4.0"),
        (file_info(Artist=None), "no author to credit"),
        (file_info() | {"thumburl": "https://evil.example/a.jpg"}, "not on Wikimedia Commons"),
        (file_info() | {"descriptionurl": "https://en.wikipedia.org/wiki/File:A.jpg"}, "not on Wikimedia Commons"),
        (file_info() | {"extmetadata": []}, "no licence stated"),
        ({}, "no licence stated"),
        ("nothing", "no licence stated"),
    ],
)
def test_other_images_are_refused_by_name(info: Any, why: str) -> None:
    assert look_up(wiki({"A": info}), "A") == LeadImages(refused=(f"A.jpg ({why})",))


def test_a_licence_whose_name_is_translated_is_known_by_its_code() -> None:
    (only,) = look_up(wiki({"A": file_info(LicenseShortName="Gemeinfrei", License="pd")}), "A").images
    assert only.licence == "Public domain"
    (why,) = look_up(wiki({"A": file_info(LicenseShortName="Nicht frei", License="cc-by-nc-4.0")}), "A").refused
    assert why == "A.jpg (Nicht frei)"


def test_the_public_domain_needs_no_author() -> None:
    (only,) = look_up(wiki({"A": file_info(LicenseShortName="Public domain", Artist=None)}), "A").images
    assert (only.author, only.licence_url) == ("", "")


nasty = st.one_of(
    st.sampled_from(
        [*HOSTILE, "<div" * 50, "<b>" * 3000, "\0\x1b\u202e<p>x", "&#0;&#xd800;", "<!-- a -->b", "<?php x?>c"]
    ),
    st.text(max_size=30),
    st.none() | st.integers() | st.lists(st.text(max_size=3), max_size=2),
)


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.sampled_from([*FACTS, "Attribution", "Credit", "ObjectName", "License"]), nasty))
def test_hostile_texts_come_out_as_plain_short_lines(facts: dict[str, Any]) -> None:
    found = look_up(wiki({"A": file_info(**facts)}), "A")
    assert len(found.images) + len(found.refused) == 1
    for text in (*found.refused, *(text for one in found.images for text in (one.author, one.alt))):
        assert text == " ".join(text.split())
        assert len(text) <= 300
        assert not set(text) & set("\0\x1b\u202e\ud800")


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(503), "503"),
        (Reply(301, headers={"Location": "http://127.0.0.1:1/"}), "301"),
        (Reply(body="<html>login</html>"), "web page instead of JSON"),
        (Reply(body={"error": {"code": "ratelimited", "info": "Slow down"}}), "Slow down"),
        (Reply(body=[]), "unknown format"),
        (Reply(body={"query": {"pages": {"1": {}}}}), "unknown format"),
        (Reply(reset=True), "could not be reached"),
    ],
)
def test_a_failed_look_up_says_why(reply: Reply, says: str) -> None:
    with pytest.raises(SearchError, match=says):
        look_up(reply, "A")


def test_a_silent_service_costs_little_time() -> None:
    with ScriptedServer(Reply(delay=20)) as server, pytest.raises(SearchError, match=r"within 0\.2 s"):
        WikimediaImages(api=server.url, patience=Patience(read=20), seconds=0.2).lead_images("en", {"s": "A"})


def test_titles_that_no_article_has_are_not_asked_for() -> None:
    asked: list[str] = []

    def reply(request: Request) -> Reply:
        asked.extend(request.form["titles"].split("|"))
        return Reply(body={"batchcomplete": True, "query": {"pages": []}})

    assert look_up(reply, "A|B", "", "x" * 300, "C#d", *(f"T{n}" for n in range(60))) == LeadImages()
    assert asked == [f"T{n}" for n in range(50)]


class Fixed:
    """An image source that keeps what it was asked."""

    def __init__(self, *found: LeadImages | SearchError) -> None:
        self.asked: list[tuple[str, dict[str, str]]] = []
        self._found = found

    def lead_images(self, language: str, titles: Mapping[str, str]) -> LeadImages:
        self.asked.append((language, dict(titles)))
        found = self._found[min(len(self.asked), len(self._found)) - 1]
        if isinstance(found, SearchError):
            raise found
        return found


def test_a_resumed_run_asks_nothing_twice(tmp_path: Path) -> None:
    told: list[Event] = []
    source_of = Fixed(LeadImages((image(),), ("B.jpg (Fair use)",)))
    with Journal(tmp_path / "journal.jsonl") as journal:  # a record that this version cannot read
        journal.add("images", fingerprint("en", {"s1": "Tower"}), {"images": [{"url": "http://evil.example/"}]})
    for _ in range(3):
        with Journal(tmp_path / "journal.jsonl") as journal:
            images = RecordedLookUps(NoContents(), source_of, journal, Events(CallbackSink(told.append)))
            assert images.lead_images("en", {"s1": "Tower"}) == LeadImages((image(),), ("B.jpg (Fair use)",))
    assert source_of.asked == [("en", {"s1": "Tower"})]
    assert [event.kind for event in told if isinstance(event, Reused)] == ["images", "images"]


def cited(*urls: str) -> list[Source]:
    snippets = [Snippet(url, url, "It is so.") for url in urls]
    return [Source(s.source_id, s.url, s.title, (s,)) for s in snippets]


@contextmanager
def context(found: Fixed, **keywords: Any) -> Iterator[tuple[Any, Any]]:
    with run(**keywords) as (ctx, told):
        yield replace(ctx, images=found), told


def test_only_cited_wikipedia_articles_are_looked_up() -> None:
    pages = cited(
        "https://en.wikipedia.org/wiki/Old_tower",
        "https://de.m.wikipedia.org/wiki/Turm",
        "https://www.wikiwand.com/en/Bridge",
        "https://example.org/wiki/Tower",
        "corpus:notes.md",
        "https://[bad",
    )
    found = Fixed(LeadImages((image(),)), LeadImages())
    with context(found, images="wikimedia") as (ctx, told):
        assert find_images(ctx, pages) == (image(),)
        assert told.degraded() == []
    assert found.asked == [("en", {pages[0].id: "Old tower"}), ("de", {pages[1].id: "Turm"})]


@pytest.mark.parametrize(("mode", "url"), [("off", "https://en.wikipedia.org/wiki/A"), ("wikimedia", "https://a.org/")])
def test_nothing_is_looked_up_unasked(mode: str, url: str) -> None:
    found = Fixed(SearchError("asked"))
    with context(found, images=mode) as (ctx, told):
        assert find_images(ctx, cited(url)) == ()
        assert told.events == []


def test_the_report_says_once_what_is_missing() -> None:
    pages = cited(
        "https://en.wikipedia.org/wiki/A", "https://de.wikipedia.org/wiki/A", "https://fr.wikipedia.org/wiki/A"
    )
    found = Fixed(LeadImages((image(),), ("A.jpg (Fair use)", "B", "C", "D")), SearchError("Wikimedia is away"))
    with context(found, images="wikimedia") as (ctx, told):
        assert find_images(ctx, pages) == (image(),)
        assert told.degraded() == [
            "images could not be looked up: Wikimedia is away",
            "images left out because their licence is not known to be free: A.jpg (Fair use), B, C and 1 more",
        ]
    assert len(found.asked) == 2
