"""A judge that is a language model: many sentences a call, beside the passages or behind the prompt that wrote them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from storm_pipeline.errors import ModelError
from storm_pipeline.judges.base import Label, Parameters, Question, Verdict
from storm_pipeline.judges.spans import quoted
from storm_pipeline.languages import count_words
from storm_pipeline.models.programs import Program
from storm_pipeline.text.words import tidy

Tell = Callable[[str], str]
"""Puts a task with numbered sentences to a model that sees the passages; returns its reply, or raises ModelError."""
_PROBABILITY: Mapping[Label, float] = {"supported": 1.0, "partly": 0.5, "not": 0.1, "contradicted": 0.0}
_THRESHOLD = 0.75
_LINE = re.compile(
    r"\W*(?:sentence\s+)?(\d{1,3})\W{1,6}(supported|partly|not|contradicted)\b(?:\s+supported)?(.*)", re.I
)
_ATTEMPTS = 2  # calls for sentences on which a reply says nothing
AT_ONCE = 12
"""Sentences in one call."""
_WORDS_AT_ONCE = 3000  # words of passages in one call


class LanguageModelJudge:
    """Asks a language model about up to a dozen sentences a call, with their passages numbered.

    The label is the model's; its probability stands for the label alone: 1, 0.5, 0.1 or 0. A verdict may differ with
    the sentences that share its call.

    Args:
        ask: puts a program's inputs to the model; raises ModelError.
        name: name of the model.
        program: asks by :class:`~storm_pipeline.signatures.judging.CheckSentences`.
    """

    def __init__(self, ask: Callable[..., object], name: str, program: Program) -> None:
        self.name = f"model:{name}"
        self.threshold = _THRESHOLD
        self._ask = ask
        self._program = program

    @property
    def parameters(self) -> Parameters:
        """Threshold, and a hash of the prompt."""
        return {"threshold": self.threshold, "prompt": self._program.fingerprint[:12]}

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """As :class:`~storm_pipeline.judges.base.Judge`.

        Raises:
            ModelError: the model cannot be asked, or says nothing on a sentence twice.
        """
        return [verdict for batch in _batches(questions) for verdict in self._beside_passages(batch).judge(batch)]

    def behind(self, program: Program, ask: Callable[..., object], shown: Sequence[str]) -> "PromptJudge":
        """This judge behind a prompt that showed its model the passages: its cache serves all but the sentences.

        Args:
            program: wrote the text; it gets ``check`` as its last input.
            ask: puts a program and that input to the model, beside the inputs that it had.
            shown: the passages under their numbers, from 1.
        """
        appended, output = _with_check(program), next(iter(program.predict.signature.output_fields))
        task = f"{self._program.predictors()[0].signature.instructions}\n\n"
        return PromptJudge(self, lambda lines: str(getattr(ask(appended, check=task + lines), output)), shown)

    def _beside_passages(self, batch: Sequence[Question]) -> "PromptJudge":
        shown = list(dict.fromkeys(text for one in batch for text in one.passages))
        passages = "\n".join(f"[{number}] {tidy(text)}" for number, text in enumerate(shown, 1))

        def tell(lines: str) -> str:
            return str(getattr(self._ask(self._program, passages=passages, check=lines), "verdicts"))  # noqa: B009

        return PromptJudge(self, tell, shown)


class PromptJudge:
    """A language model that sees passages under numbers, and is told sentences with these numbers.

    Passages of a question that it was not shown are not judged by. Where the questions cite less than half of what it
    was shown, it is asked beside these passages alone, which is shorter. Arguments: the judge that it is a part of, how
    it is told, and the passages.
    """

    def __init__(self, judge: LanguageModelJudge, tell: Tell, shown: Sequence[str]) -> None:
        self.name, self.threshold, self.parameters = judge.name, judge.threshold, judge.parameters
        self._judge = judge
        self._tell = tell
        self._number = {text: number for number, text in enumerate(shown, 1)}

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """As :meth:`LanguageModelJudge.judge`, in one call, and one more for what its reply leaves out."""
        cited = {text for one in questions for text in one.passages}
        if 2 * sum(map(count_words, cited)) < sum(map(count_words, self._number)):
            return self._judge.judge(questions)
        found = {i: Verdict("not", 0.0) for i, one in enumerate(questions) if not one.has_words}
        for _ in range(_ATTEMPTS):
            waiting = [i for i in range(len(questions)) if i not in found]
            if not waiting:
                break
            lines = "\n".join(f"{n}. {self._marked(questions[i])}" for n, i in enumerate(waiting, 1))
            replies = dict(read_verdicts(self._tell(lines)))
            found |= {i: _verdict(questions[i], *replies[n]) for n, i in enumerate(waiting, 1) if n in replies}
        if len(found) < len(questions):
            raise ModelError(f"{self.name} gave no verdict on {len(questions) - len(found)} sentences")
        return [found[i] for i in range(len(questions))]

    def _marked(self, question: Question) -> str:
        numbers = [self._number[text] for text in question.passages if text in self._number]
        return tidy(question.claim) + " " + "".join(f"[{number}]" for number in numbers)


def _with_check(program: Program) -> Program:
    """The program with ``check`` as its last input; what its prompts begin with stays the same."""
    import dspy

    new: Program = program.deepcopy()
    new.set_lm(program.predict.lm)
    new.predict.signature = new.predict.signature.append("check", dspy.InputField(), str)
    new.predict.demos = [demo.copy(check="") for demo in new.predict.demos]
    new.worked = [demo.copy(check="") for demo in new.worked]
    new.name = f"{program.name} (check)"
    return new


def read_verdicts(text: str) -> Iterator[tuple[int, tuple[Label, str]]]:
    """Number of a sentence → its label and what stands behind it."""
    for line in text.splitlines():
        if found := _LINE.match(line):
            label: Label = found[2].casefold()  # type: ignore[assignment]
            yield int(found[1]), (label, found[3])


def _verdict(question: Question, label: Label, rest: str) -> Verdict:
    reason, _, quotation = rest.partition("|")
    spans = quoted(question, quotation.strip(" \"'“”„«».…")) if quotation else ()
    return Verdict(label, _PROBABILITY[label], spans, reason.strip(" \t-–—:;.,*"))


def _batches(questions: Sequence[Question]) -> Iterator[list[Question]]:
    """The questions in order, as many together as one call can hold."""
    batch: list[Question] = []
    shown: dict[str, int] = {}
    for one in questions:
        words = {text: count_words(text) for text in one.passages}
        if batch and (len(batch) >= AT_ONCE or sum((shown | words).values()) > _WORDS_AT_ONCE):
            yield batch
            batch, shown = [], {}
        batch.append(one)
        shown |= words
    if batch:
        yield batch
