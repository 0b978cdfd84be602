"""Keeps pages that are related to a topic. The embedder is the only model."""

from collections.abc import Iterable

from storm_pipeline.evidence.retrieval.vectors import Embed
from storm_pipeline.text.languages import detect
from storm_pipeline.types import Snippet

NEAR = 0.3
"""Minimum cosine of a snippet to the topic, or to the question, at which its page counts as related."""


def bare_name(name: str) -> str:
    """Return a name without what follows in brackets and without "the"; unchanged if nothing else is in it."""
    bare = name.partition(" (")[0].partition("（")[0].strip()
    return (bare[4:].strip() if bare[:4].casefold() == "the " else bare) or name.strip()


def keep_relevant(
    topic: str, snippets: Iterable[Snippet], embed: Embed, *, question: str = "", language: str = "en"
) -> tuple[Snippet, ...]:
    """Return the snippets of the pages that are related to the topic, in order.

    Such a page has the topic's bare name, in any case, in its title or text, or a snippet whose cosine to the topic or
    to the question is at least 0.3. Pages in another language are kept, which few encoders can compare.

    Args:
        embed: texts to unit vectors, shape (texts, dimension).
        language: ISO 639-1 code of the topic and the question.
    """
    given = tuple(snippets)
    name = bare_name(topic).casefold()
    kept = {
        snippet.source_id
        for snippet in given
        if name in f"{snippet.title} {snippet.text}".casefold() or detect(snippet.text) not in {"", language}
    }
    doubtful = [snippet for snippet in given if snippet.source_id not in kept]
    if doubtful:
        asked = [topic, question] if question else [topic]
        vectors = embed([*asked, *(f"{snippet.title}: {snippet.text}" for snippet in doubtful)])
        nearest = (vectors[len(asked) :] @ vectors[: len(asked)].T).max(axis=1)
        kept |= {snippet.source_id for snippet, cosine in zip(doubtful, nearest, strict=True) if cosine >= NEAR}
    return tuple(snippet for snippet in given if snippet.source_id in kept)
