"""Adds the little that a later round found to a section that stands, instead of writing it again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from storm_pipeline.references.evidence import PassageEvidence
from storm_pipeline.references.grounding import Grounding
from storm_pipeline.references.passages import numbered_passages
from storm_pipeline.run.context import RunContext
from storm_pipeline.types import Outline, Paragraph, Revision, Section, Sentence
from storm_pipeline.writers.passage_prompts import language_and_style
from storm_pipeline.writers.remarks import read_replies

FEW = 2
"""Maximum number of new findings that are inserted; for more, a section is written again."""
_ADDED = "the section says it now"


def with_findings_inserted(ctx: RunContext, outline: Outline, new: PassageEvidence, section: Section) -> Section:
    """The section with a sentence for each new finding that it does not tell yet.

    A sentence that the passages do not support is dropped, and that is recorded.

    Args:
        ctx: the run.
        outline: of the article.
        new: the new findings of the section, and the passages that they cite.
        section: as it stands; its sentences stay as they are.

    Raises:
        ModelError: the model fails.
    """
    cited = {citation.snippet_id for finding in new.own_findings for citation in finding.citations}
    shown = [p for p in new.passages if not cited.isdisjoint(c.snippet_id for c in p.citations())]
    number = {c.snippet_id: n for n, passage in enumerate(shown, 1) for c in passage.citations()}
    reply = ctx.ask(
        "writer",
        ctx.programs.insert,
        article=outline.topic,
        **language_and_style(ctx),
        section=section.heading,
        written="\n".join(_numbered(section, count(1))),
        findings="\n".join(f"- {one.text} {_markers(one, number)}" for one in new.own_findings),
        passages=numbered_passages(shown),
    ).text
    known = (outline.topic, *new.heading.titles())
    language = ctx.settings.article_language
    replies = {place: one.claim for place, one in read_replies(reply, len(shown), language, known).items() if one.claim}
    grounding = Grounding(
        shown,
        known=" ".join(known),
        embed=ctx.store.embed,
        language=language,
        pages=lambda source_id: ctx.store.source(source_id).snippets,
        findings=new.findings,
    )
    verdicts = zip(replies.items(), grounding.judge(list(replies.values())), strict=True)
    added: dict[int, Sentence] = {}
    for (place, claim), verdict in verdicts:
        fits = not verdict.problem or verdict.is_only_copied or ctx.settings.uncited == "unchecked"
        outcome, after = ("inserted", verdict.sentence.text) if fits else ("dropped", "")
        ctx.events.revised(Revision(section.heading, claim.text, verdict.problem or _ADDED, outcome, after))
        ctx.events.count(dropped_unsupported=int(not fits))
        if fits:
            added[place] = verdict.sentence
    return _with(section, added, count(1))


def _markers(sentence: Sentence, number: Mapping[str, int]) -> str:
    return "".join(
        f"[{n}]" for n in sorted({number[c.snippet_id] for c in sentence.citations if c.snippet_id in number})
    )


def _numbered(section: Section, numbers: Iterator[int]) -> Iterator[str]:
    """The section's sentences with their numbers, a paragraph a line."""
    for own in section.paragraphs:
        yield " ".join(f"({next(numbers)}) {sentence.text}" for sentence in own.sentences)
    for below in section.subsections:
        yield f"## {below.heading}"
        yield from _numbered(below, numbers)


def _with(section: Section, added: Mapping[int, Sentence], numbers: Iterator[int]) -> Section:
    """The section with sentences behind those of these numbers, counted as :func:`_numbered` does."""

    def longer(sentences: Sequence[Sentence]) -> Iterator[Sentence]:
        for sentence in sentences:
            yield sentence
            if (more := added.get(next(numbers))) is not None:
                yield more

    paragraphs = tuple(Paragraph(tuple(longer(own.sentences))) for own in section.paragraphs)
    return replace(
        section,
        paragraphs=paragraphs,
        subsections=tuple(_with(below, added, numbers) for below in section.subsections),
    )
