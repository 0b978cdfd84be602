"""Expert answers of the writer for capable models: what they are shown, and what becomes a finding."""

from collections.abc import Mapping
from typing import Any

from contexts import run

from storm_pipeline.types import Answer, Snippet

QUESTION = "How many votes did Congress need to remove the president of Peru?"


def page(name: str, *texts: str) -> list[Snippet]:
    return [Snippet(f"https://{name}.org/", f"Peru 2022, {name}", text) for text in texts]


def filler(seed: str, words: int = 90) -> str:
    """A sentence of so many words, every other one a function word."""
    return " ".join(f"{seed}{number} and" for number in range(words // 2)) + " so on."


def answered(found: list[Snippet], reply: str, **settings: Any) -> tuple[Answer, str]:
    shown: list[str] = []

    def answer(inputs: Mapping[str, Any]) -> dict[str, str]:
        shown.append(inputs["passages"])
        return {"answer": reply}

    with run([], {"AnswerFromPassages": answer}, **settings) as (ctx, _):
        return ctx.writer.answer(ctx, "Peru 2022", QUESTION, found), "".join(shown)


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
    _, shown = answered([*page("best", *windows), *others], "The sources do not say.", evidence=1000)
    assert "remove the president of Peru were eighty-seven" in shown
    assert len(shown.split()) < 1000 / 3 * 1.3


def test_what_bears_on_the_question_is_shown_and_not_what_the_search_ranks_low() -> None:
    others = [one for n in range(9) for one in page(f"other{n}", f"Peru 2022 in the news. {filler(f'o{n}x')}")]
    _, shown = answered([*others, *VOTE], "The sources do not say.", evidence=1000)
    assert "Congress needed 87 votes" in shown
    assert "o8x1" not in shown


def test_menus_come_last_whatever_words_they_share() -> None:
    menu = "Congress Votes Peru President Remove Need Games Hardware News Reviews Guides Video Forum Magazine "
    menus = [one for n in range(9) for one in page(f"menu{n}", f"{menu * 6}{n}")]
    _, shown = answered([*menus, *VOTE], "The sources do not say.", evidence=240)
    assert VOTE[0].text in shown
    assert "Hardware" not in shown


def test_a_search_without_results_asks_no_model() -> None:
    assert answered([], "Something [1].") == (Answer(), "")
