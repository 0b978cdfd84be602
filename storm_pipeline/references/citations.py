"""Citations as pure functions: read them from model output, number them, and read them back from Markdown.

Inside the package a sentence carries ids of sources and snippets (paper section 3.4 asks for inline
citations). Numbers exist in two places only: in what a model is shown and answers, where ``[n]`` is the n-th
snippet shown, and in rendered text, where ``[n]`` is the n-th source by first use. A number that points at
nothing shown is dropped where it is parsed, and counted.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from storm_pipeline.languages import split_sentences
from storm_pipeline.text.words import HAN_KANA, MARKER, tidy
from storm_pipeline.types import Article, Citation, Sentence

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
_MARK = "\0"  # stands where a marker was taken out; tidy() has removed any that the text brought along
_GROUP = re.compile(rf"{_MARK}(?:[\s,;]*{_MARK})*")
_BRACKETED = re.compile(rf"[(（]\s*{_MARK}\s*[)）]")
_BETWEEN_STOPS = re.compile(rf"([.!?。！？][\"'”’)\]]*)\s*{_MARK}\s*[.。]")
_OPENING = re.compile(rf"^{_MARK}[\s:,;，、；：،؛]*")
_BEFORE_WORD = re.compile(rf"{_MARK}(?=[^\s.,;:!?…)\]}}。，、；：！？）」』】》،؛؟۔।{HAN_KANA}])")
_SPACED_PUNCTUATION = re.compile(r"\s+([,;:!?…。，、；：！？،؛؟۔।]|\.(?!\w))")
_FRENCH_PUNCTUATION = re.compile(r"\s+([,…]|\.(?!\w))")
"""A space stands before the other marks in French."""

_MARKDOWN_SENTENCE = re.compile(r"(.*?)((?:\[\d+\])*)")
_PAGES = r"(?:, pp?\. \d+(?:, \d+)*)?"
_MARKDOWN_LINK = re.compile(rf"(\d+)\. \[.*\]\(<?((?:[^\\()<>]|\\.)*)>?\){_PAGES}")
_MARKDOWN_UNLINKED = re.compile(rf"(\d+)\. .* — (\S*?){_PAGES}")
_MARKDOWN_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKDOWN_STRUCTURE = ("#", "*", "---")


@dataclass(frozen=True)
class CitedText:
    """A model's text after reading its markers.

    Attributes:
        sentences: in order, without markers, each with its distinct citations in order of appearance.
        invented: how many numbers pointed at nothing shown; they were dropped.
    """

    sentences: tuple[Sentence, ...]
    invented: int


def parse_cited(text: str, shown: Sequence[Citation], language: str = "en", names: Sequence[str] = ()) -> CitedText:
    """Read a text in which ``[n]`` cites ``shown[n - 1]``.

    Lists, ranges, doubled brackets and labels (``[Source 1]``) are understood, ``(1)`` is not a marker,
    markdown links keep their text only, ``[citation needed]`` is removed, and other brackets stay. A marker
    that stands alone belongs to the sentence before it (to the first sentence if there is none before). A
    range covers the snippets shown within it and counts as one invention for each end that lies outside.

    Args:
        text: model output, without its thinking.
        shown: what the numbers refer to, in the order shown.
        language: ISO 639-1 code of the text, by which it is cut into sentences.
        names: names that contain stops, which are not split.
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


def cited_page_numbers(article: Article) -> dict[str, tuple[int, ...]]:
    """The pages on which the cited passages of each paged source stand, ascending, by the source's id."""
    cited = {citation.snippet_id for sentence in article.sentences() for citation in sentence.citations}
    found = {}
    for source in article.references:
        if pages := sorted({snippet.page for snippet in source.snippets if snippet.page and snippet.id in cited}):
            found[source.id] = tuple(pages)
    return found


def cited_pages(article: Article) -> dict[str, str]:
    """:func:`cited_page_numbers` as text: id → ``p. 3`` or ``pp. 3, 7``."""
    found = cited_page_numbers(article).items()
    return {name: ("p. " if len(pages) == 1 else "pp. ") + ", ".join(map(str, pages)) for name, pages in found}


def sentence_table(article: Article) -> list[tuple[str, tuple[str, ...]]]:
    """Every sentence's text, on one line, with the ids of the sources it cites, ascending by their numbers.

    Sentences without text are left out: nothing of them is ever rendered.
    """
    numbers = number_references(article)
    return [
        (text, tuple(sorted({c.source_id for c in sentence.citations}, key=numbers.__getitem__)))
        for sentence in article.sentences()
        if (text := tidy(sentence.text))
    ]


def parse_markdown(markdown: str) -> list[tuple[str, tuple[str, ...]]]:
    """Read rendered Markdown back: every sentence's text with the addresses of the sources it cites.

    The inverse of :func:`storm_pipeline.render.markdown.to_markdown`, which writes a sentence a line: equals
    :func:`sentence_table` with addresses for ids.
    """
    urls: dict[str, str] = {}
    rows: list[tuple[str, list[str]]] = []
    for line in markdown.split("\n"):
        if not line.strip() or line.startswith(_MARKDOWN_STRUCTURE):
            continue
        if found := _MARKDOWN_LINK.fullmatch(line) or _MARKDOWN_UNLINKED.fullmatch(line):
            urls[found[1]] = _unescaped(found[2])
        elif found := _MARKDOWN_SENTENCE.fullmatch(line):
            rows.append((_unescaped(found[1]), re.findall(r"\d+", found[2])))
    return [(text, tuple(urls[number] for number in numbers)) for text, numbers in rows]


def _without_links(text: str) -> str:
    """Links reduced to their text (a linked marker to the marker), notes of missing citations removed."""

    def reduced(found: re.Match[str]) -> str:
        inner = found["text"]
        return inner if MARKER.fullmatch(inner) else inner.strip("[]")

    return _SUPERSCRIPT.sub("", _NEEDED.sub("", _LINK.sub(reduced, text)))


def _take_markers(raw: str, spaced: re.Pattern[str]) -> tuple[str, list[str]]:
    """A sentence without its markers, and what stood in them, in order."""
    numbers: list[str] = []

    def take(found: re.Match[str]) -> str:
        numbers.append(found["double"] or found["single"] or found["lenticular"])
        return _MARK

    text = tidy(raw)
    while True:  # taking one marker out can close the brackets of another around it
        marked = MARKER.sub(take, text)
        marked = _BETWEEN_STOPS.sub(rf"\1{_MARK}", _GROUP.sub(_MARK, marked))
        marked = _OPENING.sub("", _BRACKETED.sub("", marked))
        text = tidy(_BEFORE_WORD.sub(" ", marked))
        text = spaced.sub(r"\1", text)
        if not MARKER.search(text):
            return text, numbers


def _resolve(markers: Sequence[str], shown: Sequence[Citation]) -> tuple[list[Citation], int]:
    """The citations that the markers' numbers mean, and how many numbers mean nothing."""
    found: list[Citation] = []
    invented = 0
    for numbers in markers:
        for first, last in _RANGE.findall(numbers):
            ends = [_number(first), _number(last)] if last else [_number(first)]
            invented += sum(not 1 <= end <= len(shown) for end in ends)
            found.extend(shown[max(min(ends), 1) - 1 : min(max(ends), len(shown))])
    return found, invented


def _number(digits: str) -> int:
    """The value of decimal digits in any script; what has more than nine of them is out of range anyway."""
    return int(digits) if len(digits) <= 9 else 10**9


def _unescaped(text: str) -> str:
    return _MARKDOWN_ESCAPE.sub(r"\1", text)
