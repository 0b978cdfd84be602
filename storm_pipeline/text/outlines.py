"""Parsing outlines from model output, and formatting them (paper section 3.3). Pure functions.

Text is parsed to (level, title) pairs, and pairs to an :class:`~storm_pipeline.types.Outline`; structured model
output starts from the pairs. Nothing here raises: lines that are not headings are skipped.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from storm_pipeline.files import table_beside
from storm_pipeline.text.markers import without_markers
from storm_pipeline.text.words import EMPHASIS, tidy, word_count
from storm_pipeline.types import Heading, Outline

MAX_TITLE = 120
"""Maximum length of a title in characters; longer lines are prose."""
_LONGEST_LINE = 10 * MAX_TITLE  # characters of a line that may hold a title, with its marks and links


def _headings(kind: str, *but: str) -> re.Pattern[str]:
    """What matches headings that are no sections, in all languages of the table but some."""
    names = " ".join(line for language, line in _TABLE[kind].items() if language not in but).split()
    return re.compile("|".join(name.replace("_", r"\s") for name in names), re.I)


_TABLE = table_beside(__file__)
_BACK_MATTER, _FOREIGN_BACK_MATTER = _headings("back_matter"), _headings("back_matter", "en")
_LEAD = _headings("lead")
_CONTENTS = "contents"  # back matter as a section; below one, what a book or a collection has in it
_ARTICLE_TITLE = re.compile("".join(_TABLE["article_title"]), re.I)
_OVERVIEW = re.compile("".join(_TABLE["overview"]), re.I)
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_HASH = re.compile(r"^\s*(#{1,6})(?:\s+|(?=[^\s\d#]))(.*)$")
_HASHED = re.compile(r"^#+\s+|\s+#+$")
_BOLD = re.compile(r"^(?:\*\*|__)(.+?)(?:\*\*|__)\s*(?:[:–—-].*)?$")
_BULLET = re.compile(r"^[-*+•–◦▪‣]\s+")
_DECIMAL = re.compile(r"^\(?(?:(\d{1,2}(?:\.\d{1,2})*)[.)]\s*(?=\D)|(\d{1,2}(?:\.\d{1,2})+)\s+(?=[^\W\d_a-z]))")
_ROMAN = re.compile(r"^\(?[IVX]{1,5}[.)]\s+(?![A-Z]\.)(?=[^\Wa-z])")
_LETTER = re.compile(r"^\(?[A-H][.)]\s+(?![A-Z]\.)(?=[^\Wa-z])")
_LABEL = re.compile("".join(_TABLE["label"]), re.I)
_HAN_NUMBER = re.compile("".join(_TABLE["han_number"]))
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_PROSE_END = re.compile(r"(?<![A-Z])[.。]$")
_LISTED = (*(("decimal", _DECIMAL), ("roman", _ROMAN), ("letter", _LETTER), ("han", _HAN_NUMBER)), ("bullet", _BULLET))


@dataclass
class _Node:
    """A heading being built; siblings with the same ``key`` are merged."""

    title: str
    children: list["_Node"] = field(default_factory=list)

    @property
    def key(self) -> str:
        return self.title.casefold()


def parse_outline(text: str, topic: str, *, max_sections: int = 20, max_depth: int = 3) -> Outline:
    """Parse an outline from model output.

    ``#`` marks, numbers (``1.2``, ``II.``, ``A.``), bullets by indentation and bold lines are headings. If there are
    several ``#`` headings, all other lines are ignored; a single one above a list is the article's title. See
    :func:`outline_from_headings` for how headings are cleaned.

    Args:
        topic: the topic; a level-1 heading of that name is the article's title, not a section.
        max_depth: maximum depth, 1 for sections only, at most 6; deeper headings are dropped.
    """
    lines = [line.expandtabs(4).rstrip() for line in text.splitlines() if not _FENCE.match(line)]
    hashed = [(len(found[1]), found[2]) for found in map(_HASH.match, lines) if found]
    listed = list(_listed(lines))
    pairs = hashed if len(hashed) > 1 or not listed else listed
    return outline_from_headings(pairs, topic, max_sections=max_sections, max_depth=max_depth)


def outline_from_headings(
    pairs: Iterable[tuple[int, str]], topic: str, *, max_sections: int = 20, max_depth: int = 3
) -> Outline:
    """Build an outline from (level, title) pairs in reading order.

    Titles lose markup, numbers, links and citation markers; prose and back matter (References, See also …, with its
    subheadings) are dropped; levels become contiguous; a heading that repeats an earlier sibling is merged into it; a
    childless subheading named like a section is dropped; at the top level, the topic itself and stand-ins for the lead
    (Introduction, Overview of the topic …) are replaced by their children.

    Args:
        pairs: larger levels are deeper, from any base.
        max_depth: maximum depth, at most 6.
    """
    roots = _tree([(level, title) for level, raw in pairs if (title := _cleaned(raw))])
    sections = _merged(_top(roots, topic))
    while len(sections) == 1 and max_sections > 1 and _is_article_title(sections[0], topic):
        sections = _merged(_top(sections[0].children, topic))
    sections = sections[: max(0, max_sections)]
    named = {section.key for section in sections}
    for section in sections:
        section.children = _without_leaves(section.children, named)
    return Outline(topic, _frozen(sections, min(max_depth, 6)))


def outline_to_markdown(outline: Outline) -> str:
    """The outline in the paper's format: one heading per line, ``#`` for sections, ``##`` for subsections."""

    def lines(headings: Sequence[Heading], level: int) -> Iterator[str]:
        for heading in headings:
            yield f"{'#' * level} {heading.title}"
            yield from lines(heading.children, level + 1)

    return "\n".join(lines(outline.sections, 1))


def is_foreign_back_matter(title: str) -> bool:
    """Whether a heading in another language than English is that of references, notes, links or a conclusion."""
    return bool(_FOREIGN_BACK_MATTER.fullmatch(title))


def _listed(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Headings marked by numbers, letters, bullets or bold type.

    A line's level follows from its indentation and its kind of mark: a kind that is already on the stack returns
    to that level, a new kind goes one level deeper.
    """
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
    """Kind of a line's mark (empty for none), and the line without it and without text after a bold title."""
    bold = _BOLD.match(line)
    body = bold[1].strip() if bold else line
    for kind, pattern in _LISTED:
        if found := pattern.match(body):
            depth = (found[1] or found[2]).count(".") if kind == "decimal" else 0
            rest = body[found.end() :]
            inner = _BOLD.match(rest)
            return f"{kind}{depth}", inner[1] if inner else rest
    return ("bold", body) if bold else ("", line)


def _cleaned(raw: str) -> str:
    """A title without markup; empty if it is prose or blank. Idempotent."""
    if len(raw) > _LONGEST_LINE:
        return ""
    title, before = tidy(raw), ""
    while title != before:
        before = title
        title = _HASHED.sub("", without_markers(_LINK.sub(r"\1", title)))
        title = EMPHASIS.sub(r"\2", title).replace("**", "").replace("__", "").replace("`", "")
        if title[:1] == title[-1:] and title[:1] in {"_", '"'}:
            title = title[1:-1]
        for pattern in (_BULLET, _LABEL, _DECIMAL, _ROMAN, _LETTER, _HAN_NUMBER):
            title = pattern.sub("", title)
        title = tidy(title.strip().rstrip(":："))
    if len(title) > MAX_TITLE or (_PROSE_END.search(title) and word_count(title) > 3):
        return ""
    return title if word_count(title) else ""


def _tree(pairs: Iterable[tuple[int, str]]) -> list[_Node]:
    """Build a tree: the parent of a heading is the nearest earlier one of a smaller level."""
    roots: list[_Node] = []
    path: list[tuple[int, _Node]] = []
    for level, title in pairs:
        while path and path[-1][0] >= level:
            path.pop()
        node = _Node(title)
        (path[-1][1].children if path else roots).append(node)
        path.append((level, node))
    return roots


def _top(nodes: Iterable[_Node], topic: str) -> list[_Node]:
    """First-level headings without contents, with the topic and stand-ins for the lead replaced by their children."""
    kept: list[_Node] = []
    for node in nodes:
        bare = {pattern.sub("", node.title).casefold() for pattern in (_ARTICLE_TITLE, _OVERVIEW)}
        if _LEAD.fullmatch(node.title) or tidy(topic).casefold() in bare:
            kept.extend(_top(node.children, topic))
        elif node.key != _CONTENTS:
            kept.append(node)
    return kept


def _is_article_title(node: _Node, topic: str) -> bool:
    """Whether a lone first-level heading is a variant of the article's title."""
    return len(node.children) > 2 and bool(tidy(topic)) and tidy(topic).casefold() in node.key


def _merged(nodes: Iterable[_Node]) -> list[_Node]:
    """Siblings without back matter, those of the same name merged, recursively."""
    first: dict[str, _Node] = {}
    for node in nodes:
        if _BACK_MATTER.fullmatch(node.title):
            continue
        if node.key in first:
            first[node.key].children.extend(node.children)
        else:
            first[node.key] = _Node(node.title, list(node.children))
    for node in first.values():
        node.children = _merged(node.children)
    return list(first.values())


def _without_leaves(nodes: Iterable[_Node], names: set[str]) -> list[_Node]:
    """Headings without childless ones of these names, recursively."""
    kept = []
    for node in nodes:
        node.children = _without_leaves(node.children, names)
        if node.children or node.key not in names:
            kept.append(node)
    return kept


def _frozen(nodes: Iterable[_Node], depth: int) -> tuple[Heading, ...]:
    return tuple(Heading(node.title, _frozen(node.children, depth - 1)) for node in nodes) if depth > 0 else ()
