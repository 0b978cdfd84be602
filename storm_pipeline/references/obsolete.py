"""Removes citations that only supported what a rewording took out of a sentence. Pure functions."""

from collections.abc import Iterable, Mapping

from storm_pipeline.languages import stem_set
from storm_pipeline.quantities import missing
from storm_pipeline.types import Citation, Sentence


def reworded(sentence: Sentence, text: str, snippets: Mapping[str, str], language: str) -> Sentence:
    """The sentence with a new text, without the citations that became obsolete; at least one citation stays.

    A citation is obsolete if its snippet alone has words that the rewording removed, but no word and no number of the
    new text that the other cited snippets lack. Unknown snippets, and those that share no words with the sentence, such
    as those in another language, keep their citations.

    Args:
        sentence: before the rewording.
        text: the new text.
        snippets: snippet id → text.
        language: ISO 639-1 code of the sentence.
    """
    new = stem_set(text, language)
    removed = stem_set(sentence.text, language) - new
    kept = list(sentence.citations)
    for citation in sentence.citations:
        if len(kept) == 1:
            break
        others = [snippets.get(one.snippet_id, "") for one in kept if one != citation]
        own = stem_set(snippets.get(citation.snippet_id, ""), language)
        alone = own - _stems(others, language)
        if alone & removed and not alone & new and not _adds_quantities(citation, others, text, snippets, language):
            kept.remove(citation)
    return Sentence(text, tuple(kept))


def _stems(texts: Iterable[str], language: str) -> frozenset[str]:
    return frozenset[str]().union(*(stem_set(text, language) for text in texts))


def _adds_quantities(
    citation: Citation, others: list[str], text: str, snippets: Mapping[str, str], language: str
) -> bool:
    own = snippets.get(citation.snippet_id, "")
    return missing(text, others, language=language) != missing(text, [*others, own], language=language)
