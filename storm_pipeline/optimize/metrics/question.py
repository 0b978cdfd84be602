"""Questions of an interview: whether they lead to what the article has and the conversation has not yet."""

import dspy
import numpy as np

from storm_pipeline.languages import split_sentences
from storm_pipeline.optimize.metrics.base import Examples, Metric, as_metric, names_in
from storm_pipeline.references.facts import names_topic
from storm_pipeline.references.similarity import Embed

_NEAREST = 5  # sentences of the article that a question is taken to yield
_NAMES = 6  # new names and numbers in them that are enough
_SAME = 0.85  # cosine from which a question was asked before
_LONGEST = 45
_WITHOUT_TOPIC, _REPEATED = 0.7, 0.4  # factors of questions that do not name the topic, and of repeated ones


def question_metric(embed: Embed, _: Examples = ()) -> Metric:
    """The mean of two shares: of the nearest sentences that were not told yet, and of new names and numbers in them.

    The sentences are those of the human article nearest to the question, by cosine. Nothing for what is no question.
    """

    def score(gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
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

    return as_metric(score)
