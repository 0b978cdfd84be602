"""Filters documents of a closed corpus: real pages, not error pages, consent walls or raw files."""

from collections.abc import Iterable

from storm_bench.types import TopicDocument
from storm_pipeline.api import count_words, is_interstitial, source_id

_PREFIX = 20_000  # characters to count words in: enough for the bounds, fast for large corpora
_PDF, _PDF_MARKER_RANGE = "%PDF-", 100
LEAST_WORDS = 50
"""Shorter texts are menus, error pages and consent walls; the same limit applies to pages the package fetches."""


def is_usable(document: TopicDocument) -> bool:
    """Return whether a document has a URL and a real text: not too short, no interstitial page, no raw PDF."""
    if document.text[:_PDF_MARKER_RANGE].lstrip().startswith(_PDF):
        return False
    words = count_words(document.text[:_PREFIX])
    return bool(document.url) and words >= LEAST_WORDS and not is_interstitial(document.text, words)


def usable(documents: Iterable[TopicDocument]) -> tuple[TopicDocument, ...]:
    """Return the usable documents, in order, one per page.

    If a page was both cited and found, it counts as cited, with the text that has capital letters.
    """
    kept: dict[str, TopicDocument] = {}
    for document in documents:
        if not is_usable(document):
            continue
        page = source_id(document.url)
        known = kept.get(page)
        if known is None:
            kept[page] = document
        elif is_flattened(known.text) and not is_flattened(document.text):
            kept[page] = TopicDocument(known.url, document.title or known.title, document.text, known.origin)
    return tuple(kept.values())


def is_flattened(text: str) -> bool:
    """Return whether a text is all lower-case, as in WikiGenBench, so that sentences are hard to split."""
    return text == text.lower()
