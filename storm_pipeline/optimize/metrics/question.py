"""Questions and queries: whether they lead to what the human article has, and find what it rests on."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

import dspy
import numpy as np

from storm_pipeline.languages import split_sentences
from storm_pipeline.optimize.metrics.base import Examples, Metric, as_metric, by_itself, names_in, with_title
from storm_pipeline.references.facts import names_topic
from storm_pipeline.retrieval.embedder import Embed
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.retrieval.ranking import rank_scores

_NEAREST = 5  # sentences of the article that a question is taken to yield
_NAMES = 6  # new names and numbers in them that are enough
_SAME = 0.85  # cosine from which a question was asked before
_LONGEST = 45
_WITHOUT_TOPIC, _REPEATED = 0.7, 0.4  # factors of questions that do not name the topic, and of repeated ones
_RANKED = 50
_SHOWN = 5  # results of a query that a run would read


@by_itself
def question_metric(embed: Embed, gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
    """The mean of two shares: of the nearest sentences that were not told yet, and of new names and numbers in them.

    The sentences are those of the human article nearest to the question, by cosine. Nothing for what is no question.
    """
    question = " ".join(str(pred.question).split())
    if "?" not in question or len(question.split()) > _LONGEST:
        return 0.0, f"{question[:80]!r} is not one question of at most {_LONGEST} words."
    lines = str(gold.conversation).splitlines()
    asked = [line.removeprefix("Writer: ") for line in lines if line.startswith("Writer: ")]
    told = [s for line in lines if line not in asked for s in split_sentences(line.removeprefix("Expert: "), "en")]
    left = list(gold.gold.left)
    vectors = embed([question, *asked, *told, *left])
    cosines = vectors[1:] @ vectors[0]
    nearest = np.argsort(-cosines[len(asked) :], kind="stable")[:_NEAREST]
    new = [left[i - len(told)] for i in nearest if i >= len(told)]
    gained = names_in(" ".join(new)) - names_in(str(gold.conversation))
    value = (len(new) / _NEAREST + min(1.0, len(gained) / _NAMES)) / 2
    said = [f"It leads to {len(gained)} new names and numbers of the article on {gold.topic}."]
    if asked and cosines[: len(asked)].max() > _SAME:
        value *= _REPEATED
        said.append("It was asked before, in hardly other words.")
    if not names_topic(question, str(gold.topic)):
        value *= _WITHOUT_TOPIC
        said.append("It does not name the topic, so nobody can answer it alone.")
    if len(new) < _NEAREST:
        said.append(f"Untold yet, and worth asking for: {' '.join(left[:2])[:200]}")
    return value, " ".join(said)


def queries_metric(embed: Embed, examples: Examples) -> Metric:
    """The mean of recall and reciprocal rank of a section's own passages among those of all sections of all topics.

    Ranked are BM25 and cosine, fused. Recall counts the first five results of all queries together, and at most five
    passages as wanted; the reciprocal rank is that of the first own passage, averaged over the queries.
    """
    pool = list(dict.fromkeys(t for one in examples for t in (*map(with_title, one.gold.passages), *one.gold.left)))
    index, vectors = LexicalIndex([((text, 1),) for text in pool], floor=0.0), np.asarray(embed(pool))

    @lru_cache(maxsize=4096)
    def ranked(query: str) -> Sequence[str]:
        lexical = [match.position for match in islice(index.search(query), _RANKED)]
        dense = [int(i) for i in np.argsort(-(vectors @ embed([query])[0]), kind="stable")[:_RANKED]]
        fused = rank_scores([lexical, dense])
        return [pool[i] for i in sorted(fused, key=lambda i: -fused[i])]

    def score(gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
        queries = list(dict.fromkeys(" ".join(str(query).split()) for query in pred.queries))[: gold.number]
        if not any(queries):
            return 0.0, "There is no query."
        own = dict.fromkeys(map(with_title, gold.gold.passages))
        ranks = [next((rank for rank, text in enumerate(ranked(q), 1) if text in own), 0) for q in queries]
        found = {text for query in queries for text in ranked(query)[:_SHOWN]} & set(own)
        recall = len(found) / min(_SHOWN, len(own))
        told = [f"“{query}” {_placed(rank)}." for query, rank in zip(queries, ranks, strict=True)]
        if missed := [text for text in own if text not in found]:
            told.append(f"Never among the first {_SHOWN}: {missed[0][:160]}")
        return (min(1.0, recall) + sum(1 / r for r in ranks if r) / len(ranks)) / 2, " ".join(told)

    return as_metric(score)


def _placed(rank: int) -> str:
    return f"finds the first wanted passage at rank {rank}" if rank else "finds none of the wanted passages"
