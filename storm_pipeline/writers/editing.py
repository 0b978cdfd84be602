"""Copy editing of a finished article: a model proposes edits by sentence number, and the program applies them.

The article is never rewritten, so what stays keeps the citations that support it
(:mod:`storm_pipeline.writers.edited_article`). Edits that cannot be made go back to the model once, each with the
reason. Before that, a sentence that repeats the words of an earlier one is removed without a model (paper section 3.4);
its citations move to that one.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count

from storm_pipeline.errors import ModelError
from storm_pipeline.judges.base import CachingJudge, Question
from storm_pipeline.judges.spans import ExplainingJudge
from storm_pipeline.references.changing import sections_with
from storm_pipeline.run.context import RunContext
from storm_pipeline.signatures.shapes import Edit
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Citation, Section, Sentence
from storm_pipeline.writers.edited_article import NEW_TEXT, EditedArticle
from storm_pipeline.writers.judging import doubted

_PASSES = 2  # calls of the model: the edits, and those that could not be made once more


def edit_article(ctx: RunContext, topic: str, sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """The sections with repetition cut, sentences reworded, joined or moved, and headings changed to fit their text.

    Without ``editing`` in the settings, only sentences of the same words are cut. An edit that would add or remove a
    number or a date is skipped. If the model fails, the sections are returned without its edits, and that is recorded.
    """
    with ctx.events.in_stage("editing"):
        sections = _without_repetition(ctx, sections)
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


def _without_repetition(ctx: RunContext, sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """The sections without sentences of the same words, whose citations move to the first; no model is called."""
    sentences = _sentences(sections)
    cited: dict[str, dict[Citation, None]] = {}
    for own in sentences:
        cited.setdefault(_words(own), {}).update(dict.fromkeys(own.citations))

    def edited(sentence: Sentence) -> Sentence | None:
        citations = cited.pop(_words(sentence), None)
        return None if citations is None else Sentence(sentence.text, tuple(citations))

    left = sections_with(sections, edited)
    ctx.events.count(repeated=len(sentences) - len(_sentences(left)))
    return left


def _words(sentence: Sentence) -> str:
    return " ".join(folded_words(sentence.text)) or sentence.text
