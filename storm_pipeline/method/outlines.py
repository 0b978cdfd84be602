"""Reading outlines from (level, title) pairs or text, and formatting them (paper section 3.3). Pure functions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from storm_pipeline.text.files import table_beside
from storm_pipeline.text.markers import without_markers
from storm_pipeline.text.words import EMPHASIS, tidy, word_count
from storm_pipeline.types import Heading, Outline

MAX_TITLE = 120  # maximum length of a title in characters; longer lines are prose
_LONGEST_LINE = 10 * MAX_TITLE  # maximum characters of a line with a title, its marks and links
_MOST_LEVELS = 50  # maximum nesting of headings; deeper headings get this level
_BACK_MATTER_IN_ENGLISH, _FOREIGN_BACK_MATTER, _LEAD = (
    frozenset(" ".join(names.split()).split(", ")) for names in table_beside(__file__).values()
)
_BACK_MATTER = _BACK_MATTER_IN_ENGLISH | _FOREIGN_BACK_MATTER
_CONTENTS = "contents"  # back matter as a section; and below one, the contents of a book or a collection
_HASH = re.compile(r"\s*(#{1,6})(?:\s+|(?=[^\s\d#]))(.*)")
_HASHES = re.compile(r"^#+\s+|\s+#+$")
_BOLD = re.compile(r"(?:\*\*|__)(.+?)(?:\*\*|__)\s*(?:[:–—-].*)?$")
_MARK = re.compile(
    r"[-*+•–◦▪‣]\s+|第?[一二三四五六七八九十\d]{1,3}[章节節部、．]\s*(?=[^\s\d])"
    r"|\(?(?:\d{1,2}(?:\.\d{1,2})*[.)]\s*(?=\D)|\d{1,2}(?:\.\d{1,2})+\s+(?=[^\W\d_a-z]))"
    r"|\(?(?:[IVX]{1,5}|[A-H])[.)]\s+(?![A-Z]\.)(?=[^\Wa-z])"
)
"""The mark of a list entry: a bullet, a number such as ``1.2``, ``II.``, ``A.``, ``三、`` or ``第三章``."""
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")


@dataclass
class _Node:
    """A heading being built; siblings with the same ``key`` are merged."""

    title: str
    children: list["_Node"] = field(default_factory=list)

    @property
    def key(self) -> str:
        return self.title.casefold()


def parse_outline(text: str, topic: str, *, max_sections: int = 20, max_depth: int = 3) -> Outline:
    """Read an outline from text.

    ``#`` marks, or else entries of a list and bold lines, are headings; a single ``#`` above a list is the article's
    title. See :func:`outline_from_headings` for the arguments, and how headings are cleaned.
    """
    lines = [line.expandtabs(4).rstrip() for line in text.splitlines()]
    hashed = [(len(match[1]), match[2]) for match in map(_HASH.fullmatch, lines) if match]
    listed = list(_marked_headings(lines))
    pairs = hashed if len(hashed) > 1 or not listed else listed
    return outline_from_headings(pairs, topic, max_sections=max_sections, max_depth=max_depth)


def outline_from_headings(
    pairs: Iterable[tuple[int, str]], topic: str, *, max_sections: int = 20, max_depth: int = 3
) -> Outline:
    """Build an outline from (level, title) pairs in reading order.

    Titles lose markup, numbers, links and citation markers; prose and back matter (References, See also …, with its
    subheadings) are dropped; levels become contiguous; a heading that repeats an earlier sibling is merged into it; a
    childless subheading named like a section is dropped; at the top level, the topic itself and stand-ins for the lead
    (Introduction …) are replaced by their children.

    Larger levels are deeper, from any base; ``max_depth`` is 1 for sections only, at most 6.
    """
    roots = _tree([(level, title) for level, raw in pairs if (title := _clean(raw))])
    sections = _merge(_top(roots, topic))
    name = tidy(topic).casefold()
    # a lone heading that is a variant of the article's title is replaced by what is below it
    while len(sections) == 1 < max_sections and len(sections[0].children) > 1 and name and name in sections[0].key:
        sections = _merge(_top(sections[0].children, topic))
    sections, depth = sections[: max(0, max_sections)] if max_depth > 0 else [], min(max_depth, 6)
    named = {section.key for section in sections}
    return Outline(topic, tuple(Heading(node.title, _freeze(node.children, depth - 1, named)) for node in sections))


def outline_to_markdown(outline: Outline) -> str:
    """Return the outline in the paper's format: one heading per line, ``#`` for sections, ``##`` for subsections."""

    def lines(headings: Sequence[Heading], level: int) -> Iterator[str]:
        for heading in headings:
            yield f"{'#' * level} {heading.title}"
            yield from lines(heading.children, level + 1)

    return "\n".join(lines(outline.sections, 1))


def is_foreign_back_matter(title: str) -> bool:
    """Return whether a heading in another language than English is one of references, notes, links or a conclusion."""
    return title.casefold() in _FOREIGN_BACK_MATTER


def _marked_headings(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield headings marked by numbers, letters, bullets or bold type; a new indentation or kind of mark is deeper."""
    stack: list[tuple[int, str]] = []
    for line in lines:
        kind, title = _mark(line.strip())
        if not kind:
            continue
        key = (len(line) - len(line.lstrip()), kind)
        while stack and stack[-1][0] > key[0]:
            stack.pop()
        if key in stack:
            del stack[stack.index(key) :]
        stack.append(key)
        yield len(stack), title


def _mark(line: str) -> tuple[str, str]:
    """Return the kind of a line's mark (empty for none), and the line without it and text after a bold title."""
    bold = _BOLD.match(line)
    body = bold[1].strip() if bold else line
    if match := _MARK.match(body):
        inner = _BOLD.match(body, match.end())
        mark = match[0].strip(" ().")
        kind = f"number{mark.count('.')}" if mark[:1].isdigit() else "letter" if mark[:1].isalpha() else "bullet"
        return kind, inner[1] if inner else body[match.end() :]
    return ("bold", body) if bold else ("", line)


def _clean(raw: str) -> str:
    """Return a title without markup; empty if it is prose or blank. Idempotent."""
    if len(raw) > _LONGEST_LINE:
        return ""
    title, before = tidy(raw), ""
    while title != before:
        before = title
        title = EMPHASIS.sub(r"\2", _HASHES.sub("", without_markers(_LINK.sub(r"\1", title))))
        title = title.replace("**", "").replace("__", "").replace("`", "")
        if title[:1] == title[-1:] and title[:1] in {"_", '"'}:
            title = title[1:-1]
        title = tidy(title[mark.end() :] if (mark := _MARK.match(title)) else title).rstrip(":： ")
    is_prose = title.endswith((".", "。")) and not title[-2:-1].isupper() and word_count(title) > 3
    return "" if is_prose or len(title) > MAX_TITLE or not word_count(title) else title


def _tree(pairs: Iterable[tuple[int, str]]) -> list[_Node]:
    """Build a tree: the parent of a heading is the nearest earlier one of a smaller level."""
    roots: list[_Node] = []
    path: list[tuple[int, _Node]] = []
    for level, title in pairs:
        while path and (path[-1][0] >= level or len(path) == _MOST_LEVELS):
            path.pop()
        node = _Node(title)
        (path[-1][1].children if path else roots).append(node)
        path.append((level, node))
    return roots


def _top(nodes: Iterable[_Node], topic: str) -> list[_Node]:
    """Return first-level headings; the topic and stand-ins for the lead are replaced by their children."""
    kept: list[_Node] = []
    for node in nodes:
        if node.key in _LEAD or node.key == tidy(topic).casefold():
            kept.extend(_top(node.children, topic))
        elif node.key != _CONTENTS:
            kept.append(node)
    return kept


def _merge(nodes: Iterable[_Node]) -> list[_Node]:
    """Return siblings without back matter, those of the same name merged, recursively."""
    first: dict[str, _Node] = {}
    for node in nodes:
        if node.key not in _BACK_MATTER:
            first.setdefault(node.key, _Node(node.title)).children.extend(node.children)
    for node in first.values():
        node.children = _merge(node.children)
    return list(first.values())


def _freeze(nodes: Iterable[_Node], depth: int, names: set[str]) -> tuple[Heading, ...]:
    """Return headings down to a depth, without childless ones of these names."""
    held = ((node, _freeze(node.children, depth - 1, names)) for node in nodes) if depth > 0 else ()
    return tuple(Heading(node.title, below) for node, below in held if below or node.key not in names)
