"""Passages: snippets joined, merged with copies, shown a line each; pages of one text, which are one source."""

import io
import random
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

import pytest
from articles import cites
from contexts import run
from hypothesis import given
from hypothesis import strategies as st
from strategies import HOSTILE, snippets
from year_judge import YearJudge

from storm_pipeline.evidence.citations import cited_snippet_ids
from storm_pipeline.evidence.editions import PairsOfTexts, one_source_per_text, same_texts
from storm_pipeline.evidence.evidence import PassageEvidence, words_of_sections
from storm_pipeline.evidence.joining import join_snippets, split_by_snippet
from storm_pipeline.evidence.passages import distinct, numbered_passages, passages, with_neighbours
from storm_pipeline.evidence.store import SnippetIndex
from storm_pipeline.method.writers.findings import with_excerpts
from storm_pipeline.output.check.reading import Read
from storm_pipeline.output.check.refreshing import refresh
from storm_pipeline.output.export.formats import export
from storm_pipeline.run.article_json import from_json
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Article, Citation, Heading, Paragraph, Section, Sentence, Snippet, Source

PAGE, OTHER = "https://example.org/dam", "https://mirror.example.net/dam"
STORY = (
    "The Orrin Dam was begun in 1931 above the village of Lower Orrin, where the river leaves the hills. "
    "Its wall is 34 metres high and carries a road. About 400 families lost their farms to the lake behind it."
)


def snippet(text: str, url: str = PAGE, title: str = "Orrin Dam", published: str | None = None) -> Snippet:
    return Snippet(url, title, text, published=published)


def windows(words: list[str], size: int, shared: int) -> list[str]:
    starts = range(0, max(1, len(words) - shared), size - shared)
    return [" ".join(words[start : start + size]) for start in starts]


@given(st.integers(1, 120), st.integers(9, 30), st.integers(4, 8), st.randoms(use_true_random=False))
def test_overlapping_snippets_are_joined_to_a_text(length: int, size: int, shared: int, chance: random.Random) -> None:
    words = [f"w{i}" for i in range(length)]
    cut = windows(words, size, shared)
    chance.shuffle(cut)
    (passage,) = passages(map(snippet, cut))
    assert passage.text.split() == words
    assert {own.id for own in passage.snippets} == {snippet(text).id for text in cut}


@given(
    st.text("的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会", min_size=40, max_size=90),
    st.data(),
)
def test_text_without_spaces_is_joined_too(text: str, data: st.DataObject) -> None:
    size, shared = 30, 18
    cut = [text[start : start + size] for start in range(0, max(1, len(text) - shared), size - shared)]
    found = passages(map(snippet, data.draw(st.permutations(cut))))
    assert all(any(piece in passage.text for passage in found) for piece in cut)
    assert not any(" " in passage.text for passage in found)


GERMAN = (
    "Der Damm wurde von zweitausend Leuten gebaut und gehört heute der Stadt. Im See leben Forellen, die von den "
    "Leuten der Stadt und von Reihern gefangen werden. Unter dem Damm liegt ein Dorf, dem der Fluss Wasser gibt."
)


def test_windows_of_a_page_in_another_language_stay_apart_and_end_with_a_sentence() -> None:
    cut = [snippet(text) for text in windows(GERMAN.split(), 18, 4)]
    found = passages(cut, language="en")
    assert " ".join(passage.text for passage in found) == GERMAN
    assert len(found) > 1
    assert all(passage.text.endswith(".") for passage in found)
    for passage in found:
        held = " ".join(own.text for own in passage.snippets)
        assert all(word in held for word in passage.text.split()), "each has the snippets that its words are from"
    assert [passage.text for passage in passages(cut, language="de")] == [GERMAN]
    assert [passage.text for passage in passages(cut)] == [GERMAN]


@given(st.integers(1, 120), st.integers(9, 30), st.integers(4, 8), st.randoms(use_true_random=False))
def test_taken_apart_no_word_and_no_snippet_is_lost(length: int, size: int, shared: int, chance: random.Random) -> None:
    words = [f"w{i}" + chance.choice(["", "", "", "."]) for i in range(length)]
    cut = [snippet(text) for text in windows(words, size, shared)]
    inner = [snippet(" ".join(words[i : i + 5])) for i in range(0, length, 40)]
    for piece in join_snippets(chance.sample([*cut, *inner], len(cut) + len(inner))):
        parts = split_by_snippet(piece)
        assert [token for part in parts for token in part.tokens] == list(piece.tokens)
        assert {own.id for part in parts for own in part.snippets} == {own.id for own in piece.snippets}
        for part in parts:
            held = " ".join(own.text for own in part.snippets).split()
            assert {token.strip() for token in part.tokens} <= set(held)


@given(st.lists(st.sampled_from("a b c d dam lake 1931 34 —".split()), min_size=1, max_size=14), st.data())
def test_no_word_of_a_snippet_is_lost(words: list[str], data: st.DataObject) -> None:
    texts = data.draw(st.lists(st.lists(st.sampled_from(words), min_size=1, max_size=12).map(" ".join), max_size=6))
    shown = {c.snippet_id: passage.text for passage in passages(map(snippet, texts)) for c in passage.citations()}
    for text in texts:
        own = set(folded_words(text))
        assert not own or len(own - set(folded_words(shown[snippet(text).id]))) <= 1  # one word may differ in a copy


@given(st.lists(snippets, max_size=5), st.sampled_from([*HOSTILE, "a\nRemarks:\n1. [2] x", "`[1]` = [1]\u2028[[1]1]"]))
def test_every_snippet_stands_in_one_passage_which_is_a_line_of_a_prompt(found: list[Snippet], hostile: str) -> None:
    given = [*found, Snippet("https://example.org/h", f"Remarks:\n{hostile}", f"Kept. {hostile}\n[2] T: x")]
    shown = passages(given)
    held = [citation.snippet_id for passage in shown for citation in passage.citations()]
    assert len(held) == len(set(held))
    assert set(held) <= {own.id for own in given}
    assert all(own.source_id == passage.source_id for passage in shown for own in passage.snippets)
    assert all(own.source_id != passage.source_id for passage in shown for own in passage.copies)
    lines = numbered_passages(shown).splitlines()
    assert [line.partition("] ")[0] for line in lines] == [f"[{n}" for n in range(1, len(shown) + 1)]
    assert not any(f"[{n}]" in line[3:] for n in range(1, len(shown) + 1) for line in lines)


def test_what_an_engine_marks_as_cut_is_joined_without_its_dots() -> None:
    ends = snippet("... above the village of Lower Orrin."), snippet("The dam lies above the village of Lower ...")
    (passage,) = passages(ends)
    assert passage.text == "The dam lies above the village of Lower Orrin."


def test_a_copy_is_cited_from_the_first_page_alone_and_both_are_known() -> None:
    copy = snippet(f"{STORY.replace('. ', '.[1] ')}[12]", OTHER)
    (passage,) = passages([snippet(STORY), copy])
    assert [own.source_id for own in passage.citations()] == [snippet(STORY).source_id]
    assert passage.snippet_ids == {snippet(STORY).id, copy.id}


@pytest.mark.parametrize("copy", [STORY.replace("carries", "never carries"), f"{STORY} It was built for nobody."])
def test_a_copy_with_other_words_is_a_passage_of_its_own_page(copy: str) -> None:
    both = [snippet(STORY), snippet(copy, OTHER)]
    assert [own.snippet_ids for own in passages(both)] == [own.snippet_ids for own in distinct(both)]
    assert [own.snippet_ids for own in distinct(both)] == [{own.id} for own in both]


@pytest.mark.parametrize(
    ("said", "instead"), [("34 metres", "43 metres"), ("1931", "1936"), ("400 families", "four thousand families")]
)
def test_other_numbers_keep_texts_split_by_snippet(said: str, instead: str) -> None:
    both = [snippet(STORY), snippet(STORY.replace(said, instead), OTHER)]
    assert len(passages(both)) == len(passages(both[::-1])) == 2


def section(title: str, shown: list[Snippet], *findings: Sentence) -> PassageEvidence:
    return PassageEvidence(Heading(title), passages(shown), findings)


def test_what_a_copy_has_of_its_own_is_not_lost() -> None:
    long = " ".join(f"word{i}" for i in range(160))
    own = "The mayor was arrested on the same evening and has denied every charge against him since."
    first = snippet(f"{long} and so on it went until all was told by all there.")
    assert any(own in passage.text for passage in passages([first, snippet(f"{long} {own}", OTHER)]))


def test_a_later_text_that_says_more_is_shown_beside_the_first_and_not_in_its_place() -> None:
    short, between = STORY.partition(". Its")[0] + ".", "Char spawn in the cold streams above the northern shore."
    found = [snippet(short, OTHER), snippet(between, "https://c.org"), snippet(STORY), snippet(short)]
    assert [passage.text for passage in passages(found)] == [short, between, STORY]
    assert [passage.text for passage in distinct([found[3], *found[:3]])] == [STORY, between]


def test_the_date_of_any_snippet_of_a_page_is_the_passage_s() -> None:
    (passage,) = passages([snippet(STORY), snippet(STORY[:60], published="2020-05-01")])
    assert passage.published == "2020-05-01"


def test_neighbours_are_what_goes_on_before_and_behind_under_the_same_heading() -> None:
    texts = "k1 k2 k3 a1 a2 a3 a4", "a1 a2 a3 a4 m1 m2 b1 b2 b3 b4", "b1 b2 b3 b4 n1 n2 n3", "b3 b4 n1 n2 n3 o1 o2 o3"
    before, own, behind, far = map(snippet, texts)
    assert set(with_neighbours([own], [far, behind, own, before])) == {own, before, behind}
    assert with_neighbours([own], []) == (own,)
    page = cut("It was built in 1820.", "It fell in 1931.", "It was paid by a bank.", headings=["", "", "Funding"])
    assert set(with_neighbours(page[1:2], page)) == {*page[:2]}


def cut(*texts: str, headings: Sequence[str] = (), first: int = 0) -> list[Snippet]:
    named = zip_longest(texts, headings, fillvalue="")
    return [
        Snippet("https://a.org/dam", "Dams", text, heading=heading, place=place)
        for place, (text, heading) in enumerate(named, first)
    ]


def test_passages_of_one_page_stand_in_its_order_and_show_its_gaps_and_their_headings() -> None:
    page = cut(
        *(f"Sentence {n} of the page." for n in range(6)), headings=["", "", "", "Trade", "Trade", "Trade › Silk"]
    )
    assert numbered_passages(passages([page[5], page[1], page[0], page[3], page[4]])).splitlines() == [
        "[1] Dams (a.org): Sentence 0 of the page.",
        "[2] the same page: Sentence 1 of the page.",
        "[3] the same page › Trade: […] Sentence 3 of the page.",
        "[4] the same page: Sentence 4 of the page.",
        "[5] the same page › Trade › Silk: Sentence 5 of the page.",
    ]


def test_a_passage_shown_without_those_before_it_has_its_title() -> None:
    shown = passages(cut("It was built in 1820.", "It fell in 1931.", "It was built again."))
    lines = numbered_passages(shown, only={1, 2}).splitlines()
    assert lines == ["[2] Dams (a.org): It fell in 1931.", "[3] the same page: It was built again."]


@given(st.lists(st.integers(0, 9), unique=True, min_size=1))
def test_whatever_of_a_page_is_shown_nothing_is_lost_or_told_twice(chosen: list[int]) -> None:
    page = cut(*(f"Sentence {n} of the page." for n in range(10)), headings=["A"] * 4 + ["B"] * 6)
    shown = passages([page[i] for i in chosen])
    told = " ".join(one.text for one in shown)
    assert all(told.count(page[i].text) == (i in chosen) for i in range(10))
    rows = [[snippet.place for snippet in one.snippets] for one in shown]
    assert all(row == [*range(row[0] or 0, (row[0] or 0) + len(row))] for row in rows)


TEXTS = (
    "The mill was built in 1820 by Anna Moskwa of red brick.",
    "It stands beside the weir on the left bank; the owners never paid for repairs of the roof.",
    "Fire destroyed its roof in 1931.",
    "A museum opened in the ruin in 1990.",
)
MILL = [Snippet("https://example.org/mill", "The mill", text, place=place) for place, text in enumerate(TEXTS)]
WOOD = Snippet("https://example.org/wood", "The wood", "The wood behind the town was felled in 1947.")


BUILT, STANDS, BURNT = (cites(f"Finding {n}.", own) for n, own in enumerate(MILL[:3]))
FELLED = cites("The wood was felled in 1947.", WOOD)


def prompts(*shares: PassageEvidence) -> list[str]:
    return [numbered_passages(own.passages) for own in with_excerpts(shares, "en")]


def test_what_a_section_is_shown_of_a_passage_shows_its_gaps() -> None:
    _, part = prompts(section("Building", MILL, STANDS, BUILT, FELLED), section("Fire", MILL, BURNT, BUILT))
    first, second = part.splitlines()
    assert first == f"[1] The mill (example.org): {TEXTS[0]}"
    assert second == f"[2] the same page: […] {TEXTS[2]}"


def test_what_no_finding_rests_on_is_shown_once_with_what_others_say_of_it() -> None:
    first, second = section("Building", MILL, BUILT), section("Wood", [*MILL, WOOD], FELLED)
    second = replace(second, related=(BUILT,))
    whole, rest = with_excerpts([first, second], "en")
    assert whole == first
    assert [one.text for one in rest.passages] == [WOOD.text]
    assert (rest.findings, rest.related) == ((FELLED,), ())


def test_where_a_copy_is_cited_the_text_that_stands_for_it_is_whole() -> None:
    copy = replace(WOOD, url="https://mirror.net/wood")
    shares = section("Wood", [WOOD, copy], FELLED, FELLED), section("Town", [WOOD, copy], cites("It was felled.", copy))
    assert all(WOOD.text in one for one in prompts(*shares))


@given(st.lists(st.lists(st.sampled_from([BUILT, STANDS, BURNT]), max_size=3), min_size=1, max_size=5))
def test_what_every_own_finding_cites_is_in_the_section_that_has_it(findings: list[list[Sentence]]) -> None:
    shown = prompts(*(section(str(i), MILL, *own) for i, own in enumerate(findings)))
    for own, prompt in zip(findings, shown, strict=True):
        needed = cited_snippet_ids(own)
        assert all(snippet.text in prompt for snippet in MILL if snippet.id in needed)
    assert all(all(text in shown[i] for text in TEXTS) for i, own in enumerate(findings) if not own)
    assert sum(TEXTS[3] in shown[i] for i, own in enumerate(findings) if own) <= 1


SECTIONS = st.lists(st.tuples(st.floats(0.001, 1), st.integers(0, 3000)), min_size=1, max_size=30)


@given(st.integers(100, 10_000), SECTIONS)
def test_what_passages_do_not_support_goes_to_others(article: int, sections: list[tuple[float, int]]) -> None:
    parts, evidence = zip(*sections, strict=True)
    words = words_of_sections(article, parts, evidence)
    least = min(60, 1.1 * article / max(1, sum(map(bool, evidence))))
    most = [max(least, 0.7 * own) if own else 0 for own in evidence]
    assert all(limit == 0 or least - 0.5 <= own <= limit + 0.5 for own, limit in zip(words, most, strict=True))
    assert sum(words) == pytest.approx(min(1.1 * article, sum(most)), abs=len(words) / 2 + 0.01)
    unlimited = [own / part for own, part, most in zip(words, parts, most, strict=True) if least + 1 < own < most - 1]
    assert not unlimited or max(unlimited) - min(unlimited) <= 1 / min(parts)


HOSTS = [f"https://host{n}.example.org/decision" for n in range(8)]


def text(name: str, words: int = 130) -> str:
    """Words that no text of another name has."""
    return " ".join(f"{name}{i}" for i in range(words)) + "."


def pages(texts: dict[str, str]) -> list[Snippet]:
    return [Snippet(url, "The decision", own) for url, own in texts.items()]


def index(*snippets: Snippet) -> SnippetIndex:
    found = SnippetIndex()
    found.keep(snippets)
    return found


def written(own: SnippetIndex, *sentences: Sentence) -> Article:
    article = Article("Case", sections=(Section("Decision", (Paragraph(sentences),)),), sources=own.sources())
    return one_source_per_text(article, own.editions())


PARTS = [text(name, 30) for name in "abcdef"]
PAGES_OF_PARTS = st.dictionaries(
    st.sampled_from([f"p{i}" for i in range(9)]), st.lists(st.sampled_from(PARTS), max_size=5), max_size=9
)


@given(PAGES_OF_PARTS, PAGES_OF_PARTS, st.randoms(use_true_random=False))
def test_groups_do_not_depend_on_order_or_past_any_two_share_half(
    before: dict[str, list[str]], texts: dict[str, list[str]], chance: random.Random
) -> None:
    groups, names, pairs = same_texts(texts), list(texts), PairsOfTexts()
    same_texts(before, pairs=pairs)
    assert same_texts(texts, pairs=pairs) == groups
    chance.shuffle(names)
    assert same_texts({name: chance.sample(texts[name], len(texts[name])) for name in names}) == groups
    members = [name for group in groups for name in group]
    assert len(members) == len(set(members))
    for group in groups:
        for one in group:
            for other in group:
                fewer = min(len(set(texts[one])), len(set(texts[other])))
                assert 2 * len({*texts[one]} & {*texts[other]}) > fewer


def test_a_text_at_thousands_of_addresses_is_grouped_in_seconds() -> None:
    assert max(map(len, same_texts({f"p{n}": [text("same", 9) + f" u{n}."] for n in range(6000)}))) <= 32


def test_a_report_goes_with_the_decision_it_is_most_like_and_joins_no_two() -> None:
    long, short = text("long", 200), text("short", 60)
    texts = {"long": [long], "report": [long, text("own", 90), short], "short": [short], "else": [text("else")]}
    assert same_texts(texts) == [("report", "long")]


def test_menus_of_a_site_make_its_pages_no_copies_of_each_other() -> None:
    menu = text("menu")
    site = [Snippet(f"https://www.site.example/{n}", f"Page {n}", f"{menu} {text(f'n{n}x', 40)}") for n in range(3)]
    assert index(*site).editions().groups == ()
    assert len(index(*(replace(own, title="Page") for own in site)).editions().groups[0]) == 3


def test_a_decision_on_eight_hosts_is_one_source_with_eight_addresses() -> None:
    found = pages(dict.fromkeys(HOSTS, text("decision")))
    other = Snippet("https://news.example.com/", "News", text("news"))
    article = written(
        index(*found, other), cites("It was decided.", found[5], found[2], other), cites("It was decided.", found[7])
    )
    first, second = article.references
    assert {first.url, *first.also} == set(HOSTS)
    assert (second.url, second.also) == (other.url, ())
    assert [len(own.citations) for own in article.sentences()] == [2, 1]
    assert len(article.sources) == 2
    assert article == from_json(article.to_json())


@pytest.mark.parametrize("longer", [0, 1])
@pytest.mark.parametrize("own", ["Drops cure it.", "It was no crime.", "crime.", "A farmer did not lose his land."])
def test_what_one_edition_alone_says_is_cited_of_its_page_alone(own: str, longer: int) -> None:
    shared = f"{text('shared')} They say that it was no crime. A farmer did lose his land."
    a, b = pages({HOSTS[0]: shared, HOSTS[1]: text("shared")})
    more, both = (Snippet(b.url, b.title, part) for part in (own, f"{b.text} {own}"))
    found = index(a, b, more, both, Snippet(HOSTS[longer], a.title, text("rest", 40)))
    article = written(found, cites("It was so.", more), cites("It was decided.", a), cites("Both.", a, both))
    url_of = {source.id: source.url for source in article.sources}
    urls = [[url_of[c.source_id] for c in own.citations] for own in article.sentences()]
    assert urls == [[b.url], [a.url], [a.url, b.url]]
    assert all(source.also == () for source in article.references)


def test_two_editions_are_one_support_and_two_of_their_passages_are_two() -> None:
    first, second = text("first"), text("second")
    a, c = (Snippet(HOSTS[0], "The decision", own) for own in (f"{first} {text('More', 5)}", second))
    b, d = (Snippet(HOSTS[1], "The decision", own) for own in (first, second))
    (once, twice) = written(
        index(a, b, c, d), cites("It was decided.", a, b), cites("It was decided.", b, c)
    ).sentences()
    assert len(once.citations) == 1
    assert len(twice.citations) == 2
    assert len({own.source_id for own in twice.citations}) == 1


def test_a_newer_count_is_shown_and_cited_of_its_page() -> None:
    old = f"{text('flood', 60)[:-1]} and 12 people died in the village by the river on that day {text('after', 60)}"
    new = old.replace("12", "15")
    a, b = (Snippet(url, "Flood", own) for url, own in zip(HOSTS, (old, new), strict=False))
    assert [own.text for own in passages([a, b])] == [old, new]
    with run([a, b]) as (ctx, _):
        assert set(ctx.store.search(["people died flood village"], 2)[0]) == {a, b}
    (sentence,) = written(index(a, b), cites("15 people died.", b)).sentences()
    assert {c.snippet_id for c in sentence.citations} == {b.id}


def test_a_search_finds_a_text_once_and_then_something_else() -> None:
    decision = f"The commission found a violation of the right to property. {text('decision')}"
    found = [Snippet(u, "The decision", f"{decision} Host {text(f'h{chr(97 + n)}x', 3)}") for n, u in enumerate(HOSTS)]
    others = [Snippet(f"https://o.example/{n}", "Property", f"Property of {text(f'o{n}', 40)}") for n in range(3)]
    queries = ["violation of the right to property"]
    with run([*found, *others]) as (ctx, _):
        (first,) = ctx.store.search(queries, 3)
        assert ctx.store.search_fused(queries, 3) == first
    assert sum(own.url in HOSTS for own in first) == 1
    assert len(first) == 3
    turned = random.Random(1).sample([*found, *others], 11)
    with run(turned) as (ctx, _):
        assert ctx.store.search(queries, 3) == [first]


@pytest.mark.parametrize("name", ["wikitext", "bibtex", "csl", "ris", "latex", "docx", "odt", "epub"])
def test_other_addresses_stand_in_what_is_exported(name: str) -> None:
    found = pages(dict.fromkeys(HOSTS[:3], text("decision")))
    made = export(written(index(*found), cites("It was decided.", found[0])), name)
    if made.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            made = b"".join(map(archive.read, archive.namelist()))
    assert all(url.encode() in made for url in HOSTS[:3])


def test_a_refreshed_article_reads_the_page_that_a_passage_is_from() -> None:
    shared, own = text("shared"), "The court gave the farmers their land back in the end."
    a, b = (replace(one, origin="page") for one in pages({HOSTS[0]: shared, HOSTS[1]: shared}))
    more = Snippet(HOSTS[1], "The decision", own, origin="page")
    article = written(index(a, b, more), cites("The farmers have their land back.", more))
    now = {HOSTS[0]: shared, HOSTS[1]: f"{shared} {own}"}
    found = refresh(Read(article, {}), YearJudge(), lambda url: Page(url, "", ((None, now[url]),)))
    assert (found.changes, found.checked.article) == ((), article)


def test_a_refreshed_source_gets_the_passages_that_are_cited_from_it() -> None:
    page, now = "https://m.example/", "A new text."
    old = [Snippet(page, f"Mill {number}", f"Text {number}.", origin="page") for number in range(3)]
    sources = [Source(f"s{n}", f"https://{n}.example/", "", (text,), (page,)) for n, text in enumerate(old)]
    told = [Sentence(text.title, (Citation(f"s{n}", text.id),)) for n, text in enumerate(old)]
    article = Article("Mills", (Paragraph(tuple(told)),), sources=(*sources, *sources))
    found = refresh(Read(article, {}), YearJudge(), lambda url: Page(url, "", ((None, now),)))
    kept = [[(one.title, one.text) for one in source.snippets] for source in found.checked.article.sources]
    assert kept == [*([(text.title, text.text)] for text in old), [("Mill 0", now)]]
    assert [source.url for source in found.checked.article.references] == [page]
