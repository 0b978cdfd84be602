"""Which documents of a closed corpus hold a page, and which only what stood in its place."""

from collections.abc import Iterable

from storm_pipeline.documents.chunks import count_words
from storm_pipeline.evaluation.types import Document
from storm_pipeline.identity import source_id
from storm_pipeline.pages.interstitials import is_interstitial

_BEGINNING = 20_000  # characters: far more words than either bound, and a corpus has millions
_PDF, _HEAD = "%PDF-", 100
LEAST_WORDS = 50
"""Shorter texts are menus, error pages and walls; the same bound as for pages fetched by the package."""


def is_usable(document: Document) -> bool:
    """Whether a document has an address and a text that is neither empty, nor short, nor a notice, nor a raw file."""
    if document.text[:_HEAD].lstrip().startswith(_PDF):
        return False
    words = count_words(document.text[:_BEGINNING])
    return bool(document.url) and words >= LEAST_WORDS and not is_interstitial(document.text, words)


def usable(documents: Iterable[Document]) -> tuple[Document, ...]:
    """The usable documents in order, each page once.

    Where a page was both cited and found, the text that has capital letters is taken, for it has sentences; it counts
    as cited all the same.
    """
    kept: dict[str, Document] = {}
    for document in documents:
        if not is_usable(document):
            continue
        page = source_id(document.url)
        known = kept.get(page)
        if known is None:
            kept[page] = document
        elif is_flattened(known.text) and not is_flattened(document.text):
            kept[page] = Document(known.url, document.title or known.title, document.text, known.origin)
    return tuple(kept.values())


def is_flattened(text: str) -> bool:
    """Whether a text lost its capitals, and with them what tells its sentences, as editors' references did here."""
    return text == text.lower()
