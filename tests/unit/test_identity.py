"""Canonical addresses, titles and content ids: spellings of one page meet, different pages stay apart."""

import re
from contextlib import suppress
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storm_pipeline.errors import PageError
from storm_pipeline.sources.pages.connection import target_of
from storm_pipeline.sources.reliable.catalogue import pattern_of
from storm_pipeline.text.identity import (
    canonical_url,
    host_of,
    is_preprint,
    is_wikipedia,
    normalised_text,
    snippet_id,
    source_id,
)

HOSTS = st.from_regex(r"[a-z]{3,8}(\.[a-z]{3,8})?\.(com|org|net)", fullmatch=True).filter(
    lambda host: not host.startswith(("www.", "mobile.", "amp."))
)
SEGMENTS = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="/"), min_size=1, max_size=12
).filter(lambda text: text.strip() not in {"amp", ".", ""} and not text.endswith((".amp", ">")) and not text.isspace())
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(quote(p, safe="") for p in parts))
NAMES = st.from_regex(r"[a-z]{2,5}[0-9]", fullmatch=True)
QUERIES = st.dictionaries(NAMES, st.from_regex(r"[a-z0-9]{1,5}", fullmatch=True), max_size=3)
WEBBY = st.text('htps:/.w%mwiki#?&=[]@a0é東\ud800\u2100 ~!;+-_|>\\"', max_size=40)


def build(host: str, path: str, query: dict[str, str], scheme: str = "https") -> str:
    return f"{scheme}://{host}{path}" + ("?" + "&".join(f"{k}={v}" for k, v in query.items()) if query else "")


@given(
    st.one_of(
        st.text(max_size=60),
        WEBBY,
        WEBBY.map("https://".__add__),
        st.text(max_size=30).map("http://a.b/".__add__),
    )
)
@example("https://en.m.m.wikipedia.org/wiki/X")
@example("https://example.com/story/amp/amp/")
@example("http://[::1]:8080/a")
@example("https://例え.jp/道")
@example("https://a.b/\ud800?x=\udfff")
@example("https://.../x")
@example("https://a.b/%2f%2F/..//%zz%")
@example("http://a.b:99999/")
@example("HTTP:// :")
@example("http://a.b c/d")
@example("http://[")
@example("https://℀.org/")
@example("https://x.org\\@who.int/")
def test_any_string_has_a_stable_canonical_form(url: str) -> None:
    once = canonical_url(url)
    assert canonical_url(once) == once
    assert re.fullmatch("s[0-9a-f]{40}", source_id(url))
    assert is_wikipedia(url) in (True, False)
    assert source_id(url) == source_id(once)
    with suppress(PageError):
        assert host_of(canonical_url(target_of(url).url)) == host_of(once), "what is fetched"


@given(HOSTS, PATHS, QUERIES)
def test_spellings_of_one_page_meet(host: str, path: str, query: dict[str, str]) -> None:
    url = build(host, path, query)
    mark = "&" if query else "?"
    backwards = build(host, path, dict(reversed(query.items())))
    spellings = [
        *(build(host, path, query, "http"), build(host, path, query, "HTTPS"), build(host.upper(), path, query)),
        *(build(f"www.{host}", path, query), build(f"m.{host}", path, query), build(f"{host}:443", path, query)),
        *(build(host, f"{path}/", query), build(host, f"{path}/amp", query), build(host, f"{path}%3E", query)),
        *(build(f"amp.{host}", path, query), f"{url}{mark}amp=1", f"{url}{mark}outputType=amp"),
        *(f"{url}#section", f"{url}{mark}utm_source=x&UTM_Medium=y&fbclid=z", f"  {url}\n", backwards),
    ]
    assert {canonical_url(spelling) for spelling in spellings} == {canonical_url(url)}


OF_TWO_OWNERS = [("m.github.io", "amp.github.io"), ("amp.com.au", "m.com.au"), ("x.m.wiki.br", "x.wiki.br")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://x.org/a%2Fb", "https://x.org/a/b"),
        ("https://x.org/a", "https://x.org/A"),
        ("https://x.org/p?a=2&a=1", "https://x.org/p?a=1&a=2"),
        ("https://x.org:8080/", "https://x.org/"),
        ("https://en.wikipedia.org/wiki/amp", "https://en.wikipedia.org/wiki"),
        ("https://x.org/#!/one", "https://x.org/#!/two"),
        ("https://m.com/", "https://x.com/"),
        ("https://x.org/amp", "https://x.org/"),
        *(("https://stra\u00dfe.de/", "https://strasse.de/"), ("https://good.m.wiki/", "https://good.wiki/")),
        *((f"https://{own}/", f"https://{other}/") for own, other in OF_TWO_OWNERS),
        ("file:///a/B.txt", "file:///a/b.txt"),
    ],
)
def test_look_alikes_stay_apart(one: str, other: str) -> None:
    assert canonical_url(one) != canonical_url(other)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://en.m.wikipedia.org/wiki/Silk_Road#Routes", "https://en.wikipedia.org/wiki/Silk_Road"),
        ("https://en.wikipedia.org/wiki/Caf%c3%a9", "https://en.wikipedia.org/wiki/Caf%C3%A9"),
        ("https://user:secret@www.x.org./", "https://x.org"),
        ("https://amp.x.org/story.amp?amp=1", "https://x.org/story"),
        ("http://[::1]:8080/a/", "https://[::1]:8080/a"),
        ("https://bücher.example/", "https://xn--bcher-kva.example"),
        ("https://google.com/amp", "https://google.com/amp"),
        (" corpus:a b ", "corpus:a b"),
        ("ftp://X.org/A/", "ftp://X.org/A/"),
    ],
)
def test_canonical_form(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


def test_repeated_endings_take_bounded_work() -> None:
    path = "/a" + "/amp" * 300_000  # from each of them takes an hour
    assert canonical_url(f"https://x.org{path}b") == f"https://x.org{path}b"
    assert canonical_url(f"https://x.org{path}") == "https://x.org/a"


@pytest.mark.parametrize("host", [f"{'a.' * 200_000}arxiv.org", f"x{'.m' * 200_000}.wiki", "www." * 100_000 + "org"])
def test_what_is_too_long_for_a_host_is_not_cut_into_its_parts(host: str) -> None:
    url = f"https://{host}/x"  # its parts would be compared for an hour
    assert (canonical_url(url), host_of(url), is_preprint(url), pattern_of(url)) == (url, "", False, None)


@given(st.text(), st.text())
def test_snippet_ids_follow_normalised_text_and_page(one: str, other: str) -> None:
    url = "https://x.org/p"
    assert re.fullmatch("t[0-9a-f]{40}", snippet_id(url, one))
    assert (snippet_id(url, one) == snippet_id("http://www.x.org/p/", other)) == (
        normalised_text(one) == normalised_text(other)
    )
