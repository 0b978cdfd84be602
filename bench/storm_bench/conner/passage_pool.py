"""What knowledge is retrieved from and checked against: references of the data sets and leads of Wikipedia."""

import json
from collections.abc import Iterable
from pathlib import Path

from storm_bench.conner.knowledge import LONGEST
from storm_bench.datasets.conner import KnowledgeItem
from storm_pipeline import Snippet
from storm_pipeline.api import chunks

LEADS = "wikipedia-vital-article-leads-en"
"""The pinned file of lead sections."""


def passage_pool(items: Iterable[KnowledgeItem], leads: Path) -> tuple[Snippet, ...]:
    """Passages of whole sentences, of as many words as are scored; equal ones once.

    It stands in for all of Wikipedia, so that references of the measured items belong to it as their pages belong to
    that: retrieval is easier here than over Wikipedia.

    Args:
        items: their references, under the titles of their topics.
        leads: the pinned file of lead sections, title → ``extract``.
    """
    texts = [(item.topic, item.reference) for item in items]
    known = json.loads(leads.read_text(encoding="utf-8"))
    texts += [(title, entry["extract"]) for title, entry in known.items()]
    found = {
        (title, passage): Snippet(f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}", title, passage)
        for title, text in texts
        for passage in chunks(text, LONGEST)
    }
    return tuple(found.values())
