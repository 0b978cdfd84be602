"""The judge of ALCE and WikiGenBench: TRUE's T5 (Honovich et al. 2022), a sequence-to-sequence entailment model."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from storm_bench.errors import MetricError
from storm_bench.judges.pretrained import load_trained, model_name
from storm_pipeline.api import loading, local_folder, options_without_code
from storm_pipeline.judges.base import Parameters, Question, Verdict, label_of

_OVERLAP = 32  # tokens shared by neighbouring windows of a long premise
_LONGEST = 512  # tokens of a premise and a claim, at most
_ANSWERS = ("1", "0")  # for entailment, and for none


class TrueJudge:
    """Asks ``premise: … hypothesis: …``, answered by ``1`` or ``0``, such as ``google/t5_xxl_true_nli_mixture``.

    The probability is that of the token in which ``1`` first differs from ``0``, among these two; a premise that does
    not fit is judged in windows and gets its best window's. The model is loaded on first use.

    Args:
        model: a folder (as for ``local_folder``), or a name on the model hub.
        threshold: minimum probability of a supported claim, in [0, 1].
        batch_size: windows per forward pass, >= 1.
        cache: folder for models from the hub; default: the library's own.
    """

    def __init__(
        self, model: str | Path, *, threshold: float = 0.5, batch_size: int = 16, cache: Path | None = None
    ) -> None:
        self.threshold = threshold
        self.name = f"true:{model_name(model)}"
        self._source, self._batch_size, self._cache = str(local_folder(model) or model), batch_size, cache
        self._loaded: tuple[Any, Any] | None = None
        self._lock = threading.Lock()  # fast tokenizers cannot change their padding while another thread uses them

    @property
    def parameters(self) -> Parameters:
        """The threshold."""
        return {"threshold": self.threshold}

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """As :class:`~storm_pipeline.judges.base.Judge`.

        Raises:
            MetricError: the model cannot be loaded, has no trained head, or cannot distinguish its answers.
        """
        scores = [0.0] * len(questions)
        with self._lock:
            asked = [(i, ids) for i, one in enumerate(questions) if one.has_words for ids in self._prompts(one)]
            asked.sort(key=lambda one: -len(one[1]))  # prompts of similar length share a batch
            for start in range(0, len(asked), self._batch_size):
                batch = asked[start : start + self._batch_size]
                for (i, _), score in zip(batch, self._scores([ids for _, ids in batch]), strict=True):
                    scores[i] = max(scores[i], score)
        return [Verdict(label_of(score, self.threshold), score) for score in scores]

    def _prompts(self, question: Question) -> Iterator[list[int]]:
        """The prompt's tokens for each window of the passages."""
        _, tokenizer = self._model()
        longest = int(min(tokenizer.model_max_length, _LONGEST))
        claim = " ".join(question.claim.split()[: longest // 4])
        parts = ("premise:", "\n".join(question.passages), f"hypothesis: {claim}")
        before, passage, after = (_ids(tokenizer, part) for part in parts)
        end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
        room = max(1, longest - len(before) - len(after) - len(end))
        step = max(1, room - min(_OVERLAP, room // 8))
        for start in range(0, max(1, len(passage) - room + step), step):
            yield [*before, *passage[start : start + room], *after, *end]

    def _scores(self, prompts: Sequence[list[int]]) -> list[float]:
        import torch

        model, tokenizer = self._model()
        yes, no = (_ids(tokenizer, answer) for answer in _ANSWERS)
        at = next((i for i, (a, b) in enumerate(zip(yes, no, strict=False)) if a != b), -1)
        if at < 0 or tokenizer.unk_token_id in (yes[at], no[at]):
            raise MetricError(
                f"the tokenizer of {self._source!r} cannot distinguish the answers {' and '.join(_ANSWERS)}"
            )
        inputs = tokenizer.pad({"input_ids": list(prompts)}, return_tensors="pt")
        begun = [model.config.decoder_start_token_id, *yes[:at]]
        with torch.inference_mode():
            logits = model(**inputs, decoder_input_ids=torch.tensor([begun] * len(prompts))).logits[:, -1]
        return list(map(float, logits[:, [yes[at], no[at]]].softmax(dim=-1)[:, 0]))

    def _model(self) -> tuple[Any, Any]:
        if self._loaded is None:
            from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

            remedy = "give the folder or hub name of a sequence-to-sequence model such as TRUE's, with its tokenizer"
            with loading(f"the judge {self._source!r} cannot be loaded", remedy, MetricError):
                options = options_without_code(self._source, self._cache)
                trained = "judge", "on natural language inference"
                model = load_trained(AutoModelForSeq2SeqLM, self._source, *trained, **options)
                self._loaded = model, AutoTokenizer.from_pretrained(self._source, use_fast=True, **options)
        return self._loaded


def _ids(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])
