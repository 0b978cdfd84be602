"""Takes the list of references out of a Markdown article.

An entry is ``1. …``, ``1) …``, ``[1] …``, ``[1]: …`` or ``[^1]: …``; its page is the first link or address in it.
``[1]: …`` and ``[^1]: …`` are entries wherever they stand, the others below a heading such as "References", and
``[1] …`` with an address also in the lines that end the text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from storm_pipeline.documents.articles.markdown_blocks import markdown_block, plain_markdown
from storm_pipeline.documents.articles.pages import Reference
from storm_pipeline.files import table_beside
from storm_pipeline.text.outlines import is_foreign_back_matter
from storm_pipeline.text.words import tidy

LARGEST_NUMBER = 9999
"""Larger numbers in brackets cite nothing."""
_HEADINGS = table_beside(__file__)
_BELOW = re.compile(_HEADINGS["anywhere"], re.X | re.I)
_TOP = re.compile(f"{_HEADINGS['anywhere']}|{_HEADINGS['at_the_top']}", re.X | re.I)
_DEFINITION = re.compile(
    r"^[ \t]*(?:[-*+•][ \t]+)?\[(\^[^\[\]\s]{1,100}|\d{1,9})\]:[ \t]*(.*(?:\n(?:[ ]{2}|\t)[ \t]*+\S.*)*)\n?", re.M
)
_BRACKETED = re.compile(r"[ \t]*(?:[-*+•][ \t]+)?\\?\[\^?(?P<number>\d{1,9})\\?\](?!\()[ \t]*(?P<text>.*)")
_ORDERED = re.compile(r"[ \t]*(?P<number>\d{1,9})[.)][ \t]+(?P<text>.*)")
_BULLET = re.compile(r"[ \t]*[-*+•][ \t]+(?P<text>.*)")
_LINK = re.compile(
    r"\[(?P<title>(?:[^\[\]\\]|\\.|\[[^\[\]]{0,200}\]){0,1000})\]"
    r"\([ \t]*<?(?P<url>(?:[^\\()<>\s]|\\.|\((?:[^\\()\s]|\\.){0,500}\)){1,2000})>?"
)
_ADDRESS = re.compile(r"https?://[^\s<>]+", re.I)
_UNLINKED = re.compile(r"(?P<title>.*) — (?P<url>\S+?)(?:, pp?\. \d.*)?")
_QUOTED = re.compile(r"[\"“](?P<title>[^\"“”]+)[\"”]")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_NO_LIST = re.compile(r"see also|external|further|(?:photo |image )?galler", re.I)
_LONGEST_HEADING = 4  # maximum words of a line that heads a list without heading marks, such as "Sources:"
_LONGEST_ENTRY = 2000  # characters of an entry without a link that are looked at


def is_back_matter(heading: str, level: int = 1) -> bool:
    """Whether a heading is that of references, notes, links or pictures.

    Args:
        heading: underscores count as spaces.
        level: 1 for a section, more for a subsection, where fewer headings match.
    """
    name = " ".join(heading.replace("_", " ").split()).rstrip(":")
    return bool((_TOP if level == 1 else _BELOW).fullmatch(name))


def take_references(text: str) -> tuple[str, dict[int, Reference], dict[str, int]]:
    """Take the references out of an article. Of two entries with one number the first counts.

    Returns:
        The Markdown without the lists and their headings; the references by their numbers, 1 to
        :data:`LARGEST_NUMBER`; and label of a footnote, as in ``[^label]`` → its number among them.
    """
    references: dict[int, Reference] = {}
    notes: dict[str, Reference] = {}

    def take(found: re.Match[str]) -> str:
        if found[1].startswith("^"):
            notes.setdefault(found[1][1:], reference_of(found[2]))
        else:
            _add(references, [(int(found[1]), found[2])])
        return ""

    kept: list[str] = []
    for heading, lines in _parts(_DEFINITION.sub(take, text).splitlines()):
        entries = list(_entries(lines)) if _heads_list(heading) else []
        _add(references, entries)
        kept.extend([] if entries else [heading, *lines])
    length = _length_without_last_entries(kept)
    _add(references, _entries(kept[length:]))
    footnotes = _numbered(notes, references)
    return "\n".join(kept[:length]), references, footnotes


def _parts(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The lines by headings; the first heading is empty."""
    heading, own = "", list[str]()
    for line in lines:
        if markdown_block(line).level or _heads_list(line):
            yield heading, own
            heading, own = line, []
        else:
            own.append(line)
    yield heading, own


def _heads_list(line: str) -> bool:
    """Whether a line is the heading of a list of references, with heading marks or without."""
    if len(line.split()) > _LONGEST_HEADING + 1:  # and the marks
        return False
    name = markdown_block(line).text.rstrip(":")
    return (is_back_matter(name) or is_foreign_back_matter(name)) and not _NO_LIST.match(name)


def _entries(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The numbered entries of a list; without numbers, those of its bullets, by position."""
    found: list[tuple[int, str]] = []
    bullets: list[tuple[int, str]] = []
    for line in lines:
        if entry := _BRACKETED.fullmatch(line) or _ORDERED.fullmatch(line):
            number = int(entry["number"])
            if found and entry.re is _ORDERED:  # Markdown numbers an ordered list by itself
                number = max(number, found[-1][0] + 1)
            found.append((number, entry["text"]))
        elif not found and (entry := _BULLET.fullmatch(line)):
            bullets.append((len(bullets) + 1, entry["text"]))
        elif line.strip() and (into := found or bullets):
            into[-1] = (into[-1][0], f"{into[-1][1]} {line.strip()}")
    yield from found or bullets


def _length_without_last_entries(lines: Sequence[str]) -> int:
    """The number of lines before the entries with addresses that end the text."""
    length = len(lines)
    for index in range(len(lines) - 1, -1, -1):
        if lines[index].strip():
            if not (_BRACKETED.fullmatch(lines[index]) and _ADDRESS.search(lines[index])):
                break
            length = index
    return length


def _add(references: dict[int, Reference], entries: Iterable[tuple[int, str]]) -> None:
    for number, text in entries:
        if 1 <= number <= LARGEST_NUMBER:
            references.setdefault(number, reference_of(text))


def _numbered(notes: dict[str, Reference], references: dict[int, Reference]) -> dict[str, int]:
    """Add the footnotes to the references: under their own number if that is free, else behind all others."""
    own = {label: int(label) for label in notes if label.isdecimal() and len(label) <= len(str(LARGEST_NUMBER))}
    numbers = {label: number for label, number in own.items() if number and number not in references}
    behind = max([*references, *own.values()], default=0)
    for label in (label for label in notes if label not in numbers):
        behind += 1
        numbers[label] = behind
    numbers = {label: number for label, number in numbers.items() if number <= LARGEST_NUMBER}
    references.update({number: notes[label] for label, number in numbers.items()})
    return numbers


def reference_of(text: str) -> Reference:
    """The page that an entry names."""
    if link := _LINK.search(text):
        return Reference(_ESCAPE.sub(r"\1", link["url"]), _plain(link["title"]))
    if address := _ADDRESS.search(text):
        rest = f"{text[: address.start()]} {text[address.end() :]}"
        quoted = _QUOTED.search(rest)
        return Reference(_trimmed(_ESCAPE.sub(r"\1", address[0])), _plain(quoted["title"] if quoted else rest))
    if named := _UNLINKED.fullmatch(text[-_LONGEST_ENTRY:]):
        return Reference(_ESCAPE.sub(r"\1", named["url"]), _plain(named["title"]))
    return Reference("", _plain(text))


def _plain(text: str) -> str:
    return tidy(plain_markdown(text)).strip(' .,:;—–-"“”()[]')


def _trimmed(url: str) -> str:
    """An address without the punctuation of the sentence around it."""
    url = url.rstrip(".,;:!?'\"”’*_]")
    while url.endswith(")") and url.count(")") > url.count("("):
        url = url[:-1].rstrip(".,;:!?'\"”’")
    return url
