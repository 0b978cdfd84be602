"""The works that a page of wikitext cites: in ``<ref>`` and its templates, by short citations, in notes."""

from collections import defaultdict
from typing import Any

from storm_pipeline.output.articles.pages import Reference
from storm_pipeline.output.articles.reference_list import LARGEST_NUMBER, short_notes
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.markers import mark
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
    for parameter in template.params:
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
    return " ".join(str(getattr(node, "tag", None) or node.name).replace("_", " ").lower().split())


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
