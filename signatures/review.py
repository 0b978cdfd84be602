"""Prompts of the polishing stage (paper section 3.4)."""

from typing import Annotated

import dspy
from pydantic import Field


class FindRepeated(dspy.Signature):
    """Each numbered pair holds two sentences of one article. Give the numbers of the pairs whose two sentences
    tell the reader the same thing, so that one of them can go. A pair that shares a subject but adds a detail is
    not a repetition.
    """

    pairs: str = dspy.InputField()
    repeated: Annotated[list[int], Field(max_length=60)] = dspy.OutputField(desc="[pair numbers, possibly none]")


class RewordSentence(dspy.Signature):
    """Say the same in other words: another sentence structure, other verbs, the same names, numbers and dates,
    nothing added, nothing left out, nothing praised. Where the sentence says "it", "he" or "they", name what it is
    about. One sentence, neutral, in the language of the original. Reply with the sentence alone.
    """

    about: str = dspy.InputField()
    sentence: str = dspy.InputField()
    reworded: str = dspy.OutputField()
