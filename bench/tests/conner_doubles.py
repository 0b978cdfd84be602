"""Test doubles of CONNER's models: they answer by a script."""

from collections.abc import Callable, Sequence

from storm_bench.conner.perspectives import Entailment
from storm_bench.judges.base import Pair


class ScriptedInference:
    """A test double: the verdict of a premise and a hypothesis is what a function says."""

    name = "test double"

    def __init__(self, script: Callable[[str, str], Entailment]) -> None:
        self._script = script

    def verdicts(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """The script's verdicts."""
        return [self._script(pair.passage, pair.claim) for pair in pairs]


class ScriptedMatching:
    """A test double: the match of a query and a text is what a function says."""

    name = "test double"

    def __init__(self, script: Callable[[str, str], float]) -> None:
        self._script = script

    def matches(self, query: str, texts: Sequence[str]) -> list[float]:
        """The script's scores."""
        return [self._script(query, text) for text in texts]


class ScriptedDiscourse:
    """A test double: the coherence of a paragraph is what a function of its sentences says."""

    name = "test double"

    def __init__(self, script: Callable[[Sequence[str]], float]) -> None:
        self._script = script

    def coherences(self, paragraphs: Sequence[Sequence[str]]) -> list[float]:
        """The script's scores."""
        return [self._script(paragraph) for paragraph in paragraphs]


class ScriptedLogProbabilities:
    """A test double: a token is a word, and its log-probability is what a function of context and word says."""

    name = "test double"

    def __init__(self, script: Callable[[str, str], float]) -> None:
        self._script = script

    def log_probabilities(self, context: str, text: str) -> list[float]:
        """The script's values, one a word."""
        return [self._script(context, word) for word in text.split()]
