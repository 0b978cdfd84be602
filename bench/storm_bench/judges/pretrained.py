"""Pretrained models on the CPU: TRUE's T5, a judge of support, and any causal model, for log-probabilities."""

import inspect
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from storm_bench.errors import MetricError
from storm_bench.judges.base import Parameters
from storm_pipeline.api import loading, local_folder, options_without_code, torch_threads
from storm_pipeline.evidence.judges.base import Question, Verdict, label_of

_THREADS = 2
_BATCH = 16


class Pretrained:
    """A model of transformers and its tokenizer, loaded on first use; from safetensors, without code of its files.

    ``model``: a folder (as for ``local_folder``), or a name on the model hub; ``cache``: where a model from the hub is
    kept; default: the library's own place.
    """

    kind = ""
    """The class of transformers that loads it."""

    def __init__(self, model: str | Path, *, cache: Path | None = None) -> None:
        path = local_folder(Path(model) if str(model).endswith(".gguf") else model)
        self._source, self._cache = str(path or model), cache
        self.name = str(model) if path is None else path.stem if path.suffix == ".gguf" else path.name

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """Load model and tokenizer; refused where the files lack weights, which transformers would draw at random."""
        import transformers

        file = Path(self._source) if self._source.endswith(".gguf") else None
        source = str(file.parent) if file else self._source
        remedy = f"give a folder with a model and its tokenizer that {self.kind} loads, or the name of one on the hub"
        with loading(f"the model {self._source!r} cannot be loaded", remedy, MetricError):
            options = options_without_code(source, self._cache) | ({"gguf_file": file.name} if file else {})
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
            load = getattr(transformers, self.kind).from_pretrained
            model, found = load(source, output_loading_info=True, weights_only=True, dtype="float32", **options)
        if missing := sorted(found["missing_keys"]):
            raise MetricError(
                f"the model {self._source!r} has no weights for {', '.join(missing)}, so its scores would be random: "
                "give a trained one"
            )
        return model.eval(), tokenizer


class TrueJudge(Pretrained):
    """The judge of ALCE and WikiGenBench (Honovich et al. 2022), such as ``google/t5_xxl_true_nli_mixture``.

    The model answers ``premise: … hypothesis: …`` by ``1`` or ``0``; the probability is that of the token in which the
    two first differ. As in the official code nothing is cut.

    ``threshold``: minimum probability of a supported claim, in [0, 1].
    """

    kind = "AutoModelForSeq2SeqLM"

    def __init__(self, model: str | Path, *, threshold: float = 0.5, cache: Path | None = None) -> None:
        super().__init__(model, cache=cache)
        self.name, self.threshold = f"true:{self.name}", threshold
        self._lock = threading.Lock()  # fast tokenizers cannot change their padding while another thread uses them

    @property
    def parameters(self) -> Parameters:
        """The threshold."""
        return {"threshold": self.threshold}

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """As :class:`~storm_pipeline.evidence.judges.base.Judge`. Raises MetricError: the model cannot be loaded."""
        asked = [i for i, question in enumerate(questions) if question.has_words]
        prompts = [f"premise: {' '.join(questions[i].passages)} hypothesis: {questions[i].claim}" for i in asked]
        found = dict.fromkeys(range(len(questions)), 0.0)
        with self._lock:
            for start in range(0, len(asked), _BATCH):
                scores = self._scores(prompts[start : start + _BATCH])
                found |= zip(asked[start : start + _BATCH], scores, strict=True)
        return [Verdict(label_of(score, self.threshold), score) for score in found.values()]

    def _scores(self, prompts: Sequence[str]) -> list[float]:
        import torch

        model, tokenizer = self._loaded
        yes, no = (tokenizer(answer, add_special_tokens=False).input_ids for answer in "10")
        at = next(i for i, (a, b) in enumerate(zip(yes, no, strict=True)) if a != b)
        inputs = tokenizer(list(prompts), padding=True, return_tensors="pt", return_token_type_ids=False)
        begun = [model.config.decoder_start_token_id, *yes[:at]]
        with torch_threads.limited_to(_THREADS), torch.inference_mode():
            logits = model(**inputs, decoder_input_ids=torch.tensor([begun] * len(prompts))).logits[:, -1]
        return [float(share) for share in logits[:, [yes[at], no[at]]].softmax(dim=-1)[:, 0]]


class CausalModel(Pretrained):
    """A causal language model in float32, which scores one text a pass.

    Context and text become tokens apart, and every token of the text counts. Without a context the text follows the
    model's start token (its end token where it has no other, as GPT-2 was trained); without either, the first token
    is not scored. A context that does not fit the model's window loses its beginning, a text its end. The model may
    also be a ``.gguf`` file, unpacked at each loading, which takes minutes, by the package ``gguf``.
    """

    kind = "AutoModelForCausalLM"

    def log_probabilities(self, context: str, text: str) -> list[float]:
        """Return the natural logarithm of P(token | context, tokens before) for each token of the text, each <= 0.

        Raises MetricError: the model cannot be loaded, or lacks weights.
        """
        import torch

        model, _ = self._loaded
        before, scored = self._tokens(context, text)
        if not scored:
            return []
        keeps = "logits_to_keep" in inspect.signature(model.forward).parameters  # saves most of the output layer
        options = {"logits_to_keep": len(scored) + 1} if keeps else {}
        with torch_threads.limited_to(_THREADS), torch.inference_mode():
            logits = model(input_ids=torch.tensor([[*before, *scored]]), use_cache=False, **options).logits[0]
            shares = logits[-len(scored) - 1 : -1].double().log_softmax(dim=-1)
            found = shares.gather(1, torch.tensor(scored)[:, None])[:, 0]
        return [min(0.0, float(value)) for value in found]

    def _tokens(self, context: str, text: str) -> tuple[list[int], list[int]]:
        """Return the tokens before the scored ones, at least one, and the scored tokens."""
        model, tokenizer = self._loaded
        before, scored = (tokenizer.encode(own, add_special_tokens=False, verbose=False) for own in (context, text))
        if tokenizer.bos_token_id is not None:
            before = [tokenizer.bos_token_id, *before]
        elif not before and tokenizer.eos_token_id is not None:
            before = [tokenizer.eos_token_id]
        elif not before:
            before, scored = scored[:1], scored[1:]
        window = getattr(model.config, "max_position_embeddings", None) or len(before) + len(scored)
        scored = scored[: window - 1]
        return before[-(window - len(scored)) :], scored
