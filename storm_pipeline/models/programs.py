"""DSPy programs, one per task: text in, typed value out, no I/O. These are what a DSPy optimiser compiles."""

from dataclasses import dataclass, field, fields
from functools import partial

import dspy

from storm_pipeline.run.journal import fingerprint
from storm_pipeline.signatures import examples, outline, research, review, writing
from storm_pipeline.text.fitting import most_tokens


class Program(dspy.Module):
    """A DSPy module: a signature with worked examples, or any module with the same fields.

    Its calls are journalled one by one and all go to the model of the calling role, even if a predictor has a model
    of its own.

    Args:
        asked: a signature; or a module (``dspy.ChainOfThought``, several steps) whose prediction has the same fields.
        demos: worked examples of a signature; an optimiser may replace them.
        token_limit: maximum tokens of a reply from a small model; longer replies are repetitive.
        greedy: decode greedily with small models.
    """

    def __init__(
        self,
        asked: type[dspy.Signature] | dspy.Module,
        demos: list[dspy.Example] | None = None,
        *,
        token_limit: int = 700,
        greedy: bool = False,
    ) -> None:
        super().__init__()
        if isinstance(asked, dspy.Module):
            self.predict = asked
        else:
            self.predict = dspy.Predict(asked)
            unused = dict.fromkeys(asked.input_fields, "")
            self.predict.demos = [dspy.Example(**{**unused, **demo}) for demo in demos or []]
        self.token_limit = token_limit
        self.greedy = greedy

    @property
    def name(self) -> str:
        """Name of the signature, or of the module."""
        named = self.predict.signature if isinstance(self.predict, dspy.Predict) else type(self.predict)
        return str(named.__name__)

    @property
    def overhead(self) -> int:
        """Tokens of what every prompt of it begins with, at most: instructions, form of the reply, worked examples."""
        begins = (
            [
                str(predictor.signature.instructions),
                *(str(field.json_schema_extra) for field in predictor.signature.output_fields.values()),
                *(str(dict(demo)) for demo in predictor.demos),
            ]
            for predictor in self.predictors()
        )
        return max((sum(map(most_tokens, told)) for told in begins), default=0)

    @property
    def fingerprint(self) -> str:
        """Hash of what the prompts are made of: instructions, fields with types and descriptions, worked examples."""
        parts: list[object] = []
        for predictor in self.predictors():
            signature = predictor.signature
            fields = {name: [str(f.annotation), f.json_schema_extra] for name, f in signature.fields.items()}
            parts += [signature.instructions, fields, [dict(demo) for demo in predictor.demos]]
        return fingerprint(*parts)

    def forward(self, **inputs: object) -> dspy.Prediction:
        """Run the program; the prediction has the signature's output fields."""
        return self.predict(**inputs)


@dataclass(frozen=True)
class Programs:
    """The programs of a run. Use :func:`dataclasses.replace` to swap in a compiled one."""

    related: Program = field(
        default_factory=partial(Program, research.FindRelatedTopics, examples.RELATED, token_limit=120)
    )
    perspectives: Program = field(
        default_factory=partial(Program, research.FindPerspectives, examples.PERSPECTIVES, token_limit=400)
    )
    question: Program = field(
        default_factory=partial(Program, research.AskQuestion, examples.QUESTION, token_limit=100)
    )
    questions: Program = field(default_factory=partial(Program, research.AskQuestions, token_limit=500))
    open_questions: Program = field(default_factory=partial(Program, research.FindOpenQuestions, token_limit=500))
    queries: Program = field(default_factory=partial(Program, research.WriteQueries, examples.QUERIES, token_limit=120))
    passage_answer: Program = field(default_factory=partial(Program, research.AnswerFromPassages, token_limit=900))
    draft: Program = field(
        default_factory=partial(Program, outline.DraftOutline, examples.DRAFT, token_limit=180, greedy=True)
    )
    refine: Program = field(
        default_factory=partial(Program, outline.RefineOutline, examples.REFINE, token_limit=220, greedy=True)
    )
    plan: Program = field(
        default_factory=partial(Program, outline.PlanOutline, examples.PLAN, token_limit=220, greedy=True)
    )
    place: Program = field(default_factory=partial(Program, outline.PlaceFindings, token_limit=1000))
    article: Program = field(default_factory=partial(Program, writing.WriteArticle, token_limit=4000))
    memory: Program = field(default_factory=partial(Program, writing.WriteFromMemory, token_limit=4000))
    section: Program = field(default_factory=partial(Program, writing.WriteSection, token_limit=1500))
    revise: Program = field(default_factory=partial(Program, writing.ReviseSection, token_limit=1500))
    lead: Program = field(default_factory=partial(Program, writing.WriteLead, token_limit=500))
    heading: Program = field(
        default_factory=partial(Program, writing.NameSection, examples.HEADING, token_limit=20, greedy=True)
    )
    edit: Program = field(default_factory=partial(Program, review.EditArticle, token_limit=2000))

    def fingerprints(self) -> dict[str, str]:
        """Name of each program → its fingerprint, which changes with its prompts."""
        return {field.name: getattr(self, field.name).fingerprint for field in fields(self)}
