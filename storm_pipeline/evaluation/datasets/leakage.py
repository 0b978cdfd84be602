"""Keeping the ground truth out: settings for runs that search the web, and copies left out of a closed corpus."""

import re
from dataclasses import dataclass, replace

from storm_pipeline.evaluation.types import Document, Topic
from storm_pipeline.identity import normalised_text
from storm_pipeline.sources.ground_truth import GroundTruth

_SIGN = re.compile(r"[^\w\s]|_")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_RUN = 8
_OF_THE_PAGE = 0.2
_OF_THE_ARTICLE = 0.05
_MOST_OF_THE_ARTICLE = 0.5


@dataclass(frozen=True)
class Copy:
    """A document that shows the article itself, and why it is taken for that."""

    document: Document
    reason: str


def guards(topic: Topic) -> dict[str, tuple[str, ...]]:
    """The fields of :class:`storm_pipeline.settings.Settings` that a run on this topic must have.

    They keep out the topic's own article in every form of its address, in all languages, on mirrors of Wikipedia, and
    wherever a page repeats what such a page showed.
    """
    titles = dict.fromkeys(filter(None, (topic.human.title, topic.title)))
    return {"exclude_titles": tuple(titles), "exclude_urls": (topic.human.url,) if topic.human.url else ()}


def copies(topic: Topic) -> tuple[Copy, ...]:
    """The documents of a topic that are its article, by address, title or text.

    By text a document is a copy if it holds half of the article's runs of 8 words; one that a search found also if the
    article makes up a fifth of it and it holds a twentieth of the article (a mirror's excerpt). What editors cited is
    not measured by its own share: where an article quotes a short source, the source is no copy.
    """
    guard = guards(topic)
    truth = GroundTruth(guard["exclude_urls"], guard["exclude_titles"])
    article = _runs(topic.human.text())
    found = []
    for document in topic.documents:
        reason = truth.recognise(document.url, document.title, "") or _repeats(document, article)
        if reason:
            found.append(Copy(document, reason))
    return tuple(found)


def without_copies(topic: Topic) -> Topic:
    """The topic without the documents that are copies of its article."""
    left_out = {copy.document for copy in copies(topic)}
    return replace(topic, documents=tuple(document for document in topic.documents if document not in left_out))


def most_repeated(topic: Topic) -> float:
    """The largest share of the article's runs of 8 words that stand in one of its documents, in [0, 1]."""
    article = _runs(topic.human.text())
    shared = (len(_runs(document.text) & article) for document in topic.documents)
    return max(shared, default=0) / max(len(article), 1)


def _repeats(document: Document, article: set[str]) -> str | None:
    page = _runs(document.text)
    shared = len(page & article)
    of_page, of_article = shared / max(len(page), 1), shared / max(len(article), 1)
    is_excerpt = document.origin == "search" and of_page >= _OF_THE_PAGE and of_article >= _OF_THE_ARTICLE
    if of_article < _MOST_OF_THE_ARTICLE and not is_excerpt:
        return None
    return (
        f"{of_page:.0%} of its runs of {_RUN} words stand in the article, and {of_article:.0%} of the article's in it"
    )


def _runs(text: str) -> set[str]:
    """The distinct runs of 8 words. Signs inside words go too, for so do they in texts that lost their punctuation."""
    said = _SIGN.sub("", _UNSPACED.sub(r" \g<0> ", normalised_text(text))).split()
    return {" ".join(said[start : start + _RUN]) for start in range(len(said) - _RUN + 1)}
