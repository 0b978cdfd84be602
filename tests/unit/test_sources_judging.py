"""Which sources may be used: their ratings, what is kept out of a run, and the engine that returns no other pages."""

import csv
import json
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest
from commands import run_storm
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import SettingsError
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
from storm_pipeline.sources.reliable.filtering import POLICIES, Policy, SourceFilter, SourcePolicy, date_in_address
from storm_pipeline.sources.reliable.ground_truth import GroundTruth, repeats_wikipedia, wikipedia_article
from storm_pipeline.sources.search.base import Search, SearchEngine
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.types import Snippet

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
    return Catalogue("2026", len(named), SitePatterns([(where(n), Entry(s, f"{n} is so")) for n, s in named.items()]))


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


FINE = {Rating.RELIABLE, Rating.SCHOLARLY, Rating.OFFICIAL, Rating.EDUCATION}
DOUBTFUL = {Rating.MIXED, Rating.NO_CONSENSUS, Rating.PREPRINT, Rating.UNKNOWN}
"""What the standard policy allows beside, an unknown site included."""


@pytest.mark.parametrize("status", [s for s in Rating if s not in {Rating.OWN, Rating.ALLOWED, Rating.DENIED}])
def test_what_each_policy_allows(status: Rating) -> None:
    places = known() if status is Rating.UNKNOWN else known(a_org=status)
    allowed = {p: SourcePolicy(p, catalogue=places).judge("https://a.org/").allowed for p in POLICIES}
    assert allowed == {"strict": status in FINE, "standard": status in FINE | DOUBTFUL, "any": True}
    assert all(SourcePolicy(p, catalogue=places).judge("corpus:own.txt").allowed for p in POLICIES)


@given(st.text(max_size=40), st.sampled_from(POLICIES))
def test_no_address_breaks_the_judge(url: str, policy: Policy) -> None:
    verdict = SourcePolicy(policy, catalogue=known(a_org=Rating.RELIABLE)).judge(url)
    assert verdict.allowed or policy == "strict"


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


@pytest.mark.parametrize("text", ["", "  ", "not a place", "mailto:me@a.org", "https://", "[::1", "no place " * 999])
def test_own_entries_that_name_no_place_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match=r"^.{,130} is not a valid place; write a domain"):
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


JUDGES = {policy: SourcePolicy(policy) for policy in POLICIES}
SUFFIXES = ["", "/", "?utm_source=x", "/?fbclid=1&utm_medium=y", "#part", ":443"]


@given(
    st.sampled_from(["nytimes.com", "forbes.com/sites", "forbes.com", "reddit.com", "unknown.example", "mit.edu"]),
    PATHS,
    st.integers(0, 2**50),
    st.sampled_from(["", "www.", "m.", "WWW.", "amp."]),
    st.sampled_from(["http://", "https://", "HTTPS://", ""]),
    st.sampled_from(SUFFIXES),
)
def test_spelling_makes_no_difference(
    place: str, path: str, capitals: int, prefix: str, scheme: str, suffix: str
) -> None:
    plain = f"{place}{path}"
    cased = "".join(char.upper() if capitals >> n & 1 else char.lower() for n, char in enumerate(plain))
    spelt = cased.replace("/", ":443/", 1) if suffix == ":443" and scheme else cased
    spelt = f"{scheme}{prefix}{spelt}{'' if suffix == ':443' else suffix}"
    for judge in JUDGES.values():
        first, second = judge.judge(f"https://{plain}"), judge.judge(spelt)
        assert (first.allowed, first.status, first.rule) == (second.allowed, second.status, second.rule)


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
    done = run_storm("sources", "check", *urls, *options)
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
    done = run_storm("sources", "check", "a.org", *options)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not done.stdout


SILK = "https://en.wikipedia.org/wiki/Silk_Road"
GOOD = ["https://www.nytimes.com/a", "https://www.bbc.co.uk/b", "https://apnews.com/c", "https://www.loc.gov/d"]
NEUTRAL = ["https://unknown.example/e", "https://www.britannica.com/f", "corpus:notes.txt"]
BAD = """
    https://www.reddit.com/r/g https://www.dailymail.co.uk/h https://x.com/i https://www.wikiwand.com/en/J
""".split()


def snippets(*urls: str) -> list[Snippet]:
    return [Snippet(url, f"about {url}", f"text {n}") for n, url in enumerate(urls)]


def reliable(engine: SearchEngine, policy: SourcePolicy, kept_out: GroundTruth | None = None) -> Search:
    """The engine with the filter behind it, as a run has it."""
    inner, sources = with_checks(engine), SourceFilter(policy, kept_out)
    return Search(engine.name, lambda q, k: sources.usable(inner.search(q, k + sources.spare(k)), q, k))


@given(
    st.lists(st.sampled_from([*GOOD, *NEUTRAL, *BAD, SILK]), max_size=14),
    st.sampled_from(POLICIES),
    st.booleans(),
    st.integers(0, 6),
)
def test_no_excluded_page_and_no_more_than_k(urls: list[str], policy: Policy, without_silk: bool, k: int) -> None:
    found = snippets(*urls)
    judge = JUDGES[policy]
    engine = reliable(FakeSearch({"q": found}), judge, GroundTruth([SILK]) if without_silk else None)
    result = engine.search("q", k)
    kept, excluded = list(result.snippets), {e.url for e in result.excluded}
    assert kept == [s for s in found if s in kept]
    assert len({s.url for s in kept}) <= k
    assert not {s.url for s in kept} & excluded
    assert all(judge.judge(s.url).allowed for s in kept)
    assert not (without_silk and SILK in {s.url for s in kept})
    assert len(excluded) == len(result.excluded)
    usable = {u for u in urls if judge.judge(u).allowed and not (without_silk and u == SILK)}
    if k > 0 and len(set(urls)) <= k:
        assert {s.url for s in kept} == usable
        assert excluded == set(urls) - usable


@pytest.mark.parametrize(
    ("url", "published"),
    [
        ("https://www.nytimes.com/1976/05/08/archives/southern-baptist-expansion.html", "1976-05-08"),
        ("https://example.org/2008/5/30/a-church/", "2008-05-30"),
        ("https://example.org/news/2013/11/shrine-parishioners/?page=2014/01/02", "2013-11"),
        ("https://www.theguardian.com/world/2022/Aug/12/oder", "2022-08-12"),
        *(("https://example.org/2022/08", "2022-08"), ("https://example.org/2023/02/30/no-such-day", None)),
        ("https://example.org/wp-content/uploads/2019/04/report.pdf", None),
        *(("https://example.org/1832/04/02/old", None), ("https://example.org/2019/13/x", None)),
        *(("https://example.org/2019/04/01/then/2020/05/02/now", None), ("https://example.org/12019/04/x", None)),
        *(("https://example.org/a#/2019/04/01/", None), ("https://example.org/2019", None), ("corpus:leads/12", None)),
        ("", None),
    ],
)
def test_dates_among_the_folders_of_an_address(url: str, published: str | None) -> None:
    assert date_in_address(url) == published


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


@given(TITLES, st.sampled_from(FORMS), st.sampled_from(FORMS), st.booleans())
def test_every_form_of_an_articles_address_excludes_every_other(
    title: str, excluded: str, found: str, encoded: bool
) -> None:
    path = quote(title, safe="") if encoded or set(title) & set("%&+;") else title
    plain = wikipedia_article("https://en.wikipedia.org/wiki/" + path)
    assert wikipedia_article(excluded.format(path)) == wikipedia_article(found.format(path)) == plain
    assert plain is not None
    assert plain[1].casefold().replace(" ", "")
    assert GroundTruth([excluded.format(path)]).recognise(found.format(path), "", "")


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


def test_copies_are_recognised_by_what_a_search_shows_of_the_page_and_what_is_known_never_changes() -> None:
    first, copy = GroundTruth([SILK]), "https://copy.example/1"
    truth = first.with_texts([PROSE])
    copied = f"BREAKING! {PROSE.upper().replace(',', '')} Read more on our site."
    assert "repeats a kept-out page" in str(truth.with_texts([OTHER_PROSE]).recognise(copy, "News", copied))
    quoting = f"{OTHER_PROSE} As one writer has it, {PROSE[:70]} {OTHER_PROSE[::-1]}"
    for text in (OTHER_PROSE, quoting):
        assert truth.recognise("https://other.example/1", "Beads", text) is None
    assert truth.recognise_by_name(copy, "Caravans") is None
    assert first.recognise(SILK, "Silk Road", PROSE) and first.recognise(copy, "Caravans", PROSE) is None


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
