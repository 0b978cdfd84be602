"""Reads an article from wikitext: text and headings with citations, and notes as paragraphs after their section.

Tables, pictures, infoboxes and templates of unknown words are left out, and named where claims or references may be.
"""

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from storm_pipeline.errors import needs_extra
from storm_pipeline.output.articles.markdown import numbered_article
from storm_pipeline.output.articles.markdown_blocks import TextBlock
from storm_pipeline.output.articles.pages import NumberedArticle
from storm_pipeline.output.articles.wikitext_citations import SHOWN, Citations, is_citation, name_of, unnamed
from storm_pipeline.text.markers import literal, without_reserved
from storm_pipeline.text.words import has_word, tidy

_LEFT_OUT = frozenset("gallery table score timeline math chem ce syntaxhighlight imagemap".split())
_ITEMS = frozenset({"li", "dd", "dt", "blockquote", "hr", "poem"})
_NAMESPACES = frozenset("file image media category template datei bild kategorie fichier".split())


def wikitext_article(title: str, text: str) -> NumberedArticle:
    """Read an article. Raises MissingExtraError: the parser is not installed."""
    with needs_extra("sources", "reading wikitext"):
        import mwparserfromhell
    code = mwparserfromhell.parse(without_reserved("\n".join(text.splitlines())))
    page = _Page(Citations(code))
    article = numbered_article(title, list(page.blocks(code)), page.citations.pages)
    return replace(article, left_out=page.left_out)


class _Page:
    """A page while its text is read."""

    def __init__(self, citations: Citations) -> None:
        self.citations = citations
        self.left_out: list[tuple[str, int]] = []
        self._notes: list[Any] = []  # contents of the notes so far

    def blocks(self, code: Any) -> Iterator[TextBlock]:
        """Yield headings and paragraphs; the lines of a paragraph are not joined."""
        headings = [i for i, node in enumerate(code.nodes) if type(node).__name__ == "Heading"]
        read = 0  # number of notes
        for start, end in itertools.pairwise([-1, *headings, len(code.nodes)]):
            if start >= 0 and (title := tidy("".join(self._texts(code.nodes[start].title.nodes)))):
                yield TextBlock(title, code.nodes[start].level)
            yield from _paragraphs("".join(self._texts(code.nodes[start + 1 : end])))
            for note in itertools.islice(self._notes, read, None):
                yield from _paragraphs("".join(self._texts(note.nodes)))
            read = len(self._notes)

    def _texts(self, nodes: Sequence[Any]) -> Iterator[str]:
        nodes = list(nodes)  # the parser's own lists are slow
        for place, node in enumerate(nodes):
            yield from self._text(node, is_alone=type(node).__name__ == "Template" and _is_alone(nodes, place))

    def _text(self, node: Any, *, is_alone: bool) -> Iterator[str]:
        match type(node).__name__:
            case _ if is_citation(node):
                yield self._cited(node)
            case "Text":
                yield literal(str(node))
            case "HTMLEntity":
                with contextlib.suppress(ValueError):  # not a valid character number
                    yield literal(str(node.normalize()))
            case "Tag" if name_of(node) in _LEFT_OUT:
                self._leave_out(name_of(node), [node.contents])
            case "Tag" if name_of(node) != "references":
                yield " " if name_of(node) == "br" else "\n\n" if name_of(node) in _ITEMS else ""
                yield from self._texts(node.contents.nodes if node.contents is not None else ())
            case "Wikilink" if not _has_namespace(str(node.title)):
                yield from self._texts((node.title if node.text is None else node.text).nodes)
            case "Wikilink":
                self._leave_out("picture", [node.text], is_named=False)
            case "ExternalLink" if node.brackets:
                yield from self._texts(node.title.nodes if node.title is not None else ())
            case "ExternalLink":
                yield literal(str(node.url))
            case "Template":
                yield from self._template(node, is_alone=is_alone)

    def _cited(self, node: Any) -> str:
        marks, note = self.citations.cite(node)
        if note is not None and not any(note is known for known in self._notes):
            self._notes.append(note)
        return literal(" and ".join(unnamed(node)[:-1] if name_of(node).startswith("harvtxt") else ())) + marks

    def _template(self, node: Any, *, is_alone: bool) -> Iterator[str]:
        name, colon, value = name_of(node).partition(":")
        values = [parameter.value for parameter in node.params if not parameter.showkey]
        form = "{1}" if name.startswith("lang-") else SHOWN.get(name)
        if form == "number":
            yield literal(_quantity(unnamed(node)))
        elif form is not None:
            yield from [literal(value)] if colon else self._filled(form, node, values)
        elif mark := "" if is_alone else self.citations.cite(node)[0]:
            yield mark
        elif len(values) == len(node.params) == 1 and not is_alone:
            yield from self._texts(values[0].nodes)
        elif not colon:
            is_named = name.startswith("infobox") or bool(values and not is_alone)
            self._leave_out(f"{{{{{name}}}}}", [parameter.value for parameter in node.params], is_named=is_named)

    def _filled(self, form: str, template: Any, values: Sequence[Any]) -> Iterator[str]:
        start, *parts = form.split("{")
        yield start
        for field, _, after in (part.partition("}") for part in parts):
            before, _, name = field.rpartition(":")
            named = [template.get(name).value] if template.has(name) else []
            shown = {"*": values, "-1": values[-1:]}.get(name, named)
            yield (before if shown else "") + "–".join("".join(self._texts(value.nodes)) for value in shown) + after

    def _leave_out(self, name: str, parts: Sequence[Any], *, is_named: bool = True) -> None:
        cited = sum(is_citation(node) for part in parts if part is not None for node in part.ifilter())
        if is_named or cited:
            self.left_out.append((name, cited))


def _is_alone(nodes: Sequence[Any], place: int) -> bool:
    """Return whether at most templates, comments and the mark of a list are beside a node on its line."""
    before = str(nodes[place - 1]) if place else ""
    after = "".join(map(str, nodes[place + 1 : place + 2]))
    is_first = not before or before.rstrip(" ").endswith(("\n", "}}", "-->", "*", ":", "#"))
    return is_first and (not after or after.lstrip(" ").startswith(("\n", "{{", "<!--")))


def _paragraphs(text: str) -> Iterator[TextBlock]:
    lines = ("" if line[:2] == line[-2:] == "__" else line for line in map(tidy, text.split("\n")))
    yield from (TextBlock(part.strip("\n")) for part in "\n".join(lines).split("\n\n") if has_word(part))


def _quantity(words: list[str]) -> str:
    """Return a quantity as given: ``{{convert|5|to|10|km|mi}}`` is "5 to 10 km"."""
    shown = 2
    while len(words) > shown + 1 and words[shown][:1].isdigit() and not words[shown + 1][:1].isdigit():
        shown += 2
    return " ".join(words[:shown])


def _has_namespace(title: str) -> bool:
    name, colon, _ = title.strip().removeprefix(":").partition(":")
    return colon != "" and name.strip().lower() in _NAMESPACES
