"""Excludes the ground truth: from web searches by settings, and from closed corpora by removing copies."""

import re
from dataclasses import dataclass, replace
from unicodedata import normalize

from storm_bench.types import Topic, TopicDocument
from storm_pipeline.api import GroundTruth

_PUNCTUATION = re.compile(r"[^\w\s]|_")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_N = 8
_EXCERPT_OF_PAGE = 0.2
_EXCERPT_OF_ARTICLE = 0.05
_COPY_OF_ARTICLE = 0.5


@dataclass(frozen=True)
class Copy:
    """A document that is a copy of the article, and the reason."""

    document: TopicDocument
    reason: str


def exclusion_settings(topic: Topic) -> dict[str, tuple[str, ...]]:
    """Return settings (:class:`storm_pipeline.settings.Settings`) that exclude a topic's own article from searches.

    They exclude the article under every form of its URL, in all languages, on Wikipedia mirrors, and on pages that
    repeat its text.
    """
    titles = dict.fromkeys(filter(None, (topic.human.title, topic.title)))
    return {"exclude_titles": tuple(titles), "exclude_urls": (topic.human.url,) if topic.human.url else ()}


def copies(topic: Topic) -> tuple[Copy, ...]:
    """Return the documents of a topic that are copies of its article, by URL, title or text.

    By text, a document is a copy if it contains half of the article's 8-grams. A document found by search is also a
    copy if 20 % of its 8-grams are the article's and it contains 5 % of the article's (a mirror's excerpt). This second
    rule does not apply to documents cited by editors, because articles quote short sources.
    """
    guard = exclusion_settings(topic)
    truth = GroundTruth(guard["exclude_urls"], guard["exclude_titles"])
    article = _ngrams(topic.human.text())
    found = []
    for document in topic.documents:
        reason = truth.recognise(document.url, document.title, "") or _repetition(document, article)
        if reason:
            found.append(Copy(document, reason))
    return tuple(found)


def without_copies(topic: Topic) -> Topic:
    """Return the topic without documents that are copies of its article."""
    left_out = {copy.document for copy in copies(topic)}
    return replace(topic, documents=tuple(document for document in topic.documents if document not in left_out))


def _repetition(document: TopicDocument, article: set[str]) -> str | None:
    page = _ngrams(document.text)
    shared = len(page & article)
    of_page, of_article = shared / max(len(page), 1), shared / max(len(article), 1)
    is_excerpt = document.origin == "search" and of_page >= _EXCERPT_OF_PAGE and of_article >= _EXCERPT_OF_ARTICLE
    if of_article < _COPY_OF_ARTICLE and not is_excerpt:
        return None
    return f"{of_page:.0%} of its {_N}-grams occur in the article, and {of_article:.0%} of the article's in it"


def _ngrams(text: str) -> set[str]:
    """Return the distinct 8-grams, without any punctuation, because some documents have lost theirs."""
    words = _PUNCTUATION.sub("", _UNSPACED.sub(r" \g<0> ", normalize("NFKC", text).casefold())).split()
    return {" ".join(words[start : start + _N]) for start in range(len(words) - _N + 1)}
