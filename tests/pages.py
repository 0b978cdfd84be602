"""Pages as a browser reads them: links, forms, controls, and what the content security policy would refuse."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_CONTROLS = frozenset({"input", "select", "textarea"})


@dataclass
class Form:
    """A form with its method, its address and its values."""

    method: str
    action: str
    values: list[tuple[str, str]] = field(default_factory=list)
    buttons: list[dict[str, str]] = field(default_factory=list)


class Page(HTMLParser):
    """A page: its text, links and forms, and its faults."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.title = "", ""
        self.links: list[str] = []
        self.forms: list[Form] = []
        self.ids: list[str] = []
        self.streams: list[str] = []
        self.faults: list[str] = []
        self.alerts = 0
        self._marked: list[tuple[str, str, int]] = []  # attribute, name of its element, and place in the text
        self._labels: set[str] = set()
        self._controls: list[dict[str, str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.faults += [f"unclosed {tag}" for tag in self._open]
        self.faults += [f"id {name} twice" for name in set(self.ids) if self.ids.count(name) > 1]
        named = ("aria-label", "aria-labelledby")
        self.faults += [
            f"no label: {one}"
            for one in self._controls
            if one.get("id") not in self._labels and not set(named) & {*one}
        ]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        attrs = {name: value or "" for name, value in attributes}
        self.faults += [f"{tag} {name}" for name in attrs if name.startswith("on") or name == "style"]
        if tag == "style" or (tag == "script" and not attrs.get("src", "").startswith("/static/")):
            self.faults.append(f"inline {tag}")
        if tag not in _VOID:
            self._open.append(tag)
        self._marked += [(name, attrs.get("name", ""), len(self.text)) for name in attrs]
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.streams += [attrs["hx-sse:connect"].partition("?")[0]] if "hx-sse:connect" in attrs else []
        self.alerts += attrs.get("role") == "alert"
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        elif tag == "label":
            self._labels.add(attrs.get("for", ""))
        elif tag == "form":
            self.forms.append(Form(attrs.get("method", "get"), attrs.get("action", "")))
        elif tag == "button" and self.forms:
            self.forms[-1].buttons.append(attrs)
        if tag in _CONTROLS and attrs.get("type") != "hidden":
            self._controls.append(attrs)
        if tag == "input" and self.forms and "name" in attrs and attrs.get("type") not in {"file", "checkbox"}:
            self.forms[-1].values.append((attrs["name"], attrs.get("value", "")))
        if tag == "option" and "selected" in attrs and self.forms:
            self.forms[-1].values.append(("option", attrs.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        while self._open and self._open[-1] in {"p", "li", "dt", "dd", "option"} and self._open[-1] != tag:
            self._open.pop()
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"stray </{tag}>")

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "title" and "svg" not in self._open:
            self.title += data
        self.text += data

    def at(self, attribute: str) -> list[str]:
        """What has an attribute: names of controls, or the texts of other elements."""
        return [name or self.text[place:].split("\n")[0] for one, name, place in self._marked if one == attribute]

    def form(self, action: str) -> Form:
        """The form with this address."""
        return next(form for form in self.forms if form.action == action)
