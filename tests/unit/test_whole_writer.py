"""The writer for capable models: answers, sections and articles from passages, and what it is shown for them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from contexts import run

from storm_pipeline.method.writers.passage_answers import answer_from_passages
from storm_pipeline.method.writers.writing import evidence_from, write_whole
from storm_pipeline.types import Heading, Outline, Section, Snippet, Turn

DAM = Snippet(
    "https://a.org/dam", "Orrin Dam", "Two thousand men built the Orrin Dam of concrete from 1931 until 1936."
)
FLOOD = Snippet(
    "https://b.org/flood", "Floods", "A flood came over the wall in 1952 and took away the mill of the town."
)
OUTLINE = Outline("Orrin Dam", (Heading("History", (Heading("Floods"), Heading("Repairs"))), Heading("Lake")))
BUILT = "The dam of concrete was built by two thousand men from 1931 until 1936 [1]."
FLOODED = "Which flood came over the wall in 1952 and took away the mill of the town?"
WALTZ = "Penguins waltz beneath Antarctic moonlight [2]."
CAME = "In 1952 a flood came over the wall and took the mill of the town [2]."


def texts(section: Section) -> list[str]:
    return [sentence.text for sentence in section.sentences()]


def section(reply: str, remarks: str = "") -> Section:
    replies: dict[str, Any] = {"WriteSection": lambda _: {"text": reply}, "AnswerRemarks": lambda _: {"text": remarks}}
    with run([DAM, FLOOD], replies) as (ctx, _):
        evidence = evidence_from(ctx, OUTLINE.sections[0], [DAM, FLOOD])
        return write_whole(ctx, OUTLINE, evidence)


def test_planned_subheadings_become_subsections() -> None:
    own = section(f"{BUILT}\n\n## Floods\n{CAME}\n")
    assert own.heading == "History"
    assert [len(paragraph.sentences) for paragraph in own.paragraphs] == [1]
    assert [(below.heading, len(texts(below))) for below in own.subsections] == [("Floods", 1)]


def test_nothing_of_a_subsection_without_support_is_left() -> None:
    own = section(f"{BUILT}\n## Repairs\n{WALTZ}", "1: delete")
    assert not own.subsections
    assert len(texts(own)) == 1


@pytest.mark.parametrize(("uncited", "kept"), [("drop", [BUILT, CAME]), ("unchecked", [BUILT, WALTZ, CAME])])
def test_an_answer_keeps_what_is_supported_or_cited_and_counts_the_rest(uncited: str, kept: list[str]) -> None:
    reply = f"{BUILT} {WALTZ} Nobody knows. {CAME.replace('[2]', '[2][7]')}"
    with run(replies={"AnswerFromPassages": lambda inputs: {"answer": reply}}, uncited=uncited) as (ctx, told):
        answer = answer_from_passages(ctx, FLOODED, [DAM, FLOOD])
        known = [ctx.store.snippet(c.snippet_id) for own in answer.answer for c in own.citations]
    assert [own.text for own in answer.answer] == [text.rpartition(" [")[0] + "." for text in kept]
    assert known == [DAM, FLOOD, FLOOD][: len(kept)]
    assert (told.counted("invented_citations"), told.counted("dropped_unsupported")) == (1, 4 - len(kept))


QUESTION = "How many votes did Congress need to remove the president of Peru?"


def page(name: str, *texts: str) -> list[Snippet]:
    return [Snippet(f"https://{name}.org/", f"Peru 2022, {name}", text) for text in texts]


def filler(seed: str, words: int = 90) -> str:
    """A sentence of so many words, every other one a function word."""
    return " ".join(f"{seed}{number} and" for number in range(words // 2)) + " so on."


def answered(found: list[Snippet], reply: str, beside: Sequence[Snippet] = (), **settings: Any) -> tuple[Turn, str]:
    shown: list[str] = []

    def answer(inputs: Mapping[str, Any]) -> dict[str, str]:
        shown.append(inputs["passages"])
        return {"answer": reply}

    with run([], {"AnswerFromPassages": answer}, "Peru 2022", **settings) as (ctx, _):
        return answer_from_passages(ctx, QUESTION, found, beside), "".join(shown)


VOTE = page("vote", "Congress needed 87 votes to remove the president of Peru in 2022.")
POLL = page("poll", "A poll of 2022 says that 87 percent of Peru disapproved of Congress.")


def test_a_finding_carries_the_pages_that_its_own_sentence_cites_and_no_others() -> None:
    answer, _ = answered([*VOTE, *POLL], "Congress needed 87 votes to remove the president of Peru in 2022 [1].")
    assert [[c.snippet_id for c in one.citations] for one in answer.answer] == [[VOTE[0].id]]
    wrong, _ = answered([*VOTE, *POLL], "Congress needed 87 votes to remove the president of Peru in 2022 [2].")
    assert all(c.snippet_id != VOTE[0].id for one in wrong.answer for c in one.citations)


def test_where_the_best_page_breaks_off_it_goes_on() -> None:
    needed = "The votes that Congress needed to remove the president of Peru were eighty-seven."
    parts = f"{filler('early')} {needed} {filler('late')}".split()
    windows = [" ".join(parts[:100]), " ".join(parts[96:])]  # the first one breaks off in the answer
    others = [one for n in range(9) for one in page(f"other{n}", f"Peru 2022 and its Congress. {filler(f'o{n}x')}")]
    _, shown = answered([*page("best", *windows), *others], "The sources do not say.", evidence=500)
    assert "remove the president of Peru were eighty-seven" in shown
    assert len(shown.split()) < 1000 / 3 * 1.3


def whole_page(name: str, *texts: str) -> list[Snippet]:
    return [replace(one, place=place) for place, one in enumerate(page(name, *texts))]


def test_what_the_pages_found_say_is_shown_though_the_search_did_not_return_it() -> None:
    texts = [f"Peru had its day {n} of 2022. {filler(f'd{n}x', 30)}" for n in range(60)]
    texts[40] = "Eighty-seven votes were what Congress needed to remove the president of Peru."
    own = whole_page("news", *texts)
    answer, shown = answered(own[:3], "Congress needed eighty-seven votes [4].", own)
    assert texts[40] in shown
    assert all(texts[n] in shown for n in (39, 41))  # with its neighbours
    assert own[40] in answer.snippets


def test_an_answer_is_shown_eight_to_twelve_distinct_passages_whatever_hosts_repeat() -> None:
    news = [
        f"On day {n} Congress took {n + 40} votes on the president of Peru. {filler(f'v{n}x', 60)}" for n in range(9)
    ]
    copies = [one for host in "abcd" for one in whole_page(f"copy{host}", *news)]
    others = [one for n in range(9) for one in page(f"o{n}", f"Congress of Peru {n}. {filler(f'o{n}x', 60)}")]
    answer, shown = answered([*copies[:12], *others], "The sources do not say.", copies)
    told = [line.partition("): ")[2] for line in shown.splitlines()]
    sentences = [sentence for line in told for sentence in line.split(". ")]
    repeated = sum(len(s.split()) for s, number in Counter(sentences).items() for _ in range(number - 1))
    assert repeated <= 0.05 * sum(len(line.split()) for line in told)
    distinct = {one.text for one in answer.snippets}
    assert 8 <= len(distinct) <= 18
