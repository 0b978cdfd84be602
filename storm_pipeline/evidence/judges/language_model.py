"""A judge that is a language model: it gets a section's sentences in one call, with the passages that they cite."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from storm_pipeline.errors import BudgetSpentError, ModelError
from storm_pipeline.evidence.judges.base import Label, Question, Verdict
from storm_pipeline.evidence.judges.spans import quoted
from storm_pipeline.models.programs import Program
from storm_pipeline.run.concurrency import MAX_WORKERS, parallel_map
from storm_pipeline.text.languages import count_words
from storm_pipeline.text.markers import numbered_lines
from storm_pipeline.text.words import tidy

_PROBABILITY: Mapping[Label, float] = {"supported": 1.0, "partly": 0.5, "not": 0.1, "contradicted": 0.0}
_LINE = re.compile(
    r"\W*(?:sentence\s+)?(\d{1,3})\W{1,6}(supported|partly|not|contradicted)\b(?:\s+supported)?(.*)", re.I
)
_ATTEMPTS = 2  # maximum calls for sentences that replies omit
AT_ONCE = 40  # sentences in one call: a section has fewer
_WORDS_AT_ONCE = 5000  # words of passages in one call: what a section cites


class LanguageModelJudge:
    """A judge that asks a language model about all sentences of a section in one call, with numbered passages.

    The probability only encodes the label: 1, 0.5, 0.1 or 0. A verdict may depend on the other sentences of its call.
    ``ask``: asks the model with a program and its inputs; ``program``: has the fields of ``CheckSentences``.
    """

    def __init__(self, ask: Callable[..., object], name: str, program: Program) -> None:
        self.name = f"model:{name}"
        self._ask = ask
        self.program = program

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """Judge the questions. Raises ModelError: the model cannot be asked, or omits a sentence in two replies."""
        results = self.judge_batches(list(batches(questions)))
        if errors := [result for result in results if isinstance(result, ModelError)]:
            raise errors[0]
        return [verdict for result in results if isinstance(result, list) for verdict in result]

    def judge_batches(
        self, parts: Sequence[Sequence[Question]], *, workers: int = MAX_WORKERS
    ) -> list[list[Verdict] | ModelError]:
        """Return the verdicts of each batch, or the reason why there are none; some are judged concurrently.

        A batch that a cap stops is asked again when the others, which reserve more than they cost, have ended.
        """
        results = parallel_map(self._tried, parts, workers=workers)
        for i, result in enumerate(results):
            if isinstance(result, BudgetSpentError) and len(parts) > 1:
                results[i] = self._tried(parts[i])
        return results

    def _tried(self, batch: Sequence[Question]) -> list[Verdict] | ModelError:
        try:
            return self._judge_batch(batch)
        except ModelError as error:
            return error

    def _judge_batch(self, batch: Sequence[Question]) -> list[Verdict]:
        """Return the verdicts of one call, and of a second one for the sentences that its reply omits."""
        numbers = {text: n for n, text in enumerate(dict.fromkeys(text for q in batch for text in q.passages), 1)}
        passages = numbered_lines({number: text for text, number in numbers.items()}, len(numbers))
        verdicts = {i: Verdict("not", 0.0) for i, question in enumerate(batch) if not question.has_words}
        for attempt in range(1, _ATTEMPTS + 1):
            waiting = [i for i in range(len(batch)) if i not in verdicts]
            if not waiting:
                break
            check = "\n".join(f"{n}. {_marked(batch[i], numbers)}" for n, i in enumerate(waiting, 1))
            usable = partial(_has_verdicts, len(waiting)) if attempt == _ATTEMPTS else None
            reply = self._ask(self.program, usable, passages=passages, check=check)
            replies = dict(read_verdicts(str(getattr(reply, "verdicts"))))  # noqa: B009
            verdicts |= {i: _verdict(batch[i], numbers, *replies[n]) for n, i in enumerate(waiting, 1) if n in replies}
        if len(verdicts) < len(batch):
            raise ModelError(f"{self.name} gave no verdict on {len(batch) - len(verdicts)} sentences")
        return [verdicts[i] for i in range(len(batch))]


def _has_verdicts(wanted: int, reply: object) -> bool:
    """Return whether a reply has a verdict on each of this number of sentences; other replies are not kept."""
    return {*range(1, wanted + 1)} <= dict(read_verdicts(str(getattr(reply, "verdicts", reply)))).keys()


def _marked(question: Question, numbers: Mapping[str, int]) -> str:
    """Return a sentence with the numbers of its passages, and notes: the one before it, and numbers that they lack."""
    before = f" (after: “{tidy(question.before)}”)" if question.before else ""
    unfound = f" (do they say {', '.join(question.unfound)} in another form?)" if question.unfound else ""
    return tidy(question.claim) + " " + "".join(f"[{numbers[text]}]" for text in question.passages) + before + unfound


def read_verdicts(text: str) -> Iterator[tuple[int, tuple[Label, str]]]:
    """Yield each sentence's number with its label and the text after the label."""
    for line in text.splitlines():
        if match := _LINE.match(line):
            label: Label = match[2].casefold()  # type: ignore[assignment]
            yield int(match[1]), (label, match[3])


def _verdict(question: Question, numbers: Mapping[str, int], label: Label, rest: str) -> Verdict:
    if label == "supported":
        named = {int(number) for number in "".join(c if c in "0123456789" else " " for c in rest[:500]).split()}
        places = tuple(i for i, text in enumerate(question.passages) if numbers[text] in named)
        return Verdict(label, _PROBABILITY[label], supporting=places)
    reason, mark, quotation = rest.rpartition("|")  # titles of pages have the mark as well
    if not mark:
        reason, quotation = rest, ""
    spans = quoted(question, quotation.strip(" \"'“”„«».…")) if quotation else ()
    return Verdict(label, _PROBABILITY[label], spans, reason.strip(" \t-–—:;.,*"))


def batches(questions: Sequence[Question]) -> Iterator[list[Question]]:
    """Group the questions in order, as many as fit into a call."""
    batch: list[Question] = []
    shown: dict[str, int] = {}
    for question in questions:
        words = {text: count_words(text) for text in question.passages}
        if batch and (len(batch) >= AT_ONCE or sum((shown | words).values()) > _WORDS_AT_ONCE):
            yield batch
            batch, shown = [], {}
        batch.append(question)
        shown |= words
    if batch:
        yield batch
