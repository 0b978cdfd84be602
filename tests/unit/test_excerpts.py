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
