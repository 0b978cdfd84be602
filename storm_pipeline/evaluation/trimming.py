"""An article as plain text for a grader, cut to the words that it takes (STORM, appendix C.2). Pure functions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from storm_pipeline.text.words import word_count
from storm_pipeline.types import Article, Paragraph, Section

_OMITTED = "[shortened here]"


@dataclass(frozen=True)
class Part:
    """A heading and the paragraphs right under it.

    Attributes:
        level: 0 for the lead, 1 for a section, 2 for its subsections, and so on.
        heading: empty for the lead.
        paragraphs: the texts of its sentences, without citation markers.
        shortened: whether something was cut off.
    """

    level: int
    heading: str
    paragraphs: tuple[tuple[str, ...], ...] = ()
    shortened: bool = False

    @property
    def length(self) -> int:
        """Words of the paragraphs."""
        return sum(word_count(sentence) for paragraph in self.paragraphs for sentence in paragraph)


def parts_of(article: Article) -> tuple[Part, ...]:
    """Lead and sections, subsections behind their section, in reading order; an empty lead is none."""
    lead = Part(0, "", _texts(article.lead))
    body = (part for section in article.sections for part in _walk(section, 1))
    return (*([lead] if lead.paragraphs else []), *body)


def trimmed(parts: Sequence[Part], budget: int) -> tuple[Part, ...]:
    """Cut parts to a number of words by taking from the shortest section again and again.

    The shortest section without a subsection that still holds text loses its last sentence (of equally short ones the
    last section does), until the whole fits; so the shortest sections are emptied one after another, and at most one
    stays cut in part. Headings stay. The lead is cut when no section is left. The official code takes whole paragraphs.

    Args:
        parts: as :func:`parts_of` gives them.
        budget: most words of all paragraphs together, >= 0.
    """
    cut = list(parts)
    lengths = [part.length for part in cut]
    while sum(lengths) > budget:
        ends = [i for i, part in enumerate(cut) if lengths[i] and part.level and not _below(cut, lengths, i)]
        i = min(ends, key=lambda i: (lengths[i], -i)) if ends else next(i for i, n in enumerate(lengths) if n)
        cut[i] = _shorter(cut[i])
        lengths[i] = cut[i].length
    return tuple(cut)


def as_text(parts: Sequence[Part]) -> str:
    """Headings behind as many ``#`` as their level, paragraphs between; a note where something was cut off."""
    blocks: list[str] = []
    for part in parts:
        if part.heading:
            blocks.append(f"{'#' * part.level} {part.heading}")
        blocks += [" ".join(paragraph) for paragraph in part.paragraphs]
        if part.shortened:
            blocks.append(_OMITTED)
    return "\n\n".join(blocks)


def _walk(section: Section, level: int) -> Iterator[Part]:
    yield Part(level, section.heading, _texts(section.paragraphs))
    for subsection in section.subsections:
        yield from _walk(subsection, level + 1)


def _texts(paragraphs: Sequence[Paragraph]) -> tuple[tuple[str, ...], ...]:
    texts = (tuple(s.text for s in paragraph.sentences if s.text.strip()) for paragraph in paragraphs)
    return tuple(sentences for sentences in texts if sentences)


def _below(parts: Sequence[Part], lengths: Sequence[int], place: int) -> bool:
    """Whether a subsection of the part at a place holds words."""
    behind = zip(parts[place + 1 :], lengths[place + 1 :], strict=True)
    return any(length for _, length in takewhile(lambda own: own[0].level > parts[place].level, behind))


def _shorter(part: Part) -> Part:
    """The part without its last sentence."""
    *before, last = part.paragraphs
    kept = (*before, last[:-1]) if len(last) > 1 else tuple(before)
    return replace(part, paragraphs=kept, shortened=True)
