"""The sentences of an article with the passages they cite: the input of every citation metric."""

from dataclasses import dataclass

from storm_pipeline.text.words import words
from storm_pipeline.types import Article


@dataclass(frozen=True)
class CitedSentence:
    """A sentence, and one passage for each source that it cites, in the order of citation.

    A source counts once, as one number in the text does: where a sentence cites several snippets of it, they are one
    passage. A passage opens with the title of its page where that is known.
    """

    text: str
    passages: tuple[str, ...] = ()


def cited_sentences(article: Article, *, lead: bool = True) -> tuple[CitedSentence, ...]:
    """The sentences of an article that hold a word, in reading order, with what they cite.

    Of an article without any source, such as one that a model wrote from memory, there are none: how well it cites is
    not defined, which is something else than badly.

    Args:
        article: every citation points at a snippet that it holds.
        lead: whether the lead's sentences belong to them.
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
        by_source: dict[str, list[str]] = {}
        for citation in sentence.citations:
            by_source.setdefault(citation.source_id, []).append(texts[citation.source_id, citation.snippet_id])
        passages = tuple("\n".join(filter(None, [titles[i], *own])) for i, own in by_source.items())
        found.append(CitedSentence(sentence.text, passages))
    return tuple(found)
