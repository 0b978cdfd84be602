"""Small DSPy programs, one a prompt: text in, typed value out, no I/O. These are what a compiler optimises."""

from dataclasses import dataclass, field
from functools import partial

import dspy

from signatures import examples, outline, research, review, writing


class Program(dspy.Module):
    """One signature asked once, with worked examples in front.

    Args:
        signature: what is asked.
        demos: worked examples; an optimiser may replace them.
    """

    def __init__(self, signature: type[dspy.Signature], demos: list[dspy.Example] | None = None) -> None:
        super().__init__()
        self.predict = dspy.Predict(signature)
        self.predict.demos = list(demos or [])

    @property
    def name(self) -> str:
        """Name of the signature."""
        return str(self.predict.signature.__name__)

    def forward(self, **inputs: object) -> dspy.Prediction:
        """Ask; the prediction has the signature's output fields."""
        return self.predict(**inputs)


@dataclass(frozen=True)
class Programs:
    """The programs of a run. Replace one by a compiled one with :func:`dataclasses.replace`."""

    related: Program = field(default_factory=partial(Program, research.FindRelatedTopics, examples.RELATED))
    perspectives: Program = field(default_factory=partial(Program, research.FindPerspectives, examples.PERSPECTIVES))
    question: Program = field(default_factory=partial(Program, research.AskQuestion))
    queries: Program = field(default_factory=partial(Program, research.WriteQueries, examples.QUERIES))
    answer: Program = field(default_factory=partial(Program, research.AnswerQuestion, examples.ANSWER))
    draft: Program = field(default_factory=partial(Program, outline.DraftOutline, examples.DRAFT))
    refine: Program = field(default_factory=partial(Program, outline.RefineOutline, examples.REFINE))
    section: Program = field(default_factory=partial(Program, writing.WriteSection, examples.SECTION))
    lead: Program = field(default_factory=partial(Program, writing.WriteLead, examples.LEAD))
    repeated: Program = field(default_factory=partial(Program, review.FindRepeated, examples.REPEATED))
    reword: Program = field(default_factory=partial(Program, review.RewordSentence, examples.REWORD))
