"""Reads an article from wikitext: text and headings, with a citation for each ``<ref>``.

Tables, files, galleries, templates, comments and categories are left out. A reference's page is the ``url`` of its
citation template, else its first external link, else the template's ``doi`` or ``id``.
"""

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from storm_pipeline.errors import DatasetError, needs_extra
from storm_pipeline.output.articles.markdown import numbered_article
from storm_pipeline.output.articles.markdown_blocks import TextBlock
from storm_pipeline.output.articles.pages import NumberedArticle, Reference
from storm_pipeline.output.articles.reference_list import LARGEST_NUMBER
from storm_pipeline.text.markers import literal, mark, without_reserved
from storm_pipeline.text.words import tidy

_LEFT_OUT = frozenset(
    "ref references gallery table score timeline math chem ce syntaxhighlight imagemap style script noinclude".split()
)
_ITEMS = frozenset({"li", "dd", "dt", "blockquote", "hr", "poem"})
_NAMESPACES = frozenset("file image media category template datei bild kategorie fichier".split())
_SWITCH = re.compile(r"__[A-Z]+__")
_OPEN_TAG = re.compile(r"<(?!br|hr|li|dd|dt|p\b|t[rdh]\b|wbr|references)[a-z][^<>]*(?<!/)>", re.I)
_MOST_UNCLOSED = 200  # maximum unclosed tags: the parser's time grows with their square


def wikitext_article(title: str, text: str) -> NumberedArticle:
    """Read an article. Raises DatasetError: too many unclosed tags; MissingExtraError: the parser is not installed."""
    text = without_reserved("\n".join(text.splitlines()))
    pairs = [(len(_OPEN_TAG.findall(text)), "</"), (text.count("{|"), "|}"), (text.count("["), "]")]
    if any(opened - text.count(closing) > _MOST_UNCLOSED for opened, closing in pairs):
        raise DatasetError(f"more than {_MOST_UNCLOSED} tags, tables or links are not closed")
    with needs_extra("sources", "reading wikitext"):
        import mwparserfromhell
    code = mwparserfromhell.parse(text)
    references = _References(code)
    return numbered_article(title, _blocks(code, references), references.pages)


class _References:
    """The references of a page, numbered by order of definition; equal ones share a number.

    Definitions in ``<references>`` and in templates count.
    """

    def __init__(self, code: Any) -> None:
        self.pages: dict[int, Reference] = {}
        self._numbers: dict[str, int] = {}
        for tag in code.ifilter_tags(recursive=True, matches=lambda tag: _name(tag) == "ref"):
            key, has_content = _key(tag), not tag.self_closing and str(tag.contents or "").strip()
            if has_content and key not in self._numbers and len(self.pages) < LARGEST_NUMBER:
                self._numbers[key] = number = len(self.pages) + 1
                self.pages[number] = _reference(tag.contents)

    def marker(self, tag: Any) -> str:
        """Return the marker of a ``<ref>``: a number without a page if undefined, nothing for a note."""
        number = self._numbers.get(_key(tag), 0)
        is_note = number and not self.pages[number].url and tag.has("group")
        return "" if is_note else mark(number)


def _name(tag: Any) -> str:
    return str(tag.tag).strip().lower()


def _key(tag: Any) -> str:
    """Return the key of a reference: group and name, or the content if it has no name."""
    group, name = (str(tag.get(a).value).strip(" \"'") if tag.has(a) else "" for a in ("group", "name"))
    return f"{group}\n{name}" if name else f"\n\n{tag.contents}"


def _reference(contents: Any) -> Reference:
    templates = list(contents.ifilter_templates())
    link = next((link for link in contents.ifilter_external_links() if str(link.url).strip()), None)

    def first(name: str) -> str:
        return next(filter(None, (_plain(t.get(name).value) for t in templates if t.has(name))), "")

    url, title = first("url"), first("title")
    if not url and link is not None:
        url = _plain(link.url)
        title = title or _plain(link.title or "")
    if not url:
        url = f"https://doi.org/{first('doi')}" if first("doi") else first("id")
    stated = [_plain(parameter.value) for template in templates for parameter in template.params]
    entry = " ".join(filter(None, [*stated, _plain(contents)]))
    return Reference(url, title or _plain(contents), entry=entry)


def _plain(code: Any) -> str:
    return tidy(str(code.strip_code()) if hasattr(code, "strip_code") else str(code))


def _blocks(code: Any, references: _References) -> Iterator[TextBlock]:
    """Yield headings and paragraphs; the lines of a paragraph are not joined."""
    pieces: list[str] = []
    for node in (*code.nodes, None):
        heading = type(node).__name__ == "Heading"
        if node is not None and not heading:
            pieces += _text(node, references)
            continue
        lines = map(tidy, _SWITCH.sub("", "".join(pieces)).split("\n"))
        yield from (TextBlock(paragraph) for part in "\n".join(lines).split("\n\n") if (paragraph := part.strip("\n")))
        pieces = []
        if heading and (title := tidy("".join(_texts(node.title, references)))):
            yield TextBlock(title, node.level)


def _texts(code: Any, references: _References) -> Iterator[str]:
    for node in code.nodes if code is not None else ():
        yield from _text(node, references)


def _text(node: Any, references: _References) -> Iterator[str]:
    match type(node).__name__:
        case "Text":
            yield literal(str(node))
        case "HTMLEntity":
            with contextlib.suppress(ValueError):  # not a valid character number
                yield literal(str(node.normalize()))
        case "Tag" if _name(node) == "ref":
            yield references.marker(node)
        case "Tag" if _name(node) not in _LEFT_OUT:
            yield " " if _name(node) == "br" else "\n\n" if _name(node) in _ITEMS else ""
            yield from _texts(node.contents, references)
        case "Wikilink" if not _has_namespace(str(node.title)):
            yield from _texts(node.title if node.text is None else node.text, references)
        case "ExternalLink":
            yield from _texts(node.title, references) if node.brackets else [literal(str(node.url))]


def _has_namespace(title: str) -> bool:
    name, colon, _ = title.strip().removeprefix(":").partition(":")
    return colon != "" and name.strip().lower() in _NAMESPACES
