"""Which found pages bear on a topic."""

from collections.abc import Sequence

from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.evidence.subject import keep_relevant
from storm_pipeline.types import Brief, Snippet

ODER = "2022 Oder environmental disaster"


def snippets(*pages: tuple[str, str]) -> list[Snippet]:
    return [Snippet(f"https://example.org/{i}", title, text) for i, (title, text) in enumerate(pages)]


def embed(texts: Sequence[str]) -> Vectors:
    return HashingEmbedder().embed(texts)


def test_pages_that_name_the_topic_or_are_near_to_it_or_to_the_question_are_kept() -> None:
    found = snippets(
        ("Poland", "Tonnes of fish died in the river in a disaster for the whole environment of the Oder."),
        ("Report", "The commission wrote on the 2022 ODER environmental disaster."),
        ("Prymnesium parvum", "Golden algae release toxins that kill fish in brackish water."),
        ("Road Act 1916", "An act concerning the width of wagon wheels on county roads."),
    )
    assert keep_relevant(Brief(ODER), found, embed) == tuple(found[:2])
    asked = "Which toxins of golden algae kill fish?"
    assert keep_relevant(Brief(ODER), found, embed, asked) == tuple(found[:3])
    others = (f"Who was the {place} minister in office?" for place in ("Polish", "German", "Czech", "Danish"))
    assert keep_relevant(Brief(ODER), found, embed, *others, asked) == tuple(found[:3])


def test_a_page_is_kept_whole_and_one_in_another_language_too() -> None:
    page = [Snippet("https://a.org", "A", text) for text in ("The Oder is long.", "Wheels of wagons are wide.")]
    found = [*page, *snippets(("Pogoda", "Katastrofa zaskoczyła władze i mieszkańców regionu w sierpniu."))]
    assert keep_relevant(Brief("Oder"), found, embed) == tuple(found)
    assert keep_relevant(Brief("Odra", language="pl"), found, embed) == tuple(found[:2])
