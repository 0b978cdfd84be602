"""Edits for sentences that their sources do not support, proposed by a model and judged like the article."""

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
    """Ask the writer's model to replace failing sentences, as it answers the remarks of a run's own check.

    A new wording that the judge does not find supported by the passages shown is left out, and so is a sentence without
    a source that was read. Raises ModelError, ModelAuthError, BudgetSpentError: the model cannot be asked.
    """
    asked = [own for own in failing if own.probability is not None]
    batches = (asked[start : start + AT_ONCE] for start in range(0, len(asked), AT_ONCE))
    found = [one for batch in batches for one in _answered(checked, batch, models, settings)]
    verdicts = judge.judge([Question(one.after, shown) for one, shown in found])
    both = zip(found, verdicts, strict=True)
    return tuple(one for (one, _), own in both if not one.after or own.label == "supported")


def _answered(
    checked: Checked, batch: Sequence[CheckedSentence], models: LanguageModels, settings: Settings
) -> Iterator[tuple[Proposal, tuple[str, ...]]]:
    cited = {one.snippet_id for own in batch for one in own.sentence.citations}
    readable = (source for source in checked.article.sources if source.id not in checked.unread)
    shown = passages(one for source in readable for one in source.snippets if one.id in cited)
    remarks = "\n".join(f"{n}. {_marked(own, shown)} — {own.reason or own.status}." for n, own in enumerate(batch, 1))
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
    asked = [Claim(tidy(own.sentence.text), ()) for own in batch]
    text = without_prompt_lines(reply.text, {"remarks": remarks})
    answers = read_replies(text, len(shown), settings.article_language, asked=asked)
    for number, own in enumerate(batch, 1):
        if (answer := answers.get(number)) is None:
            continue
        before, after = tidy(own.sentence.text), answer.claim.text if answer.claim else ""
        if before != after:
            texts = [shown[position].text for position in (answer.claim.cited if answer.claim else ())]
            yield Proposal(own.place, before, after), tuple(texts or [one.text for one in shown])


def _marked(own: CheckedSentence, shown: Sequence[Passage]) -> str:
    ids = {one.snippet_id for one in own.sentence.citations}
    numbers = (n for n, one in enumerate(shown, 1) if ids & one.snippet_ids)
    return tidy(own.sentence.text) + "".join(f"[{number}]" for number in numbers)


def applied(text: str, proposals: Sequence[Proposal]) -> tuple[str, tuple[Proposal, ...]]:
    """Apply proposals to a file's text; return it and those left out, whose sentence is not there exactly once."""
    left = []
    for one in proposals:
        if text.count(one.before) == 1:
            text = text.replace(one.before, one.after)
        else:
            left.append(one)
    return text, tuple(left)


def with_proposals(article: Article, proposals: Sequence[Proposal]) -> Article:
    """Return the article with the proposals made; a new wording keeps its sources, but not the spans in them."""
    made = {one.place: one.after for one in proposals}
    places = count()

    def sentence(own: Sentence) -> Sentence:
        if (text := made.get(next(places))) is None:
            return own
        return Sentence(text, tuple(replace(one, spans=()) for one in own.citations) if text else ())

    return with_sentences(article, sentence)


def diff(before: str, after: str, name: str) -> str:
    """Return the changes of a text as a unified diff; empty if there are none."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, new, name, f"{name} (fixed)"))
