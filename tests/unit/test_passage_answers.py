"""Expert answers of the writer for capable models: what they are shown, and what becomes a finding."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from contexts import run

from storm_pipeline.types import Answer, Snippet
from storm_pipeline.writers.passage_answers import answer_from_passages

QUESTION = "How many votes did Congress need to remove the president of Peru?"


def page(name: str, *texts: str) -> list[Snippet]:
    return [Snippet(f"https://{name}.org/", f"Peru 2022, {name}", text) for text in texts]


def filler(seed: str, words: int = 90) -> str:
    """A sentence of so many words, every other one a function word."""
    return " ".join(f"{seed}{number} and" for number in range(words // 2)) + " so on."


def answered(found: list[Snippet], reply: str, beside: Sequence[Snippet] = (), **settings: Any) -> tuple[Answer, str]:
    shown: list[str] = []

    def answer(inputs: Mapping[str, Any]) -> dict[str, str]:
        shown.append(inputs["passages"])
        return {"answer": reply}

    with run([], {"AnswerFromPassages": answer}, **settings) as (ctx, _):
        return answer_from_passages(ctx, "Peru 2022", QUESTION, found, beside), "".join(shown)


VOTE = page("vote", "Congress needed 87 votes to remove the president of Peru in 2022.")
POLL = page("poll", "A poll of 2022 says that 87 percent of Peru disapproved of Congress.")


def test_a_finding_carries_the_pages_that_its_own_sentence_cites_and_no_others() -> None:
    answer, _ = answered([*VOTE, *POLL], "Congress needed 87 votes to remove the president of Peru in 2022 [1].")
    assert [[c.snippet_id for c in one.citations] for one in answer.sentences] == [[VOTE[0].id]]
    wrong, _ = answered([*VOTE, *POLL], "Congress needed 87 votes to remove the president of Peru in 2022 [2].")
    assert all(c.snippet_id != VOTE[0].id for one in wrong.sentences for c in one.citations)


def test_a_finding_is_a_whole_sentence() -> None:
    said = "Congress needed 87 votes to remove the president of Peru in 2022. [1] Votes of Congress [1]. Peru: 87 [1]\n"
    answer, _ = answered(VOTE, said)
    assert [one.text for one in answer.sentences] == [
        "Congress needed 87 votes to remove the president of Peru in 2022."
    ]


def test_where_the_best_page_breaks_off_it_goes_on() -> None:
    needed = "The votes that Congress needed to remove the president of Peru were eighty-seven."
    parts = f"{filler('early')} {needed} {filler('late')}".split()
    windows = [" ".join(parts[:100]), " ".join(parts[96:])]  # the first one breaks off in the answer
    others = [one for n in range(9) for one in page(f"other{n}", f"Peru 2022 and its Congress. {filler(f'o{n}x')}")]
    _, shown = answered([*page("best", *windows), *others], "The sources do not say.", evidence=500)
    assert "remove the president of Peru were eighty-seven" in shown
    assert len(shown.split()) < 1000 / 3 * 1.3


def test_what_bears_on_the_question_is_shown_and_not_what_the_search_ranks_low() -> None:
    others = [one for n in range(9) for one in page(f"other{n}", f"Peru 2022 in the news. {filler(f'o{n}x')}")]
    _, shown = answered([*others, *VOTE], "The sources do not say.", evidence=500)
    assert "Congress needed 87 votes" in shown
    assert "o8x1" not in shown


def test_menus_come_last_whatever_words_they_share() -> None:
    menu = "Congress Votes Peru President Remove Need Games Hardware News Reviews Guides Video Forum Magazine "
    menus = [one for n in range(9) for one in page(f"menu{n}", f"{menu * 12}{n}")]
    _, shown = answered([*menus, *VOTE], "The sources do not say.", evidence=200)
    assert VOTE[0].text in shown
    assert "Hardware" not in shown


def test_a_search_without_results_asks_no_model() -> None:
    assert answered([], "Something [1].") == (Answer(), "")


def whole_page(name: str, *texts: str) -> list[Snippet]:
    return [replace(one, place=place) for place, one in enumerate(page(name, *texts))]


def test_what_the_pages_found_say_is_shown_though_the_search_did_not_return_it() -> None:
    texts = [f"Peru had its day {n} of 2022. {filler(f'd{n}x', 30)}" for n in range(60)]
    texts[40] = "Eighty-seven votes were what Congress needed to remove the president of Peru."
    own = whole_page("news", *texts)
    answer, shown = answered(own[:3], "Congress needed eighty-seven votes [4].", own)
    assert texts[40] in shown
    assert all(texts[n] in shown for n in (39, 41))  # with its neighbours
    assert own[40] in answer.shown


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
    distinct = {one.text for one in answer.shown}
    assert 8 <= len(distinct) <= 18
