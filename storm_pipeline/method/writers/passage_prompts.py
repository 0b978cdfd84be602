"""Inputs of the prompts that show passages, those shared by all calls of a run first (for prefix caches)."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from storm_pipeline.evidence.evidence import PassageEvidence
from storm_pipeline.evidence.passages import Passage, numbered_passages
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.outlines import outline_to_markdown
from storm_pipeline.text.languages import count_words
from storm_pipeline.types import Conversation, Outline, Section, Sentence

_ELSEWHERE = "Findings on these passages that other sections tell:"
_DOUBTFUL = " (doubtful)"
_CONTRADICTING = "Contradict each other:"
_FINDINGS = 5  # words of evidence budget per word of findings from other sections in a section's prompt


def section_inputs(ctx: RunContext, outline: Outline, evidence: PassageEvidence) -> dict[str, object]:
    """Return the inputs of :class:`storm_pipeline.signatures.writing.WriteSection` for a new section."""
    below = "; ".join(title for title in evidence.heading.titles() if title != evidence.heading.title)
    return {
        "article": ctx.brief.topic_with_note,
        **ctx.brief.manner,
        "outline": outline_to_markdown(outline),
        "section": evidence.heading.title + (f"\nSubheadings: {below}" if below else ""),
        "words": evidence.target_words,
        "passages": numbered_passages(evidence.passages),
        "findings": _findings(evidence, ctx.settings.evidence_words // _FINDINGS),
    }


def article_inputs(ctx: RunContext, words: int) -> dict[str, object]:
    """Return the inputs of the prompts that ask for a whole article, without outline and evidence."""
    return {**ctx.brief.inputs, **ctx.brief.manner, "words": words}


def conversations_with_markers(conversations: Sequence[Conversation], shown: Sequence[Passage]) -> str:
    """Return all questions and answers of the conversations, the answers with the numbers of cited passages."""
    number = _numbers(shown)
    lines = []
    for turn in (turn for conversation in conversations for turn in conversation.turns):
        answer = " ".join(_mark(sentence, number) for sentence in turn.answer) or turn.answer_text
        lines += [f"Writer: {turn.question}", f"Expert: {answer}"]
    return "\n".join(lines)


def with_markers(section: Section, shown: Sequence[Passage]) -> str:
    """Return a section's text without its heading, each sentence with the numbers of the passages that it cites."""
    passage = _numbers(shown)
    lines = [" ".join(_mark(sentence, passage) for sentence in part.sentences) for part in section.paragraphs]
    for subsection in section.subsections:
        lines += [f"## {subsection.heading}", with_markers(subsection, shown)]
    return "\n".join(lines)


def _findings(evidence: PassageEvidence, limit: int) -> str:
    """Return the findings as ``- sentence [3]`` lines, numbered by the passages that they cite.

    The section's own findings are all included, those of other sections up to ``limit`` words in total, after a line
    that says so. Doubtful ones are marked; pairs that contradict each other are named last.
    """
    number, notes = _numbers(evidence.passages), evidence.notes

    def line(finding: Sentence) -> str:
        return f"- {_mark(finding, number)}{_DOUBTFUL if finding.text in notes.doubtful else ''}"

    ends = accumulate(count_words(finding.text) for finding in (*evidence.findings, *evidence.related))
    fitting = sum(end <= limit for end in ends) - len(evidence.findings)
    related = [line(finding) for finding in evidence.related[: max(0, fitting)]]
    lines = [*map(line, evidence.findings), *([_ELSEWHERE] if evidence.findings and related else []), *related]
    marked = {finding.text: _mark(finding, number) for finding in evidence.findings}
    pairs = [(marked[a], marked[other]) for a, other in notes.contradicting if a in marked and other in marked]
    return "\n".join([*lines, *(f"{_CONTRADICTING} “{a}” and “{other}”" for a, other in pairs)])


def _numbers(shown: Sequence[Passage]) -> dict[str, int]:
    """Map the id of each snippet to the number of the passage that contains it."""
    return {name: n for n, passage in enumerate(shown, 1) for name in passage.snippet_ids}


def _mark(sentence: Sentence, number: Mapping[str, int]) -> str:
    markers = sorted({number[c.snippet_id] for c in sentence.citations if c.snippet_id in number})
    return f"{sentence.text} " + "".join(f"[{n}]" for n in markers)
