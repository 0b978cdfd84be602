"""Which texts are printable, and how those that are not are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import SettingsError
from storm_pipeline.storm import _validate as validated
from storm_pipeline.text.formatting import is_printable, printable

JOINED = ["می‌خواهم", "क्‍ष", "👩‍🚀 in space", "خانه‌ها"]


@pytest.mark.parametrize("topic", JOINED)
def test_a_topic_may_hold_what_joins_letters(topic: str) -> None:
    assert validated(f" {topic} ") == topic
    assert printable(topic) == topic


CONTROLLED = ["a\x00b", "a\x1b[31m", "a\u202eb", "a\u200bb", "a\ud83d", "\u200d", "\u200c \u200d", " "]


@pytest.mark.parametrize("topic", CONTROLLED)
def test_a_topic_may_not_hold_controls_or_nothing(topic: str) -> None:
    with pytest.raises(SettingsError):
        validated(topic)


def test_a_topic_may_hold_an_emoji_that_is_newer_than_the_tables_of_python() -> None:
    assert validated("\U0001fae9 \U0003fffd") == "\U0001fae9 \U0003fffd"


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_what_is_shown_is_printable_and_on_one_line(text: str) -> None:
    shown = printable(text)
    assert is_printable(shown)
    assert printable(shown) == shown
    assert not {"\x1b", "\x07", "\n", "\u202e"} & set(shown)
