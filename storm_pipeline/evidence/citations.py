"""Citations as pure functions: read them from model output, and number them.

Inside the package a sentence carries ids of sources and snippets (paper section 3.4 asks for inline
citations). Numbers exist in two places only: in prompts and replies, where ``[n]`` is the n-th snippet shown, and in
rendered text, where ``[n]`` is the n-th source by first use. A number that refers to no snippet is dropped in parsing,
and counted.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from storm_pipeline.text.languages import split_sentences
from storm_pipeline.text.markers import MARKS, mark_citations, marked_number, with_brackets, without_markers
from storm_pipeline.text.words import HAN_KANA, tidy
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet

_LINK = re.compile(
    r"""!?(?P<text>\[\[?[^\[\]]*\]?\])\(\s*<?
        (?:(?:https?|ftp|file|mailto):|www\.|[/#.])(?:[^()\s]|\([^()\s]*\))*
        >?(?:\s+["'][^"'()]*["'])?\s*\)""",
    re.X | re.I,
)
_NEEDED = re.compile(
    r"\\?\[\s*(?:citations?|sources?|references?)\s+(?:is\s+)?(?:needed|required|missing)\s*\\?\]", re.I
)
_SUPERSCRIPT = re.compile(r"<sup\b[^<>]*>([^<>]*)</sup>", re.I)
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_MARK = "\0"  # placeholder for removed marks; tidy() strips any that the text contains
_GROUP = re.compile(rf"(?:{MARKS.pattern})(?:[\s,;]*{MARKS.pattern})*")
_BRACKETED = re.compile(rf"[(（]\s*{_MARK}\s*[)）]")
_BETWEEN_STOPS = re.compile(rf"([.!?。！？][\"'”’)\]]*)\s*{_MARK}\s*[.。]")
_OPENING = re.compile(rf"^{_MARK}[\s:,;，、；：،؛]*")
_BEFORE_WORD = re.compile(rf"{_MARK}(?=[^\s.,;:!?…)\]}}。，、；：！？）」』】》،؛؟۔।{HAN_KANA}])")
_SPACED_PUNCTUATION = re.compile(r"\s+([,;:!?…。，、；：！？،؛؟۔।]|\.(?!\w))")
_FRENCH_PUNCTUATION = re.compile(r"\s+([,…]|\.(?!\w))")  # french puts a space before the other punctuation marks

_SPECIAL = re.compile(r"[\\`*_\[\]<|~$]|&(?=#?\w+;)")
_LINE_START = re.compile(r"^[#+\-=>:]|(?<=^\d)[.)]|^\d{2,}[.)]")
_LABEL = re.compile(r"[\w.-]{1,20}")


@dataclass(frozen=True)
class Claim:
    """A sentence as written, without markers, and the positions (from 0) of the passages that it cites."""

    text: str
    cited: tuple[int, ...]


@dataclass(frozen=True)
class CitedText:
    """A model's text with its markers parsed."""

    # in order, without markers, each with its distinct citations in order of appearance
    sentences: tuple[Sentence, ...]
    invented: int  # number of references to snippets that were not shown; they were dropped


def parse_cited(text: str, shown: Sequence[Citation], language: str = "en", names: Sequence[str] = ()) -> CitedText:
    """Read a text in which ``[n]`` cites ``shown[n - 1]``.

    Forms and positions of markers are those of :mod:`storm_pipeline.text.markers`; ``(1)`` is not a marker, markdown
    links keep their text only, ``[citation needed]`` is removed, and other brackets stay. A marker without words
    belongs to the sentence before it (to the first sentence if there is none before). A range covers the snippets shown
    within it and counts as one invention for each end that lies outside.

    Args:
        shown: what the numbers refer to, in the order shown.
        language: ISO 639-1 code of the text, for sentence splitting.
    """
    claims, invented = parse_marked(mark_citations(text, len(shown)), len(shown), language, names)
    return CitedText(
        tuple(Sentence(claim.text, tuple(dict.fromkeys(shown[i] for i in claim.cited))) for claim in claims), invented
    )


def parse_marked(
    text: str, shown: int, language: str = "en", names: Sequence[str] = ()
) -> tuple[tuple[Claim, ...], int]:
    """Read a text as :func:`parse_cited` does, where only :func:`storm_pipeline.text.markers.mark` cites.

    Returns the sentences and the number of references beyond the first ``shown``.
    """
    claims: list[Claim] = []
    waiting: list[int] = []
    invented = 0
    for raw in split_sentences(_without_links(text), language, names):
        plain, numbers = _take_marks(raw, _FRENCH_PUNCTUATION if language == "fr" else _SPACED_PUNCTUATION)
        positions = [number - 1 for number in numbers if 1 <= number <= shown]
        invented += len(numbers) - len(positions)
        if plain:
            claims.append(Claim(plain, tuple(dict.fromkeys([*waiting, *positions]))))
            waiting = []
        elif claims:
            claims[-1] = Claim(claims[-1].text, tuple(dict.fromkeys([*claims[-1].cited, *positions])))
        else:
            waiting += positions
    return tuple(claims), invented


def without_notes(text: str) -> str:
    """Return a sentence of a page without the marks of its own notes, which look like citations of an article."""
    claims, _ = parse_marked(mark_citations(text, 10**9), 0) if without_markers(text) != text else ((), 0)
    return " ".join(claim.text for claim in claims) or text


def number_references(article: Article) -> dict[str, int]:
    """Map the id of each cited source to its number, from 1, in the order of ``article.references``."""
    return {source.id: number for number, source in enumerate(article.references, 1)}


def marker(sentence: Sentence, numbers: dict[str, int]) -> str:
    """Format the sentence's citations, distinct and ascending, e.g. ``[1][4]``; empty without citations."""
    return "".join(f"[{number}]" for number in sorted({numbers[c.source_id] for c in sentence.citations}))


def cited_snippet_ids(sentences: Iterable[Sentence]) -> frozenset[str]:
    """Return the ids of all snippets that the sentences cite."""
    return frozenset(citation.snippet_id for sentence in sentences for citation in sentence.citations)


def page_name(snippet: Snippet) -> str:
    """Return the printed number of a passage's page, else its position in the file; empty without pages."""
    label = snippet.page_label or ""
    return label if _LABEL.fullmatch(label) else str(snippet.page or "")


def page_names(snippets: Iterable[Snippet]) -> tuple[str, ...]:
    """Return the distinct page names of the passages, in the order of the pages."""
    return tuple(dict.fromkeys(filter(None, map(page_name, sorted(snippets, key=lambda snippet: snippet.page or 0)))))


def page_span(names: Sequence[str]) -> str:
    """Format pages, consecutive numbers as a range: ``3, 7``, ``1–4``, ``xiv, 2``."""
    spans: list[list[str]] = []
    for name in names:
        if spans and name.isdecimal() and spans[-1][-1].isdecimal() and int(name) == int(spans[-1][-1]) + 1:
            spans[-1] = [spans[-1][0], name]
        else:
            spans.append([name])
    return ", ".join("–".join(span) for span in spans)


def locator(names: Sequence[str]) -> str:
    """Format pages as they are cited: ``p. 3``, ``pp. 3, 7`` or ``pp. 1–4``; empty without any."""
    return f"{'p.' if len(names) == 1 else 'pp.'} {page_span(names)}" if names else ""


def cited_page_names(article: Article) -> dict[str, tuple[str, ...]]:
    """Map the id of each paged source to the names of its cited pages, in order."""
    cited = cited_snippet_ids(article.sentences())
    pages = {source.id: page_names(s for s in source.snippets if s.id in cited) for source in article.references}
    return {name: pages for name, pages in pages.items() if pages}


def cited_pages(article: Article) -> dict[str, str]:
    """Map the id of each paged source to its cited pages as text; see :func:`locator`."""
    return {name: locator(pages) for name, pages in cited_page_names(article).items()}


def _without_links(text: str) -> str:
    """Reduce links to their text, raised tags to raised digits, and remove "citation needed" notes."""
    plain = _LINK.sub(lambda match: match["text"].strip("[]"), text)
    return _SUPERSCRIPT.sub(lambda match: match[1].translate(_RAISED), _NEEDED.sub("", plain))


def _take_marks(raw: str, spaced: re.Pattern[str]) -> tuple[str, list[int]]:
    """Split a sentence into its text without marks and the numbers of its marks, in order."""
    text = tidy(raw)
    numbers = [marked_number(match) for match in MARKS.findall(text)]
    bare = _BETWEEN_STOPS.sub(rf"\1{_MARK}", _GROUP.sub(_MARK, text))
    bare = tidy(_BEFORE_WORD.sub(" ", _OPENING.sub("", _BRACKETED.sub("", bare))))
    return with_brackets(spaced.sub(r"\1", bare)), numbers


def section_to_markdown(section: Section) -> str:
    """Return one section as Markdown, from its heading (``##``) down, without citation markers."""
    return "\n\n".join(section_blocks(section, 2, {})) + "\n"


def escape(text: str, *, heading: bool = False) -> str:
    """Return the text on one line, escaped so that Markdown shows it literally, also at both ends of a heading."""
    escaped = _SPECIAL.sub(r"\\\g<0>", tidy(text))
    escaped = _LINE_START.sub(lambda match: f"{match[0][:-1]}\\{match[0][-1]}", escaped)
    end = len(escaped.rstrip("#")) if heading else len(escaped)
    return escaped[:end] + escaped[end:].replace("#", "\\#")


def section_blocks(section: Section, level: int, numbers: dict[str, int]) -> Iterator[str]:
    """Yield the blocks of a section and its subsections; ``numbers``: of sources by id, none for no markers."""
    yield f"{'#' * min(level, 6)} {escape(section.heading, heading=True)}".rstrip()
    yield from paragraphs_to_markdown(section.paragraphs, numbers)
    for subsection in section.subsections:
        yield from section_blocks(subsection, level + 1, numbers)


def paragraphs_to_markdown(paragraphs: tuple[Paragraph, ...], numbers: dict[str, int]) -> Iterator[str]:
    """Yield one block per paragraph; sentences without text are skipped."""
    for paragraph in paragraphs:
        lines = [
            f"{text}{marker(s, numbers) if numbers else ''}" for s in paragraph.sentences if (text := escape(s.text))
        ]
        if lines:
            yield "\n".join(lines)
