"""Resources that an evaluation's metrics share, each loaded once, on first use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from storm_pipeline import Settings
from storm_pipeline.api import catalogue, fetch

if TYPE_CHECKING:
    from storm_bench.judges.base import CachingJudge
    from storm_bench.judges.grading import LanguageModelGrader
    from storm_bench.judges.model_judge import JudgeModel
    from storm_bench.judges.screen import SimilarityJudge
    from storm_bench.metrics.conner import ConnerModels
    from storm_bench.metrics.taggers import EntityTagger
    from storm_pipeline.evidence.judges.capped import JudgingAccount
    from storm_pipeline.evidence.retrieval.embedder import Embedder

_PINNED = "all-MiniLM-L6-v2"
SCREEN = "screen"


def named_judge(judge: str, judge_lm: str) -> str:
    """Return the judge of support that was named, if only as the model that grades; empty if none was."""
    return judge or (f"lm:{judge_lm}" if judge_lm != Resources.judge_lm else "")


@dataclass(frozen=True)
class Resources:
    """Models and data that metrics use, each opened on first use.

    Opening one raises SettingsError: a name is unknown; AssetError: a pinned model is absent and cannot be fetched;
    MissingExtraError: its library is not installed; MetricError: it cannot be loaded. Embedders are the pinned
    ``all-MiniLM-L6-v2``, or the folder or hub name of a sentence-transformers model.
    """

    cache: Path = field(default_factory=lambda: Settings.build({}).cache)  # the cache folder, also for downloads
    heading_embedder: str = _PINNED  # embedder for heading soft recall; the paper uses ``paraphrase-MiniLM-L6-v2``
    embedder: str = _PINNED  # embedder for everything else
    # ``flair:NAME``, ``flair:FILE``, ``spacy:NAME`` or ``spacy:FOLDER``; the name may be a pinned download. The
    # paper uses ``flair:ner``.
    tagger: str = "spacy:en_core_web_sm"
    wordnet: Path | None = None  # the folder ``nltk_data`` with WordNet; None: where NLTK looks
    # support judge: ``screen``, ``nli:NAME``, ``true:NAME`` (or a folder) or ``lm:MODEL``; empty for ``judge_lm``
    # where another model than the embedded one is named. Else there is none: the screen scores, and reports show
    # no figures of it, since it is what checks articles while they are written.
    judge: str = ""
    judge_lm: str = "embedded"  # language model that grades and answers
    judge_form: Literal["plain", "prometheus"] = "plain"  # format of grading prompts: ``plain`` or ``prometheus``
    # ``inference``, ``matching`` or ``lm`` → model, where CONNER's differ from those that work offline; see
    # :func:`storm_bench.metrics.conner.open_models`
    conner: Mapping[str, str] = field(default_factory=dict)
    # which headings of an article are scored, see :data:`.texts.HeadingsOf`; ``article`` where some methods make
    # no outline
    headings: Literal["outline", "article"] = "outline"
    # other settings of judges; endpoint and key apply only to the model ``lm``
    settings: Mapping[str, object] = field(default_factory=dict)
    spending: Path | None = None  # file that keeps what language models that judge have spent; None: nothing is kept

    @cached_property
    def heading_vectors(self) -> "Embedder":
        """The embedder of headings."""
        return self._embedder(self.heading_embedder)

    @cached_property
    def vectors(self) -> "Embedder":
        """The embedder, with a cache."""
        return self._embedder(self.embedder)

    @cached_property
    def entity_tagger(self) -> "EntityTagger":
        """The tagger, with a cache."""
        from storm_bench.metrics.taggers import CachingTagger, open_tagger

        kind, _, model = self.tagger.partition(":")
        pinned = model in {asset.name for asset in catalogue()}
        spec = f"{kind}:{fetch(model, self.cache)}" if pinned else self.tagger
        return CachingTagger(open_tagger(spec, cache=self.cache / "models" / "flair"))

    @cached_property
    def support_judge(self) -> "CachingJudge":
        """The support judge, with a cache that both families of citation metrics share."""
        return self._open_judge(self.named_judge or SCREEN)

    @property
    def named_judge(self) -> str:
        """As :func:`named_judge` says."""
        return named_judge(self.judge, self.judge_lm)

    @cached_property
    def statement_screen(self) -> "SimilarityJudge":
        """The screen of statements over the embedder."""
        from storm_bench.judges.screen import SimilarityJudge
        from storm_bench.metrics.statements import STATED

        return SimilarityJudge(self.vectors, threshold=STATED)

    @cached_property
    def conner_models(self) -> "ConnerModels":
        """CONNER's models, see :func:`storm_bench.metrics.conner.open_models`."""
        from storm_bench.metrics.conner import open_models

        return open_models(self.conner, self._open_judge, self.vectors, self.cache)

    @cached_property
    def judge_model(self) -> "JudgeModel":
        """The language model that judges, at temperature 0."""
        from storm_bench.judges.model_judge import open_judge

        return open_judge(self.judge_lm, self._settings(self.judge_lm), self._account)

    @cached_property
    def grader(self) -> "LanguageModelGrader":
        """The judge model as a grader by rubrics."""
        from storm_bench.judges.grading import LanguageModelGrader
        from storm_bench.judges.model_judge import open_judge

        if self.judge_form == "plain":
            return LanguageModelGrader(self.judge_model)
        own = self._settings(self.judge_lm)
        return LanguageModelGrader(open_judge(self.judge_lm, own, self._account, form=self.judge_form))

    def asks_language_model(self, needs: Sequence[str]) -> bool:
        """Return whether what is made of these attributes may ask a language model, which has a cap."""
        judges = [self.named_judge] if "support_judge" in needs else []
        judges += self.conner.values() if "conner_models" in needs else []
        return not {"judge_model", "grader"}.isdisjoint(needs) or any(judge.startswith("lm:") for judge in judges)

    @cached_property
    def _account(self) -> "JudgingAccount":
        from storm_pipeline.evidence.judges.capped import JudgingAccount

        return JudgingAccount(self._settings(""), self.spending)

    def _embedder(self, name: str) -> "Embedder":
        from storm_pipeline.evidence.retrieval.embedder import CachingEmbedder, shared_embedder

        return CachingEmbedder(shared_embedder(name, self.cache))

    def _open_judge(self, name: str) -> "CachingJudge":
        from storm_bench.judges.base import CachingJudge
        from storm_bench.judges.model_judge import LanguageModelJudge
        from storm_bench.judges.open_judge import open_support_judge

        if name == f"lm:{self.judge_lm}":
            return CachingJudge.of(LanguageModelJudge(self.judge_model))
        return CachingJudge.of(open_support_judge(name, self._settings(name.partition(":")[2]), self._account))

    def _settings(self, judge: str) -> "Settings":
        own = Settings.build({**self.settings, "cache": self.cache, "embedder": self.embedder})
        return own if judge == own.lm else own.model_copy(update={"api_base": None, "api_key_env": None})
