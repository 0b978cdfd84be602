"""Prompts of the polishing stage (paper section 3.4)."""

from typing import Annotated

import dspy
from pydantic import Field

from storm_pipeline.signatures.shapes import Edit


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


class EditArticle(dspy.Signature):
    """You are the copy editor of an encyclopedia article. Its sentences are numbered. Give the edits that it needs, as
    few as possible, and none for taste:
    - cut: a sentence that tells the reader what another sentence tells already; "other" is the number of the one that
      stays, which must hold all that the cut one says.
    - reword: a sentence that does not stand where it is: a "he", "its" or "the report" whose noun is not in the
      sentences before it, a time told backwards, a missing link to what comes before. Give its whole text anew with the
      same facts, names and numbers, nothing added, in the language of the article.
    - move: a sentence that stands under the wrong heading or out of order; "other" is the number of the sentence that
      it is to follow.
    """

    topic: str = dspy.InputField()
    article: str = dspy.InputField()
    edits: Annotated[list[Edit], Field(max_length=60)] = dspy.OutputField(
        desc='[{"kind": "cut", "reword" or "move", "sentence": number, "other": number or 0, "text": new text or ""}]'
    )
