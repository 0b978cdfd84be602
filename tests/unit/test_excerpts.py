"""What a section is shown and asked for: passages whole or in part, and its share of the words."""

from dataclasses import replace

import pytest
from articles import cites
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.evidence.citations import cited_snippet_ids
from storm_pipeline.evidence.evidence import PassageEvidence, words_of_sections
from storm_pipeline.evidence.passages import numbered_passages, passages
from storm_pipeline.method.writers.findings import with_excerpts
from storm_pipeline.types import Heading, Sentence, Snippet

TEXTS = (
    "The mill was built in 1820 by Anna Moskwa of red brick.",
    "It stands beside the weir on the left bank; the owners never paid for repairs of the roof.",
    "Fire destroyed its roof in 1931.",
    "A museum opened in the ruin in 1990.",
)
MILL = [Snippet("https://example.org/mill", "The mill", text, place=place) for place, text in enumerate(TEXTS)]
WOOD = Snippet("https://example.org/wood", "The wood", "The wood behind the town was felled in 1947.")


def section(title: str, shown: list[Snippet], *findings: Sentence) -> PassageEvidence:
    return PassageEvidence(Heading(title), passages(shown), findings)


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
