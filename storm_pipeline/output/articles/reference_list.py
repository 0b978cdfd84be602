"""Takes the list of references out of a Markdown article.

An entry is ``1. …``, ``1) …``, ``[1] …``, ``[1]: …`` or ``[^1]: …``; its page is the first link or address in it.
``[1]: …`` and ``[^1]: …`` are entries anywhere, the others below a heading such as "References", and ``[1] …`` with an
address also in the last lines of the text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import permutations, takewhile

from storm_pipeline.method.outlines import is_foreign_back_matter
from storm_pipeline.output.articles.markdown_blocks import TextBlock, first_link, markdown_block, plain_markdown
from storm_pipeline.output.articles.pages import Reference
from storm_pipeline.text.back_matter import is_back_matter
from storm_pipeline.text.words import folded_words, tidy

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
    for heading, lines in _parts(_DEFINITION.sub(replace_entry, text).splitlines()):
        entries = list(_entries(lines)) if _heads_list(heading) else []
        _add(references, entries)
        kept.extend([] if entries else [heading, *lines])
    last = [*takewhile(lambda line: not line.strip() or _is_entry_with_address(line), reversed(kept))]
    length = len(kept) - len(last)
    _add(references, _entries(kept[length:]))
    footnotes = _number_notes(notes, references)
    return "\n".join(kept[:length]), references, footnotes


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


def _entries(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the numbered entries of a list, or its bullets numbered by position."""
    entries: list[tuple[int, str]] = []
    bullets: list[tuple[int, str]] = []
    for line in lines:
        mark, _, text = line.strip().partition(" ")
        if entry := _BRACKETED.fullmatch(line):
            entries.append((int(entry["number"]), entry["text"]))
        elif mark[-1:] in {".", ")"} and mark[:-1].isdecimal() and len(mark) < 10 and text:
            # Markdown numbers ordered lists automatically.
            entries.append((max(int(mark[:-1]), entries[-1][0] + 1 if entries else 0), text))
        elif not entries and mark in {"-", "*", "+", "•"} and text:
            bullets.append((len(bullets) + 1, text))
        elif line.strip() and (into := entries or bullets):
            into[-1] = (into[-1][0], f"{into[-1][1]} {line.strip()}")
    yield from entries or bullets


def _is_entry_with_address(line: str) -> bool:
    return bool(_BRACKETED.fullmatch(line) and _ADDRESS.search(line))


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
