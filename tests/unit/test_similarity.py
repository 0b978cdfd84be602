"""How like sentences are to passages: as if every part of every passage were embedded, with few that are."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import HOSTILE

from storm_pipeline.references.facts import recall, stem_set
from storm_pipeline.references.passages import Passage
from storm_pipeline.references.similarity import Similarity
from storm_pipeline.retrieval.embedder import HashingEmbedder, Vectors
from storm_pipeline.types import Snippet

WORDS = "dam lake char men 1931 Orrin valley the of was built in concrete river der und die Stadt See nicht".split()
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=90).map(" ".join), st.sampled_from(HOSTILE), st.text()
)
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
LEAST = st.sampled_from([0.1, 0.3, 0.55, 0.9])


class Counting(HashingEmbedder):
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__(256)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return super().embed(texts)


def shown(*texts: str) -> tuple[Passage, ...]:
    return tuple(Passage(text, (Snippet(f"https://a.org/{i}", "", text),)) for i, text in enumerate(texts))


def similarity(*texts: str, embedder: HashingEmbedder | None = None) -> Similarity:
    embed = (embedder or HashingEmbedder(256)).embed
    return Similarity(shown(*texts), known="Orrin", embed=embed, language="en")


def in_full(sentence: str, text: str) -> tuple[float, float]:
    """Likeness by all windows, and the cosine of the most_similar."""
    words = text.split()
    parts = [" ".join(words[start : start + 45]) for start in range(0, max(1, len(words) - 15), 30)]
    vectors = HashingEmbedder(256).embed([sentence, *parts])
    cosine = np.clip(vectors[1:] @ vectors[0], 0, 1)
    share = [recall(stem_set(sentence), stem_set(part) | stem_set("Orrin")) for part in parts]
    best = max(range(len(parts)), key=lambda i: cosine[i] + share[i])
    return float((cosine[best] + share[best]) / 2), float(cosine[best])


@given(SENTENCES, TEXTS, LEAST)
def test_whether_a_passage_is_like_enough_is_as_if_all_of_it_were_embedded(
    sentence: str, text: str, least: float
) -> None:
    like, _ = in_full(sentence, text)
    assume(abs(like - least) > 1e-6)
    assert similarity(text).reaches(sentence, 0, least) == (like >= least)


@given(SENTENCES, st.lists(TEXTS, max_size=4), LEAST)
def test_the_most_similar_passages_come_first(sentence: str, texts: list[str], least: float) -> None:
    measured = [in_full(sentence, text) for text in texts]
    assume(all(abs(like - least) > 1e-6 and cosine <= 0.8 for like, cosine in measured))
    found = list(similarity(*texts).most_similar(sentence, range(len(texts)), least))
    assert sorted(found) == [i for i, (like, _) in enumerate(measured) if like >= least]
    likes = [measured[i][0] for i in found]
    assert all(a >= b - 1e-6 for a, b in pairwise(likes))


def test_what_shares_its_words_is_not_embedded() -> None:
    embedder = Counting()
    assert similarity("Two thousand men built the dam.", embedder=embedder).reaches("The men built the dam.", 0, 0.3)
    assert not embedder.texts


def test_passages_are_embedded_as_they_are_asked_for() -> None:
    embedder = Counting()
    far, near = "Char live in the lake behind the dam of concrete.", "Two thousand men built the dam of concrete."
    found = similarity(far, near, embedder=embedder).most_similar(
        "Two thousand men built a dam of concrete.", range(2), 0.3
    )
    assert next(found) == 1
    assert far not in embedder.texts
    assert list(found) == [0]


@given(st.lists(SENTENCES, max_size=3), st.lists(TEXTS, max_size=4), LEAST)
def test_sentences_compared_together_and_one_by_one_are_alike(
    sentences: list[str], texts: list[str], least: float
) -> None:
    embedder = Counting()
    both = similarity(*texts, embedder=embedder)
    both.prepare(sentences, least)
    assert len(embedder.texts) == len(set(embedder.texts))
    for sentence in sentences:
        alone = similarity(*texts)
        assert list(both.most_similar(sentence, range(len(texts)), least)) == list(
            alone.most_similar(sentence, range(len(texts)), least)
        )
