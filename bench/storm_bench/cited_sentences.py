"""The sentences of an article with the passages they cite: the input of every citation metric."""

from collections.abc import Iterator
from dataclasses import dataclass

from storm_bench.sections import all_paragraphs
from storm_pipeline import Article
from storm_pipeline.api import words
from storm_pipeline.types import Paragraph

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


def cited_sentences(article: Article, *, expand: bool = False) -> tuple[CitedSentence, ...]:
    """Return the sentences of an article that contain a word, in reading order, with the passages they cite.

    Empty for an article without sources, such as one written from memory: its citation quality is undefined, not bad.

    Args:
        article: its sources must contain every cited snippet.
        expand: let uncited sentences inherit citations within their paragraph, like ``-p`` of the official evaluation:
            the last sentence those of the one before it, any other those of the next.
    """
    if not article.sources:
        return ()
    titles = {source.id: source.title for source in article.sources}
    texts = {(source.id, snippet.id): snippet.text for source in article.sources for snippet in source.snippets}
    found = []
    for text, chunks in (s for paragraph in all_paragraphs(article) for s in _sentences(paragraph, expand=expand)):
        passages = tuple("\n".join(filter(None, [titles[chunk[0]], texts[chunk]])) for chunk in chunks)
        found.append(CitedSentence(text, passages))
    return tuple(found)


def _sentences(paragraph: Paragraph, *, expand: bool) -> Iterator[tuple[str, dict[tuple[str, str], None]]]:
    """Yield the sentences that contain a word, each with its distinct cited chunks (source, snippet) in order."""
    sentences = [sentence for sentence in paragraph.sentences if words(sentence.text)]
    for i, sentence in enumerate(sentences):
        citing = sentence
        if expand and not sentence.citations and len(sentences) > 1:
            citing = sentences[i + 1] if i + 1 < len(sentences) else sentences[i - 1]
        yield sentence.text, dict.fromkeys((citation.source_id, citation.snippet_id) for citation in citing.citations)
