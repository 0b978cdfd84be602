"""The reference list of a rendered Wikipedia article, and the marks in its text that point into it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from storm_pipeline.documents.plain import plain_text, web_address
from storm_pipeline.evaluation.types import Document

Citations = Mapping[int, Document]
"""The number that a reader sees → what is cited: its address, empty if it has none on the web, and the citation."""

_BRACKETS = re.compile(r"[\[\]\s]")


def take_citations(root: Any) -> Citations:
    """The citations of an article; its marks become ``[1]``, and those of notes and complaints go.

    Numbers are those of the marks, not of the list's ids, which count notes along. A short citation (``Smith 2001,
    p. 5``) takes the address of the work that it points to.

    Args:
        root: the article's tree, which is changed.
    """
    listed = {item.get("id"): item for item in root.iter("li") if (item.get("id") or "").startswith("cite_note")}
    works = {work.get("id"): work for work in root.iter("cite") if work.get("id")}
    cited: dict[int, Document] = {}
    for mark in list(root.iter("sup")):
        if "reference" not in (mark.get("class") or "").split():
            _replace(mark, "" if "noprint" in (mark.get("class") or "") else mark.text_content())
            continue
        text = ""
        for anchor in mark.iter("a"):
            label = _BRACKETS.sub("", anchor.text_content())
            item = listed.get(unquote((anchor.get("href") or "").partition("#")[2]))
            if item is not None and label.isdecimal():
                number = int(label)
                cited.setdefault(number, _document(item, works))
                text += f"[{number}]"
        _replace(mark, text)
    return dict(sorted(cited.items()))


def _document(item: Any, works: Mapping[str, Any]) -> Document:
    said = next((part for part in item.iter("span") if "reference-text" in (part.get("class") or "").split()), item)
    citation = plain_text(said.text_content())
    return Document(next(_addresses(said, works), ""), citation)


def _addresses(part: Any, works: Mapping[str, Any]) -> Iterator[str]:
    """Addresses outside Wikipedia that a citation links to, its own before those of works that it points to."""
    for anchor in part.iter("a"):
        if "external" in (anchor.get("class") or "").split():
            href = anchor.get("href") or ""
            if url := web_address(f"https:{href}" if href.startswith("//") else href):
                yield url
    for anchor in part.iter("a"):
        work = works.get(unquote((anchor.get("href") or "").partition("#")[2]))
        if work is not None and work is not part and not any(above is work for above in anchor.iterancestors()):
            yield from _addresses(work, {})


def _replace(element: Any, text: str) -> None:
    element.tail = text + (element.tail or "")
    element.drop_tree()
