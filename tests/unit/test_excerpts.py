"""A passage stands whole in one section's prompt, and in part in those of others."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.references.evidence import PassageEvidence
from storm_pipeline.references.passages import numbered_passages, passages
from storm_pipeline.types import Citation, Heading, Sentence, Snippet
from storm_pipeline.writers.findings import with_excerpts

MILL = Snippet(
    "https://example.org/mill",
    "The mill",
    "The mill was built in 1820 by Anna Moskwa of red brick. It stands beside the weir on the left bank. "
    "Fire destroyed its roof in 1931. The owners never paid for repairs. A museum opened in the ruin in 1990.",
)
MUEHLE = Snippet(
    "https://example.org/muehle",
    "Die Mühle",
    "Die Mühle wurde aus rotem Backstein gebaut. Ein Brand zerstörte das Dach, und niemand bezahlte den Schaden. "
    "Später wurde in der Ruine ein Museum eröffnet, das jeden Sonntag besucht werden kann.",
)


def told(text: str, *snippets: Snippet) -> Sentence:
    return Sentence(text, tuple(Citation(one.source_id, one.id) for one in snippets))


def section(title: str, shown: tuple[Snippet, ...], *findings: Sentence) -> PassageEvidence:
    return PassageEvidence(Heading(title), passages(shown), findings, len(findings))


BUILT = told("Anna Moskwa built the mill of red brick in 1820.", MILL)
STANDS = told("The mill stands beside the weir.", MILL)
WOOD = Snippet("https://example.org/wood", "The wood", "The wood behind the town was felled in 1947.")
FELLED = told("The wood was felled in 1947.", WOOD)
BURNT = told("A fire destroyed the roof in 1931.", MILL)


def prompts(*shares: PassageEvidence) -> list[str]:
    return [numbered_passages(own.passages, excerpts=own.excerpts) for own in with_excerpts(shares, "en")]


def test_a_passage_is_whole_where_most_findings_rest_on_it_and_in_part_elsewhere() -> None:
    whole, part = prompts(section("Building", (MILL,), BUILT, STANDS), section("Fire", (MILL,), BURNT))
    assert MILL.text in whole
    assert part == "[1] The mill (example.org, in part): Fire destroyed its roof in 1931."


TAKINGS = Snippet(
    "https://example.org/takings",
    "The takings",
    "The museum keeps an account of all its takings since the war. Year Visitors Takings. 1951 1,204 310 crowns. "
    "1952 2,117 522 crowns. 1953 1,980 498 crowns. 1954 2,344 610 crowns. Since then the ruin has been open on Sundays "
    "alone, and nobody counts who comes to see the mill.",
)


def test_a_row_that_a_finding_rests_on_by_its_figures_stays_with_the_head_of_its_table() -> None:
    opened = told("The ruin has been open on Sundays alone since then.", TAKINGS)
    counted = told("In 1953 the ruin of the mill was seen by 1,980 people in all, who came to see it.", TAKINGS)
    whole, part = prompts(
        section("Museum", (TAKINGS,), opened, told("Takings are kept.", TAKINGS)),
        section("Visitors", (TAKINGS,), counted),
    )
    assert TAKINGS.text in whole
    assert "Year Visitors Takings. …" in part
    assert "1953 1,980 498 crowns." in part
    assert "1951" not in part


def test_a_menu_above_a_page_is_no_head_of_a_table() -> None:
    prose = "A fire destroyed the roof of the mill in 1931. The mill was built again with a roof of red brick in 1936."
    page = Snippet("https://example.org/archive", "The mill", f"Latest Shows Archive. Open Navigation. Mill. {prose}")
    told_of = told("The roof of the mill was built again in 1936.", page), told("It has red brick.", page)
    _, part = prompts(
        section("Building", (page,), *told_of),
        section("Fire", (page,), told("A fire destroyed the mill in 1931.", page)),
    )
    assert "Latest Shows" not in part
    assert "Navigation" not in part


SONGS = Snippet(
    "https://example.org/songs",
    "The songs",
    "The band sang of the weir and the mill, and the miller sang with it. Look below for the songs of the night. "
    "1\\. The Weir 2\\. Grey Stone 3\\. Why Water? 4\\. Rust 5\\. Left Bank 6\\. Out of Tune 7\\. "
    "The band will be back.",
)


def test_the_items_of_a_list_that_a_finding_names_stay() -> None:
    sung = told("The band sang of the weir and the mill.", SONGS), told("The band will be back.", SONGS)
    listed = told('The night began with "Grey Stone", "Why Water?", "Rust", "Left Bank" and "Out of Tune".', SONGS)
    whole, part = prompts(section("Band", (SONGS,), *sung), section("Songs", (SONGS,), listed))
    assert SONGS.text in whole
    assert all(title in part for title in ("Grey Stone", "Why Water?", "Rust", "Left Bank", "Out of Tune"))


@given(st.lists(st.integers(0, 9999).map(str), min_size=1, max_size=4, unique=True), st.integers(0, 3))
def test_the_figures_of_a_finding_are_never_cut_away(figures: list[str], place: int) -> None:
    prose = "The keeper of the mill told the visitors of it, and they went home in the evening."
    rows = [prose] * 4
    rows[place] = ". ".join(figures) + "."
    page = Snippet("https://example.org/rows", "Rows", " ".join(rows))
    finding = told(f"The mill had {figures[-1]} visitors, told the keeper of it.", page)
    other = told("They went home in the evening.", page), told("The keeper told the visitors of it.", page)
    _, part = prompts(section("Evening", (page,), *other), section("Visitors", (page,), finding))
    assert figures[-1] in part


def test_what_no_finding_rests_on_is_shown_once_with_what_others_say_of_it() -> None:
    first, second = section("Building", (MILL,), BUILT), section("Wood", (MILL, WOOD), FELLED)
    second = replace(second, findings=(FELLED, BUILT))
    whole, rest = with_excerpts([first, second], "en")
    assert whole == first
    assert [one.text for one in rest.passages] == [WOOD.text]
    assert (rest.findings, rest.own) == ((FELLED,), 1)


def test_a_section_that_no_finding_is_assigned_to_has_all_whole() -> None:
    assert all(MILL.text in one for one in prompts(section("Building", (MILL,), BUILT), section("Fire", (MILL,))))


def test_a_passage_in_another_language_is_whole_wherever_a_finding_rests_on_it() -> None:
    built, burnt = told("It is of red brick.", MUEHLE), told("A fire destroyed the roof.", MUEHLE)
    assert all(
        MUEHLE.text in shown for shown in prompts(section("A", (MUEHLE,), built), section("B", (MUEHLE,), burnt))
    )


def test_of_equal_claims_the_first_section_has_it_whole() -> None:
    first, second = prompts(section("Building", (MILL,), BUILT), section("Fire", (MILL,), BURNT))
    assert MILL.text in first
    assert "in part" in second


@given(st.lists(st.lists(st.sampled_from([BUILT, STANDS, BURNT]), max_size=3), min_size=1, max_size=5))
def test_every_passage_is_whole_in_one_section_with_findings_and_in_all_without(findings: list[list[Sentence]]) -> None:
    shown = prompts(*(section(str(i), (MILL,), *own) for i, own in enumerate(findings)))
    whole = [MILL.text in one for one in shown]
    assert all(whole[i] for i, own in enumerate(findings) if not own)
    assert sum(whole[i] for i, own in enumerate(findings) if own) == (1 if any(findings) else 0)
