"""Replies as servers and models that go wrong give them, read by the adapter."""

import time

import dspy
import pytest
from dspy.utils.exceptions import AdapterParseError
from hypothesis import given
from hypothesis import strategies as st

from signatures.research import AskQuestion, WriteQueries
from storm_pipeline.adapter import PromptAdapter

SENTENCE = "In the spring carriers took salt across the hills to the market of Varn [1]. "


def refused(signature: type[dspy.Signature], reply: str) -> AdapterParseError:
    with pytest.raises(AdapterParseError) as caught:
        PromptAdapter().parse(signature, reply)
    return caught.value


@pytest.mark.parametrize("signature", [AskQuestion, WriteQueries])
@pytest.mark.parametrize("opening", ["", '{"queries": ["salt"]} ', "<think>Well.</think>"])
def test_a_reply_of_ten_megabytes_is_refused_at_once(signature: type[dspy.Signature], opening: str) -> None:
    start = time.monotonic()
    error = refused(signature, opening + SENTENCE * (10 * 2**20 // len(SENTENCE)))
    assert "too long" in error.message
    assert len(error.message) < 3000
    assert time.monotonic() - start < 2


def test_a_long_reply_that_a_section_may_need_is_read() -> None:
    text = (SENTENCE * 500).strip()
    assert PromptAdapter().parse(AskQuestion, text) == {"question": text}


def test_long_thinking_before_a_short_reply_is_no_fault() -> None:
    reply = f"<think>{SENTENCE * 5000}</think> Who carried the salt?"
    assert PromptAdapter().parse(AskQuestion, reply) == {"question": "Who carried the salt?"}


@pytest.mark.parametrize("reply", ['{"queries": ' + "[" * 3000, '{"queries": ' * 3000, "{" * 5000])
def test_brackets_that_are_never_closed_are_refused(reply: str) -> None:
    refused(WriteQueries, reply)


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
