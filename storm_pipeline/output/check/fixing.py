"""Edits of unsupported sentences, proposed by a model and judged like the article."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.evidence.judges.base import Judge, Question
from storm_pipeline.evidence.judges.language_model import AT_ONCE
from storm_pipeline.evidence.passages import Passage, numbered_passages, passages
from storm_pipeline.evidence.screen import Claim
from storm_pipeline.method.writers.drafts import read_replies, without_prompt_lines
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.programs import Programs
from storm_pipeline.output.check.judging import Checked, CheckedSentence
from storm_pipeline.settings import Settings
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Sentence


@dataclass(frozen=True)
class Proposal:
    """A sentence and its proposed replacement; empty to delete it."""

    place: int  # among all sentences of the article in reading order, from 0
    before: str
    after: str


def propose(
    checked: Checked, failing: Sequence[CheckedSentence], judge: Judge, models: LanguageModels, settings: Settings
) -> tuple[Proposal, ...]:
    """Ask the writer's model to replace failing sentences, as it answers the remarks of a run's check.

    New wordings that the judge does not find supported by the passages shown are left out, as are sentences without a
    readable source. Raises ModelError, ModelAuthError, BudgetSpentError: the model cannot be asked.
    """
    asked = [sentence for sentence in failing if sentence.probability is not None]
    batches = (asked[start : start + AT_ONCE] for start in range(0, len(asked), AT_ONCE))
    answers = [answer for batch in batches for answer in _answered(checked, batch, models, settings)]
    verdicts = judge.judge([Question(proposal.after, shown) for proposal, shown in answers])
    both = zip(answers, verdicts, strict=True)
    return tuple(proposal for (proposal, _), verdict in both if not proposal.after or verdict.label == "supported")


def _answered(
    checked: Checked, batch: Sequence[CheckedSentence], models: LanguageModels, settings: Settings
) -> Iterator[tuple[Proposal, tuple[str, ...]]]:
    cited = {citation.snippet_id for failing in batch for citation in failing.sentence.citations}
    readable = (source for source in checked.article.sources if source.id not in checked.unread)
    shown = passages(snippet for source in readable for snippet in source.snippets if snippet.id in cited)
    remarks = "\n".join(f"{n}. {_with_markers(f, shown)} — {f.reason or f.status}." for n, f in enumerate(batch, 1))
    reply = models.ask(
        "writer",
        Programs().remarks,
        topic=checked.article.title,
        language=settings.language_name,
        style=settings.style or "",
        section="",
        passages=numbered_passages(shown),
        remarks=remarks,
    )
    asked = [Claim(tidy(failing.sentence.text), ()) for failing in batch]
    text = without_prompt_lines(reply.text, {"remarks": remarks})
    answers = read_replies(text, len(shown), settings.article_language, asked=asked)
    for number, failing in enumerate(batch, 1):
        if (answer := answers.get(number)) is None:
            continue
        before, after = tidy(failing.sentence.text), answer.claim.text if answer.claim else ""
        if before != after:
            texts = [shown[position].text for position in (answer.claim.cited if answer.claim else ())]
            yield Proposal(failing.place, before, after), tuple(texts or [passage.text for passage in shown])


def _with_markers(failing: CheckedSentence, shown: Sequence[Passage]) -> str:
    ids = {citation.snippet_id for citation in failing.sentence.citations}
    numbers = (n for n, passage in enumerate(shown, 1) if ids & passage.snippet_ids)
    return tidy(failing.sentence.text) + "".join(f"[{number}]" for number in numbers)


def applied(text: str, proposals: Sequence[Proposal]) -> tuple[str, tuple[Proposal, ...]]:
    """Apply proposals to a file's text; return it and the proposals whose sentence does not occur exactly once."""
    left = []
    for proposal in proposals:
        if text.count(proposal.before) == 1:
            text = text.replace(proposal.before, proposal.after)
        else:
            left.append(proposal)
    return text, tuple(left)


def with_proposals(article: Article, proposals: Sequence[Proposal]) -> Article:
    """Return the article with the proposals applied; a new wording keeps its citations without their spans."""
    made = {proposal.place: proposal.after for proposal in proposals}
    places = count()

    def sentence(before: Sentence) -> Sentence:
        if (text := made.get(next(places))) is None:
            return before
        return Sentence(text, tuple(replace(citation, spans=()) for citation in before.citations) if text else ())

    return with_sentences(article, sentence)


def diff(before: str, after: str, name: str) -> str:
    """Return the changes of a text as a unified diff; empty if there are none."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, new, name, f"{name} (fixed)"))
