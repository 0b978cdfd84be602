"""Small DSPy programs, one a prompt: text in, typed value out, no I/O. These are what a compiler optimises."""

from dataclasses import dataclass, field, fields
from functools import partial

import dspy

from signatures import examples, outline, research, review, writing
from storm_pipeline.journal import fingerprint


class Program(dspy.Module):
    """One signature asked once, with worked examples in front.

    Args:
        signature: what is asked.
        demos: worked examples; an optimiser may replace them.
        ample: tokens that a good reply never needs more of. Where replies are bounded (a small model that goes on
            and on is repeating itself) they end there.
        steady: whether small models do it best without chance.
    """

    def __init__(
        self,
        signature: type[dspy.Signature],
        demos: list[dspy.Example] | None = None,
        *,
        ample: int = 700,
        steady: bool = False,
    ) -> None:
        super().__init__()
        self.predict = dspy.Predict(signature)
        unused = dict.fromkeys(signature.input_fields, "")
        self.predict.demos = [dspy.Example(**{**unused, **demo}) for demo in demos or []]
        self.ample = ample
        self.steady = steady

    @property
    def name(self) -> str:
        """Name of the signature."""
        return str(self.predict.signature.__name__)

    @property
    def fingerprint(self) -> str:
        """What the prompt is made of: instructions, fields with their types and descriptions, worked examples."""
        signature = self.predict.signature
        fields = {name: [str(f.annotation), f.json_schema_extra] for name, f in signature.fields.items()}
        return fingerprint(signature.instructions, fields, [dict(demo) for demo in self.predict.demos])

    def forward(self, **inputs: object) -> dspy.Prediction:
        """Ask; the prediction has the signature's output fields."""
        return self.predict(**inputs)


@dataclass(frozen=True)
class Programs:
    """The programs of a run. Replace one by a compiled one with :func:`dataclasses.replace`."""

    related: Program = field(default_factory=partial(Program, research.FindRelatedTopics, examples.RELATED, ample=120))
    perspectives: Program = field(
        default_factory=partial(Program, research.FindPerspectives, examples.PERSPECTIVES, ample=400)
    )
    question: Program = field(default_factory=partial(Program, research.AskQuestion, examples.QUESTION, ample=100))
    questions: Program = field(default_factory=partial(Program, research.AskQuestions, ample=500))
    queries: Program = field(default_factory=partial(Program, research.WriteQueries, examples.QUERIES, ample=120))
    passage_answer: Program = field(default_factory=partial(Program, research.AnswerFromPassages, ample=900))
    answer: Program = field(default_factory=partial(Program, research.AnswerQuestion, examples.ANSWER, ample=300))
    draft: Program = field(
        default_factory=partial(Program, outline.DraftOutline, examples.DRAFT, ample=180, steady=True)
    )
    refine: Program = field(
        default_factory=partial(Program, outline.RefineOutline, examples.REFINE, ample=220, steady=True)
    )
    plan: Program = field(default_factory=partial(Program, outline.PlanOutline, ample=220, steady=True))
    article: Program = field(default_factory=partial(Program, writing.WriteArticle, ample=4000))
    memory: Program = field(default_factory=partial(Program, writing.WriteFromMemory, ample=4000))
    section: Program = field(default_factory=partial(Program, writing.WriteSection, ample=1500))
    lead: Program = field(default_factory=partial(Program, writing.WriteLead, ample=500))
    heading: Program = field(
        default_factory=partial(Program, writing.NameSection, examples.HEADING, ample=20, steady=True)
    )
    repeated: Program = field(default_factory=partial(Program, review.FindRepeated, examples.REPEATED, ample=200))
    reword: Program = field(default_factory=partial(Program, review.RewordSentence, examples.REWORD, ample=160))

    def fingerprints(self) -> dict[str, str]:
        """Name of each program → its fingerprint; a prompt that is changed has another."""
        return {own.name: getattr(self, own.name).fingerprint for own in fields(self)}
