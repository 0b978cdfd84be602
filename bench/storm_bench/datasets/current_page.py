"""A page of a wiki as MediaWiki's Action API describes it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from storm_pipeline.api import objects, plain_text, web_address

_LIST = re.compile(
    r"(?:lists?|index|outline|glossary|timeline|chronology|bibliography|discography|filmography) of\b|deaths in \d{4}"
    r"|.*\b(?:discography|filmography|bibliography|list of episodes)$",
    re.I,
)
_LIST_DESCRIPTION = re.compile(r"wikimedia list article|wikipedia list article|list of\b", re.I)


@dataclass(frozen=True)
class CurrentPage:
    """A page as it stands now, or with an earlier revision (:meth:`.mediawiki.MediaWiki.at`)."""

    asked: str  # the requested title, possibly of a redirect
    title: str  # its own title
    number: int  # its page id
    revision: int  # id of its revision
    url: str  # its URL
    namespace: int = 0  # 0 for articles
    description: str = ""  # the wiki's short description; may be empty
    item: str = ""  # id of its Wikidata item; may be empty
    is_disambiguation: bool = False  # whether it is a disambiguation page

    def told(self, name: str) -> dict[str, Any]:
        """What a manifest says of the page first, as JSON values; ``name``: of its topic."""
        return {"id": name, "title": self.title, "url": self.url, "page": self.number, "revision": self.revision}


def pages_of(query: Any, asked: Sequence[str]) -> Iterator[CurrentPage]:
    """The pages of a query, in the order of the requested titles, following redirects; missing pages are left out."""
    found = {plain_text(page.get("title")): page for page in objects(query["pages"])}
    steps = {
        plain_text(step.get("from")): plain_text(step.get("to"))
        for kind in ("normalized", "redirects")
        for step in objects(query.get(kind))
    }
    for title in asked:
        last, left = title, len(steps)
        while last in steps and left >= 0:
            last, left = steps[last], left - 1
        page = found.get(last)
        if page is None or page.get("missing") or page.get("invalid") or not page.get("lastrevid"):
            continue
        properties = page.get("pageprops") or {}
        yield CurrentPage(
            title,
            last,
            int(page["pageid"]),
            int(page["lastrevid"]),
            web_address(page.get("canonicalurl") or page.get("fullurl")),
            int(page.get("ns", 0)),
            plain_text(properties.get("wikibase-shortdesc")),
            plain_text(properties.get("wikibase_item")),
            "disambiguation" in properties,
        )


def non_article_reason(page: CurrentPage) -> str | None:
    """Why a page is not a prose article, by namespace, title and description; None if it may be one."""
    if page.namespace != 0:
        return "no article"
    if page.is_disambiguation:
        return "disambiguation"
    if _LIST.match(page.title) or _LIST_DESCRIPTION.search(page.description):
        return "list"
    return None
