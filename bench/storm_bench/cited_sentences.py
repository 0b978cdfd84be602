"""The sentences of an article with the passages they cite: the input of every citation metric."""

from dataclasses import dataclass

from storm_bench.sections import all_paragraphs
from storm_pipeline import Article
from storm_pipeline.api import words

UNIT = "each cited chunk"
"""Units of citations, for the parameters of citation metrics."""


@dataclass(frozen=True)
class CitedSentence:
    """A sentence with one passage per cited chunk, in citation order.

    Every chunk is judged by itself, as in the papers, even if several are from the same page; a chunk cited twice
    counts once. A passage starts with the title of its page if that is known.
    """

    text: str
    passages: tuple[str, ...] = ()


def cited_sentences(article: Article) -> tuple[CitedSentence, ...]:
    """Return the sentences of an article that contain a word, in reading order, with the passages they cite.

    Empty for an article without sources, such as one written from memory: its citation quality is undefined, not bad.
    ``article``: its sources must contain every cited snippet.
    """
    if not article.sources:
        return ()
    titles = {source.id: source.title for source in article.sources}
    texts = {(source.id, snippet.id): snippet.text for source in article.sources for snippet in source.snippets}
    found = []
    for sentence in (s for paragraph in all_paragraphs(article) for s in paragraph.sentences if words(s.text)):
        cited = dict.fromkeys((citation.source_id, citation.snippet_id) for citation in sentence.citations)
        passages = tuple("\n".join(filter(None, [titles[chunk[0]], texts[chunk]])) for chunk in cited)
        found.append(CitedSentence(sentence.text, passages))
    return tuple(found)
