"""Reads an article from wikitext: text and headings with citations, and notes as paragraphs after their section.

Works are cited in ``<ref>`` and its templates, by short citations, and in notes. Tables, pictures, infoboxes and
templates of unknown words are left out, and named where claims or references may be.
"""

import contextlib
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from storm_pipeline.errors import needs_extra
from storm_pipeline.output.articles.markdown import LARGEST_NUMBER, numbered_article, short_notes
from storm_pipeline.output.articles.markdown_blocks import TextBlock
from storm_pipeline.output.articles.pages import NumberedArticle, Reference
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.markers import literal, mark, without_reserved
from storm_pipeline.text.words import has_word, tidy

SHOWN, _MEANINGS, _ADDRESSES = (
    {name: value for name, _, value in (line.partition(" = ") for line in lines)}
    for lines in table_beside(__file__).values()
)
_NOTES = ("efn", "refn", "notetag", "#tag:ref")  # beginnings of names of templates
_MOST_NAMES = 4  # of authors in a short citation


class Citations:
    """The works that a page cites, numbered by first citation; they may be defined anywhere on the page."""

    def __init__(self, code: Any) -> None:
        self.pages: dict[int, Reference] = {}
        self._numbers: dict[tuple[str, ...], int] = {}
        self._contents: dict[tuple[str, str], Any] = {}  # group and name → contents; also without the group
        self._works: dict[str, Reference] = {}  # anchor → work
        self._last: list[Reference] = []
        for node in code.ifilter():
            if is_citation(node) and (contents := _contents(node)) is not None and (name := value_of(node, "name")):
                for group in (value_of(node, "group"), ""):
                    self._contents.setdefault((group, name), contents)
            elif type(node).__name__ == "Template" and (work := _work(node)):
                self._works.setdefault(*work)

    def cite(self, node: Any) -> tuple[str, Any]:
        """Return the markers of a citation, a number without a page if undefined; or the contents of a note."""
        group, name = value_of(node, "group") or value_of(node, "g"), value_of(node, "name")
        if name_of(node) == "r":
            return "".join(self._of_contents(self._defined(group, name)) for name in unnamed(node)), None
        if type(node).__name__ == "Template" and not name_of(node).startswith(_NOTES):
            return self._marks(self._works_of(node)), None
        contents = _contents(node) or self._defined(group, name)
        return ("", contents) if contents and _is_note(node, contents) else (self._of_contents(contents), None)

    def _defined(self, group: str, name: str) -> Any:
        return self._contents.get((group, name), self._contents.get(("", name)))

    def _of_contents(self, contents: Any) -> str:
        if contents is None:
            return mark(0)
        works = [work for template in contents.ifilter_templates() for work in self._works_of(template)]
        text, links = plain(contents), contents.filter_external_links()[:1]
        linked = [Reference(plain(link.url), plain(link.title or "") or text, entry=text) for link in links]
        return self._marks(works or linked or self._named_in(text))

    def _works_of(self, template: Any) -> list[Reference]:
        if is_short(template):
            return [self._works.get(_anchor(words)) or self._named_in(" ".join(words))[0] for words in _short(template)]
        return [work[1]] if (work := _work(template)) else []

    def _named_in(self, text: str) -> list[Reference]:
        works = [*self._works.values(), *self.pages.values(), *self._last]
        return short_notes(text, works) or [Reference("", text, entry=text)]

    def _marks(self, works: list[Reference]) -> str:
        numbers: list[int] = []
        for work in works:
            key = (work.url, work.title, *sorted(work.entry.split(", ")))
            numbers.append(
                self._numbers.setdefault(key, len(self.pages) + 1 if len(self.pages) < LARGEST_NUMBER else 0)
            )
            self.pages.setdefault(numbers[-1], work)
        self._last = works[-1:] or self._last
        return "".join(map(mark, numbers))


def _work(template: Any) -> tuple[str, Reference] | None:
    """Return the anchor and the work of a citation template; None for another template."""
    stated: dict[str, list[str]] = defaultdict(list)  # meaning → values
    entry: list[str] = []
    for parameter in {str(p.name).strip(): p for p in template.params}.values():  # of two with one name the last
        name = "".join(char for char in str(parameter.name).strip().lower() if not char.isdigit() and char != "-")
        if (kind := _MEANINGS.get(name)) and (value := plain(parameter.value)):
            words = [word.strip(",.") for word in value.replace("-", " ").split()] if kind == "date" else []
            years = [word for word in words if word[:4].isdecimal() and len(word) in {4, 5}]
            stated[kind].append([*years, _ADDRESSES.get(name, "") + value][0])
            entry += {"date": [stated[kind][-1][:4]], "url": [], "archive": []}.get(kind, stated[kind][-1:])
    titles = stated["part"] or stated["title"]
    if not (titles or stated["url"]) or name_of(template) in SHOWN:
        return None
    url = [*stated["url"], *stated["id"], *stated["archive"], ""][0]
    ref = template.get("ref").value.filter_templates() if template.has("ref") else []
    names = [*(stated["family"] or stated["editor"])[:_MOST_NAMES], *stated["date"][:1]]
    anchor = _anchor([*(words for inner in ref for words in _short(inner)), names][0])
    return anchor, Reference(url, [*titles, url][0], entry=", ".join(entry), archive=[*stated["archive"], ""][0])


def _anchor(words: list[str]) -> str:
    return "".join("".join(words).casefold().split())


def _short(template: Any) -> list[list[str]]:
    """Return the authors and the year of each work: ``{{sfn|Doe|Roe|2005}}``, ``{{sfnm|1a1=Doe|1y=2005|2a1=…}}``."""
    works: dict[str, list[str]] = {"": unnamed(template)}
    for name, value in ((str(p.name).strip(), p.value) for p in template.params if p.showkey):
        if name[1:].rstrip("0123456789") in {"a", "y"}:
            works.setdefault(name[0], []).append(plain(value))
    return list(filter(any, works.values()))


def name_of(node: Any) -> str:
    """Return the name of a tag or template in lower case."""
    return tidy(str(getattr(node, "tag", None) or node.name).replace("_", " ").lower())


def unnamed(template: Any) -> list[str]:
    """Return the unnamed parameters of a template as text."""
    return [plain(parameter.value) for parameter in template.params if not parameter.showkey]


def value_of(node: Any, name: str) -> str:
    """Return a parameter of a template or an attribute of a tag; empty if it has none."""
    return str(node.get(name).value).strip(" \"'") if node.has(name) else ""


def is_short(node: Any) -> bool:
    """Return whether a template is a short citation: ``{{sfn}}``, ``{{harvnb}}`` and the like."""
    return name_of(node).startswith(("sfn", "harv")) and name_of(node) not in {"sfnref", "harvid"}


def is_citation(node: Any) -> bool:
    """Return whether a node is a reference, a short citation or a note."""
    if type(node).__name__ == "Template":
        return is_short(node) or name_of(node) == "r" or name_of(node).startswith(_NOTES)
    return type(node).__name__ == "Tag" and name_of(node) == "ref"


def plain(code: Any) -> str:
    """Return wikitext as text on one line."""
    return tidy(str(code.strip_code()) if hasattr(code, "strip_code") else str(code))


def _contents(node: Any) -> Any:
    """Return the contents of a ``<ref>`` or of a template for notes; None if it has none."""
    if type(node).__name__ == "Tag":
        return node.contents if str(node.contents or "").strip() else None
    return node.get("1").value if node.has("1") and name_of(node).startswith(_NOTES) else None


def _is_note(node: Any, contents: Any) -> bool:
    """Return whether a reference is a remark with words of its own, rather than works."""
    cited = list(filter(is_citation, contents.ifilter()))
    works = [*cited, *contents.ifilter_external_links(), *filter(_work, contents.ifilter_templates())]
    is_nested = any(not name_of(inner).startswith("harv") for inner in cited)
    is_remark = is_nested or not works or name_of(node).startswith("efn")
    is_plain = name_of(node) == "ref" and not node.has("group")
    return is_remark and not is_plain and has_word(" ".join(map(str, contents.filter_text(recursive=False))))


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
