"""The sentences of an article with the passages they cite: the input of every citation metric."""

from dataclasses import dataclass

from storm_pipeline.text.words import words
from storm_pipeline.types import Article

UNIT = "each cited chunk"
"""What counts as one citation, for the parameters of citation metrics."""


@dataclass(frozen=True)
class CitedSentence:
    """A sentence with one passage per cited chunk, in citation order.

    Every chunk is judged by itself, as in the papers, even if several are from the same page; a chunk cited twice
    counts once. A passage starts with the title of its page if that is known.
    """

    text: str
    passages: tuple[str, ...] = ()


def cited_sentences(article: Article, *, lead: bool = True) -> tuple[CitedSentence, ...]:
    """The sentences of an article that contain a word, in reading order, with the passages they cite.

    Empty for an article without sources, such as one written from memory: its citation quality is undefined, not bad.

    Args:
        article: its sources must contain every cited snippet.
        lead: whether to include the lead's sentences.
    """
    if not article.sources:
        return ()
    titles = {source.id: source.title for source in article.sources}
    texts = {(source.id, snippet.id): snippet.text for source in article.sources for snippet in source.snippets}
    opening = 0 if lead else sum(len(paragraph.sentences) for paragraph in article.lead)
    found = []
    for sentence in list(article.sentences())[opening:]:
        if not words(sentence.text):
            continue
        chunks = dict.fromkeys((citation.source_id, citation.snippet_id) for citation in sentence.citations)
        passages = tuple("\n".join(filter(None, [titles[chunk[0]], texts[chunk]])) for chunk in chunks)
        found.append(CitedSentence(sentence.text, passages))
    return tuple(found)
