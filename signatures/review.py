"""Prompts of the polishing stage (paper section 3.4)."""

from typing import Annotated

import dspy
from pydantic import Field

from storm_pipeline.signatures.shapes import Edit


class EditArticle(dspy.Signature):
    """You are the copy editor of an encyclopedia article. Its sections were written side by side, by people who did not
    see each other's text. Its sentences are numbered [1], its headings [H1]. Give the edits that make it one article.
    Look for these, in this order:
    - Repetition: go through the article fact by fact. Where a fact stands in two places, let it stand where a reader
      would look for it, and in the other place cut the sentence, or reword it so that it only says what is new there.
      Introduce a report, a body or a person in full once, where it comes first; later a short name will do.
    - Place and order: what stands under a heading that it is not about, or before what it follows from or happened
      after. Move it; if all that stands under a heading is about something else, change the heading.
    - Thread: a "he", "its" or "the report" whose noun is not in the sentences before it, a time told backwards, choppy
      sentences on one point that read better as one.
    - Dead weight: a sentence on a source instead of the topic (what a study is called or examines, who reported what
      nobody disputes), or one that repeats in general what the next says exactly. Drop it, or reword it to the fact.
    - Tone: replace praise and vague words ("legendary", "some say", "recently") by the fact, or leave them out.
    Change nothing for taste, and nothing that is right. All facts, names, numbers and dates stay, none is added, in the
    language of the article. The edits are made in the order in which you give them; numbers do not change.
    - cut: the sentence goes; "other" is the number of the one that says the same, and which gets its sources.
    - drop: the sentence is dead weight and goes, with its sources.
    - reword: "text" replaces the sentence. It may leave out what other sentences say as well, and nothing else; what
      the sentence leaves open, or ascribes to somebody, stays so.
    - join: "text" stands in place of "sentence" and says all that it and "other" say, each name, date and reservation;
      "other" goes.
    - move: the sentences from "sentence" to "last" (0: the one alone) go behind the sentence "other", into its
      paragraph; move_before: before it.
    - heading: "text" is the new heading; "sentence" is the number behind the H.
    If remarks are given, your edits are made, but for those that the remarks list, each with the reason. Give these
    again in a form that the reason allows, or leave them out; numbers are still those of the article as shown.
    """

    topic: str = dspy.InputField()
    article: str = dspy.InputField()
    remarks: str = dspy.InputField()
    edits: Annotated[list[Edit], Field(max_length=100)] = dspy.OutputField(
        desc='[{"kind": "cut", "drop", "reword", "join", "move", "move_before" or "heading", "sentence": number, '
        '"other": number or 0, "last": number or 0, "text": new text or ""}]'
    )
