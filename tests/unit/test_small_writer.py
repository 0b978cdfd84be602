"""The writer for small models: whose sentences it tells, which of them the model chooses, and what stands first."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest
from contexts import Told, run
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import ModelError
from storm_pipeline.models.probabilities import probabilities
from storm_pipeline.references.evidence import Evidence
from storm_pipeline.references.subject import Subject, related, subject_of
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.writer import Material, Writing
from storm_pipeline.types import Heading, Outline, Section, Snippet
from storm_pipeline.writers.small.evidence import SentenceEvidence
from storm_pipeline.writers.small.writer import SmallWriter

OPENING = (
    "The Orrin Dam is a concrete dam on the river Orrin above the town of Selby. "
    "It was built by the state between 1931 and 1936. Engineers of the capital planned it as a source of power."
)
OWN = Snippet("https://example.org/dam", "Orrin Dam", OPENING)
THINGS = "turbine spillway gallery fishway crest reservoir tunnel road museum village".split()
OUTLINE = Outline("Orrin Dam", (Heading("Turbine and tunnel"), Heading("Fishway and museum")))


def about(thing: str) -> Snippet:
    """A page of three sentences about a thing of the dam."""
    verbs = ("carries", "closes", "warms")
    text = " ".join(f"The {thing} of the Orrin Dam {verb} the {thing}s of the dam in the north." for verb in verbs)
    return Snippet(f"https://example.org/{thing}", f"{thing.title()} of Selby", text)


PAGES = [OWN, *map(about, THINGS)]


def says(word: str) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A model that finds a sentence important if it has a word."""
    return lambda inputs: {"matters": "yes" if word in inputs["sentence"] else "no"}


def written(
    snippets: Sequence[Snippet], choose: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> AbstractContextManager[tuple[RunContext, Told]]:
    return run(snippets, {"ChooseSentence": choose}, writing="sentences")


def article(
    snippets: Sequence[Snippet], choose: Callable[[Mapping[str, Any]], dict[str, Any]], outline: Outline = OUTLINE
) -> tuple[Evidence[SentenceEvidence], list[Section], Told]:
    with written(snippets, choose) as (ctx, told):
        evidence = SmallWriter().gather(ctx, Material(outline))
        return evidence, [SmallWriter().write(ctx, Writing(outline, own)) for own in evidence.sections], told


def texts(sections: Sequence[Section]) -> list[str]:
    return [sentence.text for section in sections for sentence in section.sentences()]


def test_the_lead_is_the_topics_own_page_whole_and_unchanged() -> None:
    evidence, sections, _ = article([*PAGES[1:], OWN], says("carries"))
    assert " ".join(fact.text for fact in evidence.for_lead) == OPENING
    assert {fact.citation.source_id for fact in evidence.for_lead} == {OWN.source_id}
    assert not set(texts(sections)) & {fact.text for fact in evidence.for_lead}


def test_without_a_page_of_its_own_the_lead_is_chosen_by_the_model() -> None:
    evidence, _, _ = article(PAGES[1:], says("warms"))
    assert evidence.for_lead
    assert all("warms" in fact.text or "carries" in fact.text for fact in evidence.for_lead)


@pytest.mark.parametrize("word", ["carries", "closes"])
def test_the_model_decides_which_sentences_are_told(word: str) -> None:
    _, sections, told = article(PAGES, says(word))
    assert texts(sections)
    assert all(word in text or "carries" in text for text in texts(sections))  # the first of a page says what it is
    assert not told.degraded()


def test_what_the_model_finds_unimportant_is_not_told() -> None:
    assert not texts(article(PAGES, says("nothing"))[1])


def test_a_sentence_stands_behind_the_first_of_its_passage() -> None:
    for section in article(PAGES, says("warms"))[1]:
        told = [sentence.text for sentence in section.sentences()]
        for text in told:
            if "warms" in text:
                assert told[told.index(text) - 1] == text.replace("warms", "carries")


def test_where_the_model_fails_nearness_decides_and_the_report_says_so() -> None:
    def fails(_: Mapping[str, Any]) -> dict[str, Any]:
        raise ModelError("no reply")

    _, _, told = article(PAGES, fails)
    assert told.degraded()
    assert all("by nearness to the topic alone" in one for one in told.degraded())


@given(st.lists(st.sampled_from(PAGES), unique=True), st.sampled_from(["carries", "closes", "warms", "dam"]))
def test_no_sentence_stands_twice_and_each_is_a_sentence_of_what_it_cites(pages: list[Snippet], word: str) -> None:
    copy = [replace(page, url=page.url + "/copy") for page in pages]
    evidence, sections, _ = article([*pages, *copy], says(word))
    told = [fact.text for fact in evidence.for_lead] + texts(sections)
    by_id = {page.source_id: page.text for page in (*pages, *copy)}
    assert len(told) - len(evidence.for_lead) == len(set(texts(sections)))
    for section in sections:
        for sentence in section.sentences():
            (citation,) = sentence.citations
            assert sentence.text in by_id[citation.source_id]


def test_a_page_is_related_if_it_names_the_topic_or_is_near_to_it() -> None:
    other = Snippet("https://example.org/x", "Cheese", "Cheese is made of milk in the mountains of another land.")
    with written([OWN], says("")) as (ctx, _):
        subject = subject_of("Orrin Dam", [OWN])
        assert related(subject, [other, OWN, about("road")], ctx.store) == [OWN, about("road")]


@pytest.mark.parametrize(
    ("topic", "titles", "own"),
    [
        ("Mercury (planet)", ["Mercury", "Mercury (planet)"], "Mercury (planet)"),
        ("Mercury (planet)", ["Venus", "Mercury"], "Mercury"),
        ("the silk road", ["Silk Road", "The Silk Road"], "The Silk Road"),
        ("Silk", ["Silk Road"], None),
    ],
)
def test_the_own_page_has_the_topic_as_its_title(topic: str, titles: list[str], own: str | None) -> None:
    pages = [Snippet(f"https://example.org/{n}", title, f"{title} is a thing.") for n, title in enumerate(titles)]
    found = subject_of(topic, pages)
    assert [page.title for page in pages if page.source_id in found.own] == ([own] if own else [])
    assert found.definition == (f"{own} is a thing." if own else "")


def test_a_subject_is_named_without_its_brackets_in_any_case() -> None:
    subject = Subject("Officer (armed forces)")
    assert subject.named_in("An OFFICER commands.")
    assert not subject.named_in("A soldier obeys.")


def test_probabilities_are_read_at_the_token_of_the_choice() -> None:
    def token(text: str, **others: float) -> dict[str, Any]:
        return {
            "token": text,
            "logprob": -0.1,
            "top_logprobs": [{"token": one, "logprob": value} for one, value in others.items()],
        }

    content = [token('{"matters": "', yes=0.0), token("yes", yes=-0.2877, no=-1.3863, maybe=-9.0), token('"}')]
    assert probabilities({"content": content}, "yes", ("yes", "no")) == pytest.approx(
        {"yes": 0.75, "no": 0.25}, abs=0.01
    )
    assert probabilities(None, "yes", ("yes", "no")) == {"yes": 0.0, "no": 0.0}
