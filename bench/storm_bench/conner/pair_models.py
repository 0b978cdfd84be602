"""Models of two texts: natural language inference for factuality and validity, rankers for relevance."""

from collections.abc import Sequence
from pathlib import Path

from storm_bench.conner.perspectives import Entailment
from storm_bench.errors import MetricError
from storm_bench.judges.base import Pair, scores_of
from storm_bench.judges.pretrained import PairClassifier
from storm_pipeline.judges.base import Judge
from storm_pipeline.retrieval.embedder import Embedder


class NliModel:
    """A sequence classifier of transformers whose three labels are entailment, neutral and contradiction.

    Which label means what stands in the model's own configuration (``id2label``). A premise that is too long for the
    model is cut at its end.
    """

    def __init__(self, model: str | Path, *, cache: Path | None = None) -> None:
        self._model = PairClassifier(model, "inference model", "on natural language inference", cache=cache)
        self.name = f"nli:{self._model.name}"

    def verdicts(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """As :class:`.perspectives.Inference`.

        Raises MetricError: the model cannot be loaded, has no trained head, or its labels are not the three.
        """
        if not pairs:
            return []
        labels = {label.strip().lower(): int(place) for place, label in self._model.config.id2label.items()}
        try:
            places = [labels[name] for name in ("entailment", "neutral", "contradiction")]
        except KeyError as error:
            raise MetricError(
                f"no label of {self._model.source!r} is called {error} (there are {', '.join(labels)}): give a model "
                "trained on natural language inference, or name its labels in id2label of its config.json"
            ) from error
        batches = self._model.logits([(pair.passage, pair.claim) for pair in pairs])
        shares = [row for logits in batches for row in logits.softmax(dim=-1).tolist()]
        return [Entailment(*(row[place] for place in places)) for row in shares]


class SupportInference:
    """Stand-in: a judge of support (two outcomes) in place of an NLI model (three).

    The judge's score is ``entailed``, the rest is ``neutral``; ``refuted`` is always 0, because such a judge cannot
    tell a contradiction from a missing statement.
    """

    def __init__(self, judge: Judge) -> None:
        self.name = f"stand-in:{judge.name}"
        self._judge = judge

    def verdicts(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """As :class:`.perspectives.Inference`."""
        return [Entailment(score, 1 - score, 0.0) for score in scores_of(self._judge, pairs)]


class CrossEncoder:
    """A BERT ranker (Nogueira et al. 2019): a sequence classifier of transformers over query and text.

    With two labels the score is the probability of the second (relevant), as monoBERT has it; with one label it is the
    logistic function of the logit. Arguments as for :class:`NliModel`.
    """

    def __init__(self, model: str | Path, *, cache: Path | None = None) -> None:
        self._model = PairClassifier(model, "ranker", "to rank passages", cache=cache)
        self.name = f"ranker:{self._model.name}"

    def matches(self, query: str, texts: Sequence[str]) -> list[float]:
        """As :class:`.perspectives.Matching`.

        Raises MetricError: the model cannot be loaded, has no trained head, or has more than two labels.
        """
        if (labels := self._model.config.num_labels) > 2:
            raise MetricError(
                f"{self._model.source!r} has {labels} labels: a ranker has one, or two of which the second means "
                "relevant"
            )
        found: list[float] = []
        for logits in self._model.logits([(query, text) for text in texts]):
            found += (logits.softmax(dim=-1)[:, 1] if labels == 2 else logits[:, 0].sigmoid()).tolist()
        return found


class CosineMatching:
    """Stand-in for the BERT ranker: the cosine of sentence vectors, negative ones counted as 0."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = f"stand-in:cosine:{embedder.name}"
        self._embedder = embedder

    def matches(self, query: str, texts: Sequence[str]) -> list[float]:
        """As :class:`.perspectives.Matching`."""
        vectors = self._embedder.embed([query, *texts])
        return [min(1.0, max(0.0, float(cosine))) for cosine in vectors[1:] @ vectors[0]]
