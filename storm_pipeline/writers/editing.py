"""Copy editing of a finished article: a model proposes edits by sentence number, and the program applies them.

The article is never rewritten, so what stays keeps the citations that support it
(:mod:`storm_pipeline.writers.edited_article`). Edits that cannot be made go back to the model once, each with the
reason. Before that, nearly identical sentences are removed without a model (paper section 3.4): only one whose numbers
all stand in the one that is kept, to which its citations move, so no cited fact is lost.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count

import numpy as np

from storm_pipeline.errors import ModelError
from storm_pipeline.judges.base import CachingJudge, Question
from storm_pipeline.judges.spans import ExplainingJudge
from storm_pipeline.languages import denials
from storm_pipeline.references.changing import sections_with
from storm_pipeline.run.context import RunContext
from storm_pipeline.signatures.shapes import Edit
from storm_pipeline.text.words import numbers, overlap
from storm_pipeline.types import Section, Sentence
from storm_pipeline.writers.edited_article import NEW_TEXT, EditedArticle
from storm_pipeline.writers.judging import doubted

_PASSES = 2  # calls of the model: the edits, and those that could not be made once more
_ALIKE = 0.80  # minimum cosine at which a pair of sentences is a candidate
_VERBATIM = 0.9  # share of common word bigrams at or above which two sentences are nearly identical
_MOST_PAIRS = 40  # maximum number of candidate pairs


def edit_article(ctx: RunContext, topic: str, sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """The sections with repetition cut, sentences reworded, joined or moved, and headings changed to fit their text.

    Without ``editing`` in the settings, only certain repetition is cut. An edit that would add or remove a number or a
    date is skipped. If the model fails, the sections are returned without its edits, and that is recorded.
    """
    with ctx.events.in_stage("editing"):
        sections = _without_certain_repetition(ctx, sections)
        if ctx.settings.editing == "off":
            return sections
        edited = EditedArticle(ctx, topic, sections)
        article, remarks = _numbered(sections), ""
        for _ in range(_PASSES):
            try:
                reply = ctx.ask("reviewer", ctx.programs.edit, topic=topic, article=article, remarks=remarks)
            except ModelError as error:
                ctx.events.degraded(f"the article was not edited{' again' if remarks else ''}: {error}")
                break
            remarks = edited.make(reply.edits, doubted=_doubts(ctx, edited, reply.edits))
            if not remarks:
                break
        return edited.sections()


def _doubts(ctx: RunContext, edited: EditedArticle, edits: Sequence[Edit]) -> Callable[[Edit], str]:
    """Why the run's judge doubts an edit's new text: by what it replaces, and else by the sources of that too."""
    if ctx.judge is None:
        return lambda _: ""
    judge = CachingJudge(ExplainingJudge(ctx.judge))
    behind = {edit: edited.behind(edit) for edit in edits if edit.kind in NEW_TEXT}  # as the editor saw it

    def why(edit: Edit) -> str:
        before, sources = behind[edit]
        try:
            return doubted(judge, edit.text, before, (*before, *sources))
        except ModelError as error:
            ctx.events.failed("judging an edit", error)
            return ""

    with suppress(ModelError):  # all in one batch; what fails is asked again, and recorded, edit by edit
        judge.judge([Question(edit.text, before) for edit, (before, _) in behind.items()])
    return why


def _numbered(sections: Sequence[Section]) -> str:
    """The article with numbered sentences (``[3]``) and headings (``[H2]``), one paragraph per line."""
    lines: list[str] = []
    headings, numbers = count(1), count(1)

    def add(section: Section, level: int) -> None:
        lines.append(f"{'#' * level} [H{next(headings)}] {section.heading}")
        lines.extend(" ".join(f"[{next(numbers)}] {s.text}" for s in own.sentences) for own in section.paragraphs)
        for own in section.subsections:
            add(own, level + 1)

    for section in sections:
        add(section, 1)
    return "\n".join(lines)


def _sentences(sections: Sequence[Section]) -> list[Sentence]:
    return [sentence for section in sections for sentence in section.sentences()]


def _without_certain_repetition(ctx: RunContext, sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """The sections without near-identical sentences, whose citations move to those kept; no model is called."""
    gone: set[Sentence] = set()
    moved: dict[Sentence, tuple[Sentence, ...]] = {}
    sentences = _sentences(sections)
    for kept, dropped in _repeated(ctx, list(dict.fromkeys(sentences))):
        if kept not in gone and dropped not in gone:
            gone.add(dropped)
            moved[kept] = (*moved.get(kept, ()), dropped, *moved.pop(dropped, ()))

    def edited(sentence: Sentence) -> Sentence | None:
        if sentence in gone:
            return None
        gone.add(sentence)  # it may stand again further on
        both = (sentence, *moved.get(sentence, ()))
        return Sentence(sentence.text, tuple(dict.fromkeys(c for one in both for c in one.citations)))

    left = sections_with(sections, edited)
    ctx.events.count(repeated=len(sentences) - len(_sentences(left)))
    return left


def _repeated(ctx: RunContext, distinct: list[Sentence]) -> list[tuple[Sentence, Sentence]]:
    """Pairs of near-identical sentences, most similar first; the longer one of each, which is kept, comes first."""
    if len(distinct) < 2:
        return []
    vectors = ctx.store.embed([s.text for s in distinct])
    cosine = np.triu(vectors @ vectors.T, k=1)
    found = sorted(zip(*np.nonzero(cosine >= _ALIKE), strict=True), key=lambda at: -cosine[at])
    pairs = (sorted((distinct[i], distinct[j]), key=lambda s: -len(s.text)) for i, j in found[:_MOST_PAIRS])
    return [(kept, own) for kept, own in pairs if _is_repeated(own.text, kept.text, ctx.settings.article_language)]


def _is_repeated(dropped: str, kept: str, language: str) -> bool:
    if not numbers(dropped) <= numbers(kept) or overlap(dropped, kept, 2) < _VERBATIM:
        return False
    return denials(dropped, language) == denials(kept, language)
