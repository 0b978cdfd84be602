"""Citations as pure functions: read them from model output, and number them.

Inside the package a sentence carries ids of sources and snippets (paper section 3.4 asks for inline
citations). Numbers exist in two places only: in prompts and replies, where ``[n]`` is the n-th snippet shown, and in
rendered text, where ``[n]`` is the n-th source by first use. A number that refers to no snippet is dropped in parsing,
and counted.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storm_pipeline.languages import split_sentences
from storm_pipeline.text.words import HAN_KANA, MARKER, tidy
from storm_pipeline.types import Article, Citation, Sentence, Snippet

_LINK = re.compile(
    r"""!?(?P<text>\[\[?[^\[\]]*\]?\])\(\s*<?
        (?:(?:https?|ftp|file|mailto):|www\.|[/#.])(?:[^()\s]|\([^()\s]*\))*
        >?(?:\s+["'][^"'()]*["'])?\s*\)""",
    re.X | re.I,
)
_RANGE = re.compile(r"(\d+)(?:\s*(?:[-–—‑−]|\bto\b)\s*[#^]?(\d+))?", re.I)
_NEEDED = re.compile(
    r"\\?\[\s*(?:citations?|sources?|references?)\s+(?:is\s+)?(?:needed|required|missing)\s*\\?\]", re.I
)
_SUPERSCRIPT = re.compile(r"</?sup\b[^<>]*>", re.I)
_MARK = "\0"  # placeholder for a removed marker; tidy() strips any that the text contains
_GROUP = re.compile(rf"{_MARK}(?:[\s,;]*{_MARK})*")
_BRACKETED = re.compile(rf"[(（]\s*{_MARK}\s*[)）]")
_BETWEEN_STOPS = re.compile(rf"([.!?。！？][\"'”’)\]]*)\s*{_MARK}\s*[.。]")
_OPENING = re.compile(rf"^{_MARK}[\s:,;，、；：،؛]*")
_BEFORE_WORD = re.compile(rf"{_MARK}(?=[^\s.,;:!?…)\]}}。，、；：！？）」』】》،؛؟۔।{HAN_KANA}])")
_SPACED_PUNCTUATION = re.compile(r"\s+([,;:!?…。，、；：！？،؛؟۔।]|\.(?!\w))")
_FRENCH_PUNCTUATION = re.compile(r"\s+([,…]|\.(?!\w))")  # french puts a space before the other punctuation marks

_LABEL = re.compile(r"[\w.-]{1,20}")


@dataclass(frozen=True)
class CitedText:
    """A model's text with its markers parsed."""

    # in order, without markers, each with its distinct citations in order of appearance
    sentences: tuple[Sentence, ...]
    invented: int  # number of references to snippets that were not shown; they were dropped


def parse_cited(text: str, shown: Sequence[Citation], language: str = "en", names: Sequence[str] = ()) -> CitedText:
    """Read a text in which ``[n]`` cites ``shown[n - 1]``.

    Lists, ranges, doubled brackets and labels (``[Source 1]``) are recognised, ``(1)`` is not a marker, markdown links
    keep their text only, ``[citation needed]`` is removed, and other brackets stay. A marker that stands alone belongs
    to the sentence before it (to the first sentence if there is none before). A range covers the snippets shown within
    it and counts as one invention for each end that lies outside.

    Args:
        shown: what the numbers refer to, in the order shown.
        language: ISO 639-1 code of the text, for sentence splitting.
    """
    sentences: list[Sentence] = []
    waiting: list[Citation] = []
    invented = 0
    for raw in split_sentences(_without_links(text), language, names):
        plain, numbers = _take_markers(raw, _FRENCH_PUNCTUATION if language == "fr" else _SPACED_PUNCTUATION)
        found, wrong = _resolve(numbers, shown)
        invented += wrong
        if plain:
            sentences.append(Sentence(plain, tuple(dict.fromkeys([*waiting, *found]))))
            waiting = []
        elif sentences:
            last = sentences[-1]
            sentences[-1] = Sentence(last.text, tuple(dict.fromkeys([*last.citations, *found])))
        else:
            waiting.extend(found)
    return CitedText(tuple(sentences), invented)


def number_references(article: Article) -> dict[str, int]:
    """The number of each cited source, from 1, in the order of ``article.references``."""
    return {source.id: number for number, source in enumerate(article.references, 1)}


def marker(sentence: Sentence, numbers: dict[str, int]) -> str:
    """The sentence's citations as text, distinct and ascending, e.g. ``[1][4]``; empty without citations."""
    return "".join(f"[{number}]" for number in sorted({numbers[c.source_id] for c in sentence.citations}))


def cited_snippet_ids(sentences: Iterable[Sentence]) -> frozenset[str]:
    """Ids of all snippets that the sentences cite."""
    return frozenset(citation.snippet_id for sentence in sentences for citation in sentence.citations)


def page_name(snippet: Snippet) -> str:
    """The number by which a passage's page is cited: the printed one if it is known; empty without pages."""
    label = snippet.page_label or ""
    return label if _LABEL.fullmatch(label) else str(snippet.page or "")


def page_names(snippets: Iterable[Snippet]) -> tuple[str, ...]:
    """The distinct names of the pages that passages stand on, in the order of the pages."""
    return tuple(dict.fromkeys(filter(None, map(page_name, sorted(snippets, key=lambda one: one.page or 0)))))


def page_span(names: Sequence[str]) -> str:
    """Pages as text, those that follow each other as a range: ``3, 7``, ``1–4``, ``xiv, 2``."""
    spans: list[list[str]] = []
    for name in names:
        if spans and name.isdecimal() and spans[-1][-1].isdecimal() and int(name) == int(spans[-1][-1]) + 1:
            spans[-1] = [spans[-1][0], name]
        else:
            spans.append([name])
    return ", ".join("–".join(span) for span in spans)


def locator(names: Sequence[str]) -> str:
    """Pages as they are cited: ``p. 3``, ``pp. 3, 7`` or ``pp. 1–4``; empty without any."""
    return f"{'p.' if len(names) == 1 else 'pp.'} {page_span(names)}" if names else ""


def cited_page_names(article: Article) -> dict[str, tuple[str, ...]]:
    """The pages on which the cited passages of each paged source stand, in order, by the source's id."""
    cited = cited_snippet_ids(article.sentences())
    found = {source.id: page_names(one for one in source.snippets if one.id in cited) for source in article.references}
    return {name: pages for name, pages in found.items() if pages}


def cited_pages(article: Article) -> dict[str, str]:
    """:func:`cited_page_names` as text, by the source's id."""
    return {name: locator(pages) for name, pages in cited_page_names(article).items()}


def _without_links(text: str) -> str:
    """Reduce links to their text (a linked marker to the marker) and remove "citation needed" notes."""

    def reduced(found: re.Match[str]) -> str:
        inner = found["text"]
        return inner if MARKER.fullmatch(inner) else inner.strip("[]")

    return _SUPERSCRIPT.sub("", _NEEDED.sub("", _LINK.sub(reduced, text)))


def _take_markers(raw: str, spaced: re.Pattern[str]) -> tuple[str, list[str]]:
    """A sentence without its markers, and the markers' contents in order."""
    numbers: list[str] = []

    def take(found: re.Match[str]) -> str:
        numbers.append(found["double"] or found["single"] or found["lenticular"])
        return _MARK

    text = tidy(raw)
    while True:  # removing one marker can complete another one around it
        marked = MARKER.sub(take, text)
        marked = _BETWEEN_STOPS.sub(rf"\1{_MARK}", _GROUP.sub(_MARK, marked))
        marked = _OPENING.sub("", _BRACKETED.sub("", marked))
        text = tidy(_BEFORE_WORD.sub(" ", marked))
        text = spaced.sub(r"\1", text)
        if not MARKER.search(text):
            return text, numbers


def _resolve(markers: Sequence[str], shown: Sequence[Citation]) -> tuple[list[Citation], int]:
    """The citations that the markers refer to, and the number of invalid references."""
    found: list[Citation] = []
    invented = 0
    for numbers in markers:
        for first, last in _RANGE.findall(numbers):
            ends = [_number(first), _number(last)] if last else [_number(first)]
            invented += sum(not 1 <= end <= len(shown) for end in ends)
            found.extend(shown[max(min(ends), 1) - 1 : min(max(ends), len(shown))])
    return found, invented


def _number(digits: str) -> int:
    """The value of decimal digits in any script; numbers of more than nine digits are out of range anyway."""
    return int(digits) if len(digits) <= 9 else 10**9
