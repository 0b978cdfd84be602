"""Replies as servers and models that go wrong give them, read by the adapter."""

import json
import time
from typing import Any

import dspy
import pytest
from dspy.utils.exceptions import AdapterParseError
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.signatures.outline import RefineOutline
from storm_pipeline.signatures.research import AskQuestion, FindPerspectives, WriteQueries

SENTENCE = "In the spring carriers took salt across the hills to the market of Varn [1]. "


def refused(signature: type[dspy.Signature], reply: str) -> AdapterParseError:
    with pytest.raises(AdapterParseError) as caught:
        PromptAdapter().parse(signature, reply)
    return caught.value


@pytest.mark.parametrize("signature", [AskQuestion, WriteQueries])
@pytest.mark.parametrize("opening", ["", '{"queries": ["salt"]} ', "<think>Well.</think>"])
def test_a_reply_of_ten_megabytes_is_refused_at_once(signature: type[dspy.Signature], opening: str) -> None:
    start = time.process_time()
    error = refused(signature, opening + SENTENCE * (10 * 2**20 // len(SENTENCE)))
    assert "too long" in error.message
    assert len(error.message) < 3000
    assert time.process_time() - start < 5


def test_long_thinking_before_a_short_reply_is_no_fault() -> None:
    reply = f"<think>{SENTENCE * 5000}</think> Who carried the salt?"
    assert PromptAdapter().parse(AskQuestion, reply) == {"question": "Who carried the salt?"}


@pytest.mark.parametrize("reply", ["<think>The question should be", "<think>One.</think>\n<think>Two", "", " \n"])
def test_thinking_that_never_ends_in_a_reply_is_refused(reply: str) -> None:
    assert "empty" in refused(AskQuestion, reply).message


@given(st.text(alphabet='{}[]":,abc\\ntrue123 <think>/', max_size=200))
def test_any_reply_is_read_or_refused(reply: str) -> None:
    try:
        values = PromptAdapter().parse(WriteQueries, reply)
    except AdapterParseError:
        return
    assert 1 <= len(values["queries"]) <= 3


def as_far_as_it_came(signature: type[dspy.Signature], whole: dict[str, Any], end: float) -> list[Any]:
    """The items that are read of a reply that breaks off at a share of its length; none where it is refused."""
    text = json.dumps(whole)
    try:
        (items,) = PromptAdapter().parse(signature, text[: round(len(text) * end)]).values()
    except AdapterParseError:
        return []
    return list(items)


words = st.text(min_size=1, max_size=12)
shares = st.floats(min_value=0, max_value=1)


@given(st.lists(st.tuples(words, st.lists(words, max_size=3)), min_size=3, max_size=6), shares)
def test_a_heading_is_read_whole_or_not_at_all(plan: list[tuple[str, list[str]]], end: float) -> None:
    whole = [{"title": title, "subsections": subsections} for title, subsections in plan]
    read = as_far_as_it_came(RefineOutline, {"sections": whole}, end)
    for section, (title, subsections) in zip(read, plan, strict=False):
        assert section.title == title
        assert section.subsections == subsections[: len(section.subsections)]


@given(st.lists(st.tuples(words, words), min_size=1, max_size=5), shares)
def test_an_item_that_broke_off_does_not_take_the_others_with_it(people: list[tuple[str, str]], end: float) -> None:
    whole = [{"name": name, "focus": focus} for name, focus in people]
    read = as_far_as_it_came(FindPerspectives, {"editors": whole}, end)
    assert [(one.name, one.focus) for one in read] == people[: len(read)]
    came = round(len(json.dumps({"editors": whole})) * end)
    ends = [len(json.dumps({"editors": whole[: n + 1]})) - len("]}") for n in range(len(whole))]
    assert len(read) >= sum(item_end <= came for item_end in ends)


class FindNumbers(dspy.Signature):
    """Give the numbers."""

    text: str = dspy.InputField()
    repeated: list[int] = dspy.OutputField()


@given(st.lists(st.integers(min_value=1, max_value=9999), max_size=20), shares)
def test_a_number_is_read_whole_or_not_at_all(numbers: list[int], end: float) -> None:
    read = as_far_as_it_came(FindNumbers, {"repeated": numbers}, end)
    assert read == numbers[: len(read)]


def test_what_follows_a_reply_does_not_excuse_its_faults() -> None:
    refused(WriteQueries, '{"queries": ["salt", 7]} That is all.')
