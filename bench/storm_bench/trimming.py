"""An article as plain text for a grader, trimmed to a word limit (STORM, appendix C.2). Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from storm_bench.sections import all_sections
from storm_pipeline import Article
from storm_pipeline.api import words
from storm_pipeline.types import Paragraph

_OMITTED = "[shortened here]"


@dataclass(frozen=True)
class SectionText:
    """A heading and the paragraphs directly under it."""

    level: int  # 0 for the lead, 1 for a section, 2 for its subsections, and so on
    heading: str  # empty for the lead
    paragraphs: tuple[tuple[str, ...], ...] = ()  # the texts of its sentences, without citation markers
    shortened: bool = False  # whether text was cut off

    @property
    def length(self) -> int:
        """Number of words in the paragraphs."""
        return sum(len(words(sentence)) for paragraph in self.paragraphs for sentence in paragraph)


def parts_of(article: Article) -> tuple[SectionText, ...]:
    """Return the lead and all sections in reading order; an empty lead is left out."""
    lead = SectionText(0, "", _texts(article.lead))
    body = (
        SectionText(len(path), section.heading, _texts(section.paragraphs)) for path, section in all_sections(article)
    )
    return (*([lead] if lead.paragraphs else []), *body)


def trimmed(parts: Sequence[SectionText], budget: int) -> tuple[SectionText, ...]:
    """Trim to a number of words by repeatedly cutting the shortest section.

    The shortest section with no text left in its subsections (the last one among ties) loses its last sentence until
    the whole fits. So the shortest sections are emptied one by one, and at most one is cut in part. Headings stay; the
    lead is cut last. The official code cuts whole paragraphs. ``budget``: maximum words in all paragraphs, >= 0.
    """
    cut = list(parts)
    lengths = [part.length for part in cut]
    while sum(lengths) > budget:
        cuttable = [
            i for i, part in enumerate(cut) if lengths[i] and part.level and not _subsections_have_text(cut, lengths, i)
        ]
        i = min(cuttable, key=lambda i: (lengths[i], -i)) if cuttable else next(i for i, n in enumerate(lengths) if n)
        lengths[i] -= len(words(cut[i].paragraphs[-1][-1]))
        cut[i] = _without_last_sentence(cut[i])
    return tuple(cut)


def as_text(parts: Sequence[SectionText]) -> str:
    """Return markdown headings and paragraphs, with a note where text was cut off."""
    blocks: list[str] = []
    for part in parts:
        if part.heading:
            blocks.append(f"{'#' * part.level} {part.heading}")
        blocks += [" ".join(paragraph) for paragraph in part.paragraphs]
        if part.shortened:
            blocks.append(_OMITTED)
    return "\n\n".join(blocks)


def as_shown(article: Article, longest: int) -> str:
    """Return an article as a grader sees it, of at most ``longest`` words; empty if it has only headings."""
    parts = trimmed(parts_of(article), longest)
    return as_text(parts) if any(part.length for part in parts) else ""


def _texts(paragraphs: Sequence[Paragraph]) -> tuple[tuple[str, ...], ...]:
    texts = (tuple(s.text for s in paragraph.sentences if s.text.strip()) for paragraph in paragraphs)
    return tuple(sentences for sentences in texts if sentences)


def _subsections_have_text(parts: Sequence[SectionText], lengths: Sequence[int], index: int) -> bool:
    """Return whether any subsection of the section at an index holds words."""
    following = zip(parts[index + 1 :], lengths[index + 1 :], strict=True)
    return any(length for _, length in takewhile(lambda pair: pair[0].level > parts[index].level, following))


def _without_last_sentence(part: SectionText) -> SectionText:
    """Return the section without its last sentence."""
    *before, last = part.paragraphs
    kept = (*before, last[:-1]) if len(last) > 1 else tuple(before)
    return replace(part, paragraphs=kept, shortened=True)
