"""A support judge that uses an entailment model: the passage is the premise, the claim the hypothesis."""

from collections.abc import Sequence
from pathlib import Path

from storm_bench.judges.base import Pair, Parameters
from storm_bench.judges.entailment_models import EntailmentModel, load_entailment_model
from storm_bench.judges.pretrained import model_name


class EntailmentJudge:
    """A transformers model trained on natural language inference.

    Either a sequence classifier with two or three classes, of which ``id2label`` names entailment, or a
    sequence-to-sequence model with TRUE's prompt and answers (``google/t5_xxl_true_nli_mixture``, the judge of ALCE and
    WikiGenBench). The score is the probability of entailment; a premise that does not fit is judged in windows and gets
    its best window's score. The model is loaded on first use.

    Args:
        model: a local folder, or a name on the model hub.
        threshold: minimum probability of a supported claim, in [0, 1].
        batch_size: windows per forward pass, >= 1.
        cache: folder for models from the hub; default: the library's own.
    """

    def __init__(
        self, model: str | Path, *, threshold: float = 0.5, batch_size: int = 16, cache: Path | None = None
    ) -> None:
        self.threshold = threshold
        self.name = f"nli:{model_name(model)}"
        self._source = str(model)
        self._batch_size = batch_size
        self._cache = cache
        self._model: EntailmentModel | None = None

    @property
    def parameters(self) -> Parameters:
        """The model and the threshold."""
        return {"model": self.name.removeprefix("nli:"), "threshold": self.threshold}

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """As :class:`~storm_bench.judges.base.SupportJudge`; an empty passage scores 0.

        Raises:
            MetricError: the model cannot be loaded, is not trained for the task, or its labels do not name entailment.
        """
        found = [0.0] * len(pairs)
        asked = [i for i, pair in enumerate(pairs) if pair.passage.strip()]
        if not asked:
            return found
        if self._model is None:
            self._model = load_entailment_model(self._source, cache=self._cache)
        asked.sort(key=lambda i: -len(pairs[i].passage))  # passages of similar length share a batch
        for start in range(0, len(asked), self._batch_size):
            batch = asked[start : start + self._batch_size]
            for i, score in self._model.windows([pairs[j] for j in batch], self._batch_size):
                found[batch[i]] = max(found[batch[i]], score)
        return found
