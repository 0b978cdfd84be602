"""Reads an article from Markdown with numbered citations, footnotes or linked numbers, and a list of references.

An entry is ``1. …``, ``1) …``, ``[1] …``, ``[1]: …`` or ``[^1]: …``; its page is the first link or address in it.
``[1]: …`` and ``[^1]: …`` are entries anywhere, the others below a heading such as "References", and ``[1] …`` with an
address also in the last lines of the text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, permutations, takewhile

from storm_pipeline.evidence.citations import parse_marked
from storm_pipeline.method.outlines import is_foreign_back_matter
from storm_pipeline.output.articles.markdown_blocks import (
    HeadingNode,
    TextBlock,
    first_link,
    markdown_block,
    paragraph_blocks,
    plain_markdown,
    without_comments,
    without_title,
)
from storm_pipeline.output.articles.pages import NumberedArticle, Reference
from storm_pipeline.text.identity import source_id
from storm_pipeline.text.languages import detect, is_back_matter
from storm_pipeline.text.markers import MARKS, literal, mark, mark_citations, with_brackets, without_reserved
from storm_pipeline.text.words import folded_words, tidy
from storm_pipeline.types import Article, Citation, Paragraph, Sentence

LOCATORS = frozenset({"p", "pp", "s", "ff"})  # words of a short note that are about a page
LARGEST_NUMBER = 9999  # larger numbers in brackets are not citations
_DEFINITION = re.compile(
    r"^[ \t]*(?:[-*+•][ \t]+)?\[(\^[^\[\]\s]{1,100}|\d{1,9})\]:[ \t]*(.*(?:\n(?:[ ]{2}|\t)[ \t]*+\S.*)*)\n?", re.M
)
_BRACKETED = re.compile(r"[ \t]*(?:[-*+•][ \t]+)?\\?\[\^?(?P<number>\d{1,9})\\?\](?!\()[ \t]*(?P<text>.*)")
_ADDRESS = re.compile(r"https?://[^\s<>]+", re.I)
_QUOTED = re.compile(r"[\"“](?P<title>[^\"“”]+)[\"”]")
_NO_LIST = ("see also", "external", "further", "galler", "photo galler", "image galler")


def take_references(text: str) -> tuple[str, dict[int, Reference], dict[str, tuple[int, ...]]]:
    """Remove the references from an article; of two entries with one number, the first one counts.

    Returns the Markdown without the lists and their headings; the references by their numbers, 1 to
    :data:`LARGEST_NUMBER`; and footnote label, as in ``[^label]`` → numbers of the works that it cites.
    """
    references: dict[int, Reference] = {}
    notes: dict[str, Reference] = {}

    def replace_entry(match: re.Match[str]) -> str:
        if match[1].startswith("^"):
            notes.setdefault(match[1][1:], reference_of(match[2]))
        else:
            _add(references, [(int(match[1]), match[2])])
        return ""

    kept: list[str] = []
    for heading, lines in _parts(_DEFINITION.sub(replace_entry, without_comments(text)).splitlines()):
        entries, rest = _entries(lines) if _heads_list(heading) else ([], lines)
        _add(references, entries)
        kept.extend([heading, *rest] if rest or not entries else [])
    is_entry = (not line.strip() or (_BRACKETED.fullmatch(line) and _ADDRESS.search(line)) for line in reversed(kept))
    length = len(kept) - len([*takewhile(bool, is_entry)])
    _add(references, _entries(kept[length:])[0])
    return "\n".join(kept[:length]), references, _number_notes(notes, references)


def _parts(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each heading with the lines below it; the first heading is empty."""
    heading, below = "", list[str]()
    for line in lines:
        if markdown_block(line).level or _heads_list(line):
            yield heading, below
            heading, below = line, []
        else:
            below.append(line)
    yield heading, below


def listed_works(blocks: Iterable[TextBlock]) -> Iterator[Reference]:
    """Yield the paragraphs below the headings of lists of references."""
    level = 0
    for block in blocks:
        if block.level and (not level or block.level <= level):
            level = block.level if _heads_list(block.text) else 0
        elif level and not block.level:
            yield reference_of(block.text)


def _heads_list(line: str) -> bool:
    """Return whether a line is the heading of a list of references, with or without heading marks."""
    name = markdown_block(line).text.rstrip(":")
    return (is_back_matter(name) or is_foreign_back_matter(name)) and not name.lower().startswith(_NO_LIST)


def _entries(lines: Sequence[str]) -> tuple[list[tuple[int, str]], list[str]]:
    """Return the numbered entries of a list, or its bullets numbered by position; and the lines of prose."""
    entries, bullets, prose = list[tuple[int, str]](), list[tuple[int, str]](), list[str]()
    into: list[tuple[int, str]] | None = None  # what the next line may continue
    for before, line in pairwise(("", *lines)):
        mark, _, text = line.strip().partition(" ")
        if entry := _BRACKETED.fullmatch(line):
            into = entries
            into.append((int(entry["number"]), entry["text"]))
        elif mark[-1:] in {".", ")"} and mark[:-1].isdecimal() and len(mark) < 10 and text:
            into = entries  # Markdown numbers ordered lists automatically
            into.append((max(int(mark[:-1]), entries[-1][0] + 1 if entries else 0), text))
        elif not entries and mark in {"-", "*", "+", "•"} and text:
            into = bullets
            into.append((len(bullets) + 1, text))
        elif into and line.strip() and (before.strip() or line[0].isspace() or not _MARK.search(line)):
            into[-1] = (into[-1][0], f"{into[-1][1]} {line.strip()}")
        elif line.strip():
            into = None
            prose.append(line if before.strip() else f"\n{line}")
    return entries or bullets, [*(f"\n- {text}" for _, text in bullets), *prose] if entries else prose


def _add(references: dict[int, Reference], entries: Iterable[tuple[int, str]]) -> None:
    for number, text in entries:
        if 1 <= number <= LARGEST_NUMBER:
            references.setdefault(number, reference_of(text))


def _number_notes(notes: dict[str, Reference], references: dict[int, Reference]) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the works that each footnote cites, and add these works to the references.

    The number of a note is its label if it is a free number, else it is after all others. A short note has the numbers
    of the works that it names.
    """
    stated = {label: int(label) for label in notes if label.isdecimal() and len(label) <= len(str(LARGEST_NUMBER))}
    numbers = {label: number for label, number in stated.items() if number and number not in references}
    behind = max([*references, *stated.values()], default=0)
    for label in (label for label in notes if label not in numbers):
        behind += 1
        numbers[label] = behind
    works: dict[int, Reference] = {}
    cited: dict[str, tuple[int, ...]] = {}
    for label, note in ((label, note) for label, note in notes.items() if numbers[label] <= LARGEST_NUMBER):
        named = [] if note.url else short_notes(note.entry, tuple(works.values()))
        known = {id(work): number for number, work in works.items()}
        cited[label] = tuple(known[id(work)] for work in named) or (numbers[label],)
        for number in cited[label]:
            works[number] = works.pop(number, note)  # the last one is the one of "Ibid."
    references.update(works)
    return cited


def reference_of(text: str) -> Reference:
    """Return the page that an entry names, and its archived copy."""
    return with_archive(_reference_of(text), map(_trim, _ADDRESS.findall(text)))


def with_archive(reference: Reference, urls: Iterable[str]) -> Reference:
    """Return a reference with the address of an archived copy, which ends with that of the page, if both are given."""
    pages = {url.partition("://")[2].rstrip("/"): url for url in (reference.url, *urls) if "://" in url}
    for copy, page in permutations(pages, 2):
        if copy.endswith(f"/{page}"):
            return replace(reference, url=pages[page], archive=pages[copy])
    return reference


def _reference_of(text: str) -> Reference:
    url, title = first_link(text)
    entry = _plain(text)
    if url:
        return Reference(url, _plain(title), entry=entry)
    if address := _ADDRESS.search(text):
        rest = _ADDRESS.sub(" ", text)
        quoted = _QUOTED.search(rest)
        return Reference(_trim(address[0].replace("\\", "")), _plain(quoted["title"] if quoted else rest), entry=entry)
    title, separator, place = text.rpartition(" — ")
    url = place.partition(", p. ")[0].partition(", pp. ")[0]
    if separator and url and " " not in url:
        return Reference(url.replace("\\", ""), _plain(title), entry=entry)
    return Reference("", entry, entry=entry)


def short_notes(text: str, works: Sequence[Reference]) -> list[Reference]:
    """Return the works that short notes name: ``Falk, “Dam,” 3; Roe 2005, p. 4``, ``Ibid.``. Empty: one is unknown.

    A note names the last work that states all of its words and years, and more. ``works``: those cited last at the end.
    """
    named = [_named_by(note, works) for note in text.split(";")]
    return [work for work in named if work] if all(named) else []


def _named_by(note: str, works: Sequence[Reference]) -> Reference | None:
    names, numbers = _words(note)
    words, years = names - {"ibid", "ebd"}, {number for number in numbers if len(number) == 4}
    for work in reversed(works) if names else ():
        stated, dates = _words(work.entry or work.title)
        if words < stated and years <= dates:
            return work
    return None


@lru_cache(maxsize=8192)
def _words(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words and the numbers of a text."""
    words = frozenset(folded_words(text)) - LOCATORS
    numbers = frozenset(filter(str.isdecimal, words))
    return words - numbers, numbers


def _plain(text: str) -> str:
    return tidy(plain_markdown(text)).strip(' .,:;—–-"“”()[]')


def _trim(url: str) -> str:
    url = url.rstrip(".,;:!?'\"”’*_]")
    while url.endswith(")") and url.count(")") > url.count("("):
        url = url[:-1].rstrip(".,;:!?'\"”’")
    return url


_CAPTIONED_IMAGE = re.compile(r"^!\[.{0,2000}\]\(\S{1,2000}\)\n\*.*\*$", re.M)
_COUNTS = re.compile(r"^---\n+\*[\d,]+ sentences?, .* sources? cited\.\*(?:\n+\*.*\*)?\s*\Z", re.M)
"""The end of a text by :func:`storm_pipeline.output.render.markdown.to_markdown`."""
_LINKED_NUMBER = re.compile(
    r"\[(?:\\?\[)?\s*\^?(?P<number>\d{1,3})\s*(?:\\?\])?\]\(\s*<?(?P<url>(?:[^()<>\s]|\([^()\s]{0,500}\)){1,2000}?)>?"
    r"(?:\s+\"[^\"]*\")?\s*\)"
)
_FOOTNOTE_MARK = re.compile(r"(?<!\\)\[\^([^\[\]\s]{1,100})\]")
_MARK = re.compile(rf"(?<!\\)[\[【]\s*\^?\d|{MARKS.pattern}")
_ESCAPED = re.compile(r"\\(.)")


def markdown_article(title: str, text: str, references: Mapping[int, Reference] | None = None) -> NumberedArticle:
    """Read an article.

    Citations are ``[1]``, ``[1][2]``, ``[1, 2]``, ``[1-3]``, ``[^1]`` and ``[[1]](url)``. Escaped brackets are text,
    unless the article has no others. Paragraphs are separated by blank lines. Metadata in YAML and an opening heading
    that is the title are left out. ``references``: by number; None: those of the list in the text.
    """
    text = without_reserved("\n".join(text.splitlines()))
    head, _, below = text.partition("\n---\n")
    has_metadata = head.startswith("---\n") and all(":" in line or line[:1] in " -#" for line in head.splitlines())
    text = _CAPTIONED_IMAGE.sub("", _COUNTS.sub("", below if has_metadata else text))
    body, listed, footnotes = take_references(text)
    known = dict(listed if references is None else references)
    body = _with_link_numbers(body, known)
    numbers = {label: "".join(map(mark, cited)) for label, cited in footnotes.items()}
    body = _FOOTNOTE_MARK.sub(lambda match: numbers.get(match[1], f"[{match[1]}]"), body)
    if _MARK.search(body):
        body = _ESCAPED.sub(lambda match: literal(match[1]) if match[1] in "[]" else match[0], body)
    return numbered_article(title, paragraph_blocks(mark_citations(body, max(known, default=0))), known)


def _with_link_numbers(text: str, references: dict[int, Reference]) -> str:
    """Replace linked numbers by plain ones, and add their pages to the references.

    A link within the article keeps its number. A link to a page gets the page's number, which may be new.
    """
    pages = {source_id(reference.url): number for number, reference in reversed(references.items()) if reference.url}

    def plain(match: re.Match[str]) -> str:
        number, url = int(match["number"]), match["url"]
        if url.startswith("#"):
            return mark(number)
        if source_id(url) not in pages:
            free = number if number and number not in references else max(references, default=0) + 1
            if free > LARGEST_NUMBER:
                return ""
            references[free] = Reference(url)
            pages[source_id(url)] = free
        return mark(pages[source_id(url)])

    return _LINKED_NUMBER.sub(plain, text)


def numbered_article(title: str, blocks: Iterable[TextBlock], references: Mapping[int, Reference]) -> NumberedArticle:
    """Return an article from text in which :func:`~storm_pipeline.text.markers.mark` cites references by number.

    Leaves out an opening heading that is the title, and back matter that cites nothing. A paragraph may have several
    lines; numbers are at most :data:`LARGEST_NUMBER`. Sentences are split by the rules of the text's language.
    """
    body = without_title(tuple(blocks), title)
    language = detect("\n".join(MARKS.sub("", block.text) for block in body if not block.level)) or "en"
    shown = tuple(Citation(str(number), "") for number in range(1, max(references, default=0) + 1))
    invented = 0

    def read(text: str) -> Paragraph:
        nonlocal invented
        claims, more = parse_marked(text, len(shown), language)
        invented += more
        return Paragraph(tuple(Sentence(claim.text, tuple(shown[i] for i in claim.cited)) for claim in claims))

    article = Article(title, *_body(HeadingNode.of_blocks(body), 0).read(read), language=language)
    return NumberedArticle(article, references, invented, listed=tuple(listed_works(body)))


def _body(part: HeadingNode, level: int) -> HeadingNode:
    """Return a part of the tree without back matter that cites nothing, and without markers in headings."""
    below = (_body(part, level + 1) for part in part.subsections)
    heading = with_brackets(tidy(MARKS.sub("", part.heading)))
    kept = (part for part in below if _is_cited(part) or not is_back_matter(part.heading, level + 1))
    foreign = (part for part in kept if part.paragraphs or part.subsections or not is_foreign_back_matter(part.heading))
    return HeadingNode(heading, part.paragraphs, tuple(foreign))


def _is_cited(part: HeadingNode) -> bool:
    return any(map(MARKS.search, part.paragraphs)) or any(map(_is_cited, part.subsections))
