"""Inputs of the prompts that show passages: what is the same for all calls of a run comes first."""

from collections.abc import Mapping, Sequence

from storm_pipeline.languages import count_words
from storm_pipeline.references.evidence import PassageEvidence
from storm_pipeline.references.passages import Passage, numbered_passages
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.outlines import outline_to_markdown
from storm_pipeline.types import Heading, Outline, Section, Sentence

_FINDINGS = 5
"""Beside so many words of passages a section's prompt may show one of answers that belong to other sections."""


def section_inputs(ctx: RunContext, outline: Outline, evidence: PassageEvidence) -> dict[str, object]:
    """Inputs of :class:`storm_pipeline.signatures.writing.WriteSection` for a section that is yet to be written."""
    return {
        "article": outline.topic,
        **language_and_style(ctx),
        "outline": outline_to_markdown(outline),
        "section": _section(evidence.heading),
        "words": evidence.target_words,
        "passages": numbered_passages(evidence.passages),
        "findings": _findings(evidence, ctx.settings.evidence_words // _FINDINGS),
    }


def all_findings(evidence: PassageEvidence) -> str:
    """All that interviews made of the passages, with their numbers."""
    return _findings(evidence, None)


def article_inputs(ctx: RunContext, outline: Outline) -> dict[str, object]:
    """Inputs of the prompts that ask for a whole article, but for what it is written from."""
    return {
        "topic": outline.topic,
        **language_and_style(ctx),
        "outline": outline_to_markdown(outline),
        "words": ctx.settings.article_words,
    }


def language_and_style(ctx: RunContext) -> dict[str, object]:
    """The language and the style that the user asks for; empty inputs are left out of a prompt."""
    return {"language": ctx.settings.language_name, "style": ctx.settings.style or ""}


def _section(heading: Heading) -> str:
    below = [title for title in heading.titles() if title != heading.title]
    return heading.title + (f"\nSubheadings: {'; '.join(below)}" if below else "")


def with_markers(section: Section, shown: Sequence[Passage]) -> str:
    """A section's text without its heading, each sentence with the numbers of the passages that it cites."""
    number = _numbers(shown)
    lines = [" ".join(_marked(sentence, number) for sentence in own.sentences) for own in section.paragraphs]
    for own in section.subsections:
        lines += [f"## {own.heading}", with_markers(own, shown)]
    return "\n".join(lines)


def _findings(evidence: PassageEvidence, limit: int | None) -> str:
    """``- sentence [3]`` lines, the numbers those of the passages that the sentence was drawn from.

    Those that belong to the section are all shown, others up to so many words in all.
    """
    number = _numbers(evidence.passages)
    lines, words = [], 0
    for position, sentence in enumerate(evidence.findings):
        words += count_words(sentence.text)
        if limit and words > limit and position >= evidence.own:
            break
        lines.append(f"- {_marked(sentence, number)}")
    return "\n".join(lines)


def _numbers(shown: Sequence[Passage]) -> dict[str, int]:
    """Id of a snippet → number of the passage that holds it."""
    return {c.snippet_id: n for n, passage in enumerate(shown, 1) for c in passage.citations()}


def _marked(sentence: Sentence, number: Mapping[str, int]) -> str:
    markers = sorted({number[c.snippet_id] for c in sentence.citations if c.snippet_id in number})
    return f"{sentence.text} " + "".join(f"[{n}]" for n in markers)
