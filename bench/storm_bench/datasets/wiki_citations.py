"""Extracts the citations of a rendered Wikipedia article: reference list and citation marks."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from storm_bench.types import TopicDocument
from storm_pipeline.api import plain_text, web_address

Citations = Mapping[int, TopicDocument]
"""Visible citation number → cited document: URL (may be empty) and the citation's text as title."""

_BRACKETS = re.compile(r"[\[\]\s]")


def take_citations(root: Any) -> Citations:
    """Extract an article's citations and replace its marks by ``[1]``; marks of notes and cleanup tags are removed.

    Numbers are those of the marks, not of the list's ids, which also count notes. A short citation (``Smith 2001, p.
    5``) gets the URL of the work it links to. ``root``: the article's element tree; modified in place.
    """
    listed = {item.get("id"): item for item in root.iter("li") if (item.get("id") or "").startswith("cite_note")}
    works = {work.get("id"): work for work in root.iter("cite") if work.get("id")}
    cited: dict[int, TopicDocument] = {}
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


def _document(item: Any, works: Mapping[str, Any]) -> TopicDocument:
    reference = next(
        (part for part in item.iter("span") if "reference-text" in (part.get("class") or "").split()), item
    )
    citation = plain_text(reference.text_content())
    return TopicDocument(next(_external_urls(reference, works), ""), citation)


def _external_urls(part: Any, works: Mapping[str, Any]) -> Iterator[str]:
    """Yield external URLs of a citation: its own, then those of works it links to."""
    for anchor in part.iter("a"):
        if "external" in (anchor.get("class") or "").split():
            href = anchor.get("href") or ""
            if url := web_address(f"https:{href}" if href.startswith("//") else href):
                yield url
    for anchor in part.iter("a"):
        work = works.get(unquote((anchor.get("href") or "").partition("#")[2]))
        if work is not None and work is not part and not any(above is work for above in anchor.iterancestors()):
            yield from _external_urls(work, {})


def _replace(element: Any, text: str) -> None:
    element.tail = text + (element.tail or "")
    element.drop_tree()
