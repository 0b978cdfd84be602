"""Which pages may be used: places, policies, own lists, and the data that the package ships with."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.cli import app
from storm_pipeline.sources.reliable import catalogue
from storm_pipeline.sources.reliable.catalogue import (
    CAUTION,
    Catalogue,
    Entry,
    Rating,
    SitePattern,
    SitePatterns,
    load_catalogue,
    pattern_of,
)
from storm_pipeline.sources.reliable.filtering import POLICIES, Policy, SourcePolicy

LABELS = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=8)
HOSTS = st.lists(LABELS, min_size=2, max_size=4).map(".".join)
PATHS = st.lists(LABELS, max_size=3).map(lambda parts: "".join("/" + part for part in parts))
CODES = {
    "gr": Rating.RELIABLE,
    "m": Rating.MIXED,
    "nc": Rating.NO_CONSENSUS,
    "gu": Rating.UNRELIABLE,
    "d": Rating.DEPRECATED,
}


def perennial_places() -> dict[str, list[str]]:
    file = Path(catalogue.__file__).with_name("data") / "perennial.json"
    places: dict[str, list[str]] = json.loads(file.read_text("utf-8"))["places"]
    return places


def known(**entries: Rating) -> Catalogue:
    """A catalogue of places whose dots are written as underscores and slashes as double ones."""
    named = {name.replace("__", "/").replace("_", "."): status for name, status in entries.items()}
    return Catalogue(
        "2026", len(named), SitePatterns([(where(name), Entry(s, f"{name} is so")) for name, s in named.items()])
    )


def where(address: str) -> SitePattern:
    place = pattern_of(address)
    assert place is not None
    return place


@pytest.mark.parametrize(
    ("url", "rule", "status"),
    [
        ("https://www.nytimes.com/2024/01/01/world/a.html", "nytimes.com", Rating.RELIABLE),
        ("https://russian.rt.com/a", "rt.com", Rating.DEPRECATED),
        ("https://rt.com.example/a", "", Rating.UNKNOWN),
        ("https://www.forbes.com/sites/someone/2024/a", "forbes.com/sites", Rating.SELF_PUBLISHED),
        ("https://www.forbes.com/sitesmap", "forbes.com", Rating.MIXED),
        ("https://www.forbes.com/Advisor/cards/", "forbes.com/advisor", Rating.UNRELIABLE),
        ("https://newsnationnow.com/space/ufo-seen/", "newsnationnow.com/space/ufo*", Rating.UNRELIABLE),
        ("https://www.infowars.com/a", "infowars.com", Rating.BLACKLISTED),
        ("https://en.m.wikipedia.org/wiki/Silk", "wikipedia.org", Rating.UNRELIABLE),
        ("https://everything.explained.today/Silk/", "everything.explained.today", Rating.MIRROR),
        ("https://someone.tumblr.com/post/1", "tumblr.com", Rating.SELF_PUBLISHED),
        ("https://t.me/silk", "t.me", Rating.SOCIAL),
        ("https://www.ehow.com/how-to-silk", "ehow.com", Rating.CONTENT_FARM),
        ("https://gist.github.com/someone/1", "gist.github.com", Rating.USER_GENERATED),
        ("https://github.com/someone/project", "", Rating.UNKNOWN),
        ("https://www.omicsonline.org/a.pdf", "omicsonline.org", Rating.PREDATORY),
        ("https://www.wiktionary.org/wiki/silk", "wiktionary.org", Rating.OPEN_WIKI),
        ("https://link.springer.com/article/1", "springer.com", Rating.SCHOLARLY),
        ("https://arxiv.org/abs/2402.14207", "arxiv.org", Rating.PREPRINT),
        ("https://www.noaa.gov/silk", "gov", Rating.OFFICIAL),
        ("https://www.ox.ac.uk/silk", "ac.uk", Rating.EDUCATION),
        ("https://web.archive.org/web/20200101000000/http://www.bbc.co.uk/news", "bbc.co.uk", Rating.RELIABLE),
        ("https://web.archive.org/web/2020id_/dailymail.co.uk/a", "dailymail.co.uk", Rating.DEPRECATED),
        ("https://archive.org/details/silk", "", Rating.UNKNOWN),
        ("corpus:notes/silk.txt", "", Rating.OWN),
        ("file:///home/me/silk.pdf", "", Rating.OWN),
    ],
)
def test_the_closest_place_decides(url: str, rule: str, status: Rating) -> None:
    verdict = SourcePolicy().judge(url)
    assert (verdict.rule, verdict.status) == (rule, status)
    assert verdict.url == url
    assert verdict.reason


@pytest.mark.parametrize(
    ("status", "strict", "standard"),
    [(s, True, True) for s in (Rating.RELIABLE, Rating.SCHOLARLY, Rating.OFFICIAL, Rating.EDUCATION)]
    + [(s, False, True) for s in (Rating.MIXED, Rating.NO_CONSENSUS, Rating.PREPRINT)]
    + [
        (s, False, False)
        for s in (
            Rating.UNRELIABLE, Rating.DEPRECATED, Rating.BLACKLISTED, Rating.USER_GENERATED, Rating.SELF_PUBLISHED,
            Rating.SOCIAL, Rating.OPEN_WIKI, Rating.MIRROR, Rating.CONTENT_FARM, Rating.PREDATORY,
        )
    ],
)  # fmt: skip
def test_what_each_policy_allows(status: Rating, strict: bool, standard: bool) -> None:
    allowed = {p: SourcePolicy(p, catalogue=known(a_org=status)).judge("https://a.org/").allowed for p in POLICIES}
    assert allowed == {"strict": strict, "standard": standard, "any": True}


def test_of_the_unknown_strict_keeps_nothing_but_what_is_no_web_page() -> None:
    allowed = {p: SourcePolicy(p, catalogue=known()).judge("https://b.org/").allowed for p in POLICIES}
    assert allowed == {"strict": False, "standard": True, "any": True}
    assert all(SourcePolicy(p, catalogue=known()).judge("corpus:own.txt").allowed for p in POLICIES)


@pytest.mark.parametrize("worst", CAUTION)
@pytest.mark.parametrize("best", CAUTION)
def test_several_rows_of_one_place_are_resolved_by_the_policy(best: Rating, worst: Rating) -> None:
    rows = [(SitePattern("a.org"), Entry(status, f"row says {status}", listed=True)) for status in (worst, best)]
    verdicts = {
        p: SourcePolicy(p, catalogue=Catalogue("2026", 2, SitePatterns(rows))).judge("a.org/x") for p in POLICIES
    }
    ranks = sorted((CAUTION.index(best), CAUTION.index(worst)))
    assert verdicts["strict"].allowed == (ranks[1] == CAUTION.index(Rating.RELIABLE))
    assert verdicts["standard"].allowed == (ranks[0] <= CAUTION.index(Rating.NO_CONSENSUS))
    assert {v.status for v in verdicts.values()} == {best if best == worst else Rating.MIXED}
    assert all(f"row says {status}" in verdicts["strict"].reason for status in (best, worst))


def test_own_lists_go_before_everything() -> None:
    judge = SourcePolicy(
        "strict", allow=["reddit.com/r/askhistorians", "blog.example"], deny=["nytimes.com", "blog.example/x"]
    )
    allowed = {
        "https://www.reddit.com/r/AskHistorians/comments/1": Rating.ALLOWED,
        "https://www.blog.example/a": Rating.ALLOWED,
        "https://blog.example/x/y": Rating.DENIED,
        "https://www.nytimes.com/a": Rating.DENIED,
        "https://reddit.com/r/silk": Rating.UNRELIABLE,
    }
    verdicts = {url: judge.judge(url) for url in allowed}
    assert {url: v.status for url, v in verdicts.items()} == allowed
    assert all(v.allowed == (v.status is Rating.ALLOWED) for v in verdicts.values())
    assert not SourcePolicy("any", allow=["a.org"], deny=["a.org"]).judge("https://a.org").allowed


@pytest.mark.parametrize("text", ["", "  ", "not a place", "mailto:me@a.org", "https://", "[::1"])
def test_own_entries_that_name_no_place_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="is not a valid place; write a domain"):
        SourcePolicy(deny=[text])


@given(HOSTS, PATHS, LABELS, LABELS)
def test_a_place_never_matches_inside_a_label_or_a_segment(host: str, path: str, more: str, other: str) -> None:
    place = where(host + path)
    places = SitePatterns([(place, "here")])
    beyond = SitePattern(place.host, f"{place.path}/{more}")
    assert places.find(place) == places.find(beyond) == (place, ("here",))
    assert places.find(SitePattern(f"{more}.{place.host}", place.path)) == (place, ("here",))
    assert places.find(SitePattern(more + place.host, place.path)) is None
    assert places.find(SitePattern(place.host + more, place.path)) is None
    assert places.find(SitePattern(f"{place.host}.{other}", place.path)) is None or other in place.host
    if place.path:
        assert places.find(SitePattern(place.host, place.path + more)) is None
        assert places.find(SitePattern(place.host)) is None


@given(
    st.sampled_from(["nytimes.com", "forbes.com/sites", "forbes.com", "reddit.com", "unknown.example", "mit.edu"]),
    PATHS,
    st.sampled_from(POLICIES),
    st.data(),
)
def test_spelling_makes_no_difference(place: str, path: str, policy: Policy, data: st.DataObject) -> None:
    plain = f"{place}{path}"
    cased = "".join(data.draw(st.sampled_from([c.lower(), c.upper()])) for c in plain)
    prefix = data.draw(st.sampled_from(["", "www.", "m.", "WWW.", "amp."]))
    scheme = data.draw(st.sampled_from(["http://", "https://", "HTTPS://", ""]))
    suffix = data.draw(st.sampled_from(["", "/", "?utm_source=x", "/?fbclid=1&utm_medium=y", "#part", ":443"]))
    spelt = (
        scheme
        + prefix
        + (cased if suffix != ":443" or not scheme else cased.replace("/", ":443/", 1))
        + ("" if suffix == ":443" else suffix)
    )
    first, second = SourcePolicy(policy).judge(f"https://{plain}"), SourcePolicy(policy).judge(spelt)
    assert (first.allowed, first.status, first.rule) == (second.allowed, second.status, second.rule)


@given(st.text(max_size=40), st.sampled_from(POLICIES))
def test_no_address_breaks_the_judge(url: str, policy: Policy) -> None:
    verdict = SourcePolicy(policy, catalogue=known(a_org=Rating.RELIABLE)).judge(url)
    assert verdict.allowed or policy == "strict"


def test_the_packaged_rules_say_one_thing_of_each_place() -> None:
    rules = json.loads(Path(catalogue.__file__).with_name("data").joinpath("rules.json").read_text("utf-8"))["rules"]
    places = [(str(where(text)), text) for rule in rules for text in rule["places"]]
    listed = {text for places in perennial_places().values() for text in places}
    assert not [place for place, n in Counter(place for place, _ in places).items() if n > 1]
    assert not [place for place, _ in places if place in listed], "the list says it already"
    assert not [(place, text) for place, text in places if place != text], "written otherwise than it is read"
    assert sum(len(rule["places"]) for rule in rules if rule["status"] == Rating.MIRROR) > 100


@pytest.mark.data
def test_the_packaged_list_holds_the_facts(data_dir: Path) -> None:
    with (data_dir / "rsp" / "rsp_domains.csv").open(encoding="utf-8", newline="") as file:
        facts = {
            (where(r["domain"]), Rating.BLACKLISTED if r["blacklisted"] == "1" else CODES[r["status"]])
            for r in csv.DictReader(file)
        }
    rows = [(where(text), status) for status, places in perennial_places().items() for text in places]
    assert set(rows) == facts
    assert load_catalogue().size == len(rows) == 826


def test_check_explains_verdicts() -> None:
    urls = ["https://www.nytimes.com/a", "https://www.forbes.com/sites/b", "https://a.example/c", "https://b.example/d"]
    options = ["--policy", "strict", "--allow", "a.example", "--deny", "b.example"]
    done = CliRunner().invoke(app, ["sources", "check", *urls, *options])
    assert done.exit_code == 0, done.output
    head, *lines = done.stdout.splitlines()
    assert head.split() == ["page", "allowed", "status", "by", "why"]
    assert [line.split()[1] for line in lines] == ["yes", "no", "yes", "no"]
    assert "forbes.com/sites" in lines[1]
    assert f"as of {load_catalogue().as_of}, {load_catalogue().size} places" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"), [(["--policy", "lax"], "no source policy 'lax'"), (["--deny", " "], "is not a valid place")]
)
def test_check_refuses_what_it_cannot_use(options: list[str], said: str) -> None:
    done = CliRunner().invoke(app, ["sources", "check", "a.org", *options])
    assert done.exit_code == 2
    assert said in done.stderr
    assert not done.stdout
