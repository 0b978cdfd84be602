"""What the metrics of an evaluation share: loaded when the first of them needs it, once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from storm_pipeline.assets import EMBEDDER, catalogue, fetch

if TYPE_CHECKING:
    from storm_pipeline.evaluation.judges.base import Remembering
    from storm_pipeline.evaluation.judges.grading import GradingJudge
    from storm_pipeline.evaluation.judges.model import JudgeModel
    from storm_pipeline.evaluation.metrics.entities import EntityTagger
    from storm_pipeline.retrieval.embedder import Embedder
    from storm_pipeline.settings import Settings


@dataclass(frozen=True)
class Resources:
    """What metrics are made from.

    An embedder is ``all-MiniLM-L6-v2``, the pinned one, or folder or hub name of a sentence-transformers model.

    Attributes:
        cache: the cache folder; what is fetched goes below it.
        heading_embedder: for heading soft recall, which the paper has by ``paraphrase-MiniLM-L6-v2``.
        embedder: for all else.
        tagger: ``flair:NAME``, ``flair:FILE``, ``spacy:NAME`` or ``spacy:FOLDER``, where the name may be that of a
            pinned download; the paper's is ``flair:ner``.
        wordnet: folder of WordNet's files; None looks in NLTK's and Debian's places.
        judge: of support: ``screen``, ``nli:NAME``, ``nli:FOLDER`` or ``lm:MODEL``.
        judge_lm: the language model that grades.
        judge_form: of its prompts: ``plain`` or ``prometheus``.
        conner: name of a seam → model, where CONNER's are not those that work offline, see
            :class:`storm_pipeline.evaluation.conner.opening.ModelNames`.
        settings: what else judges are opened with; its endpoint and key are those of the model ``lm``, and of no other.
    """

    cache: Path = Path("cache")
    heading_embedder: str = EMBEDDER
    embedder: str = EMBEDDER
    tagger: str = "spacy:en_core_web_sm"
    wordnet: Path | None = None
    judge: str = "screen"
    judge_lm: str = "embedded"
    judge_form: Literal["plain", "prometheus"] = "plain"
    conner: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def heading_vectors(self) -> "Embedder":
        """The embedder of headings in float32: eight bits move a soft recall by up to a point.

        Raises:
            AssetError: the pinned one is absent and cannot be fetched.
        """
        from storm_pipeline.retrieval.embedder import CachingEmbedder, SentenceTransformerEmbedder

        name = self.heading_embedder
        model = fetch(name, self.cache) if name == EMBEDDER else name
        return CachingEmbedder(SentenceTransformerEmbedder(model, cache=self.cache / "models" / "hub"))

    @cached_property
    def vectors(self) -> "Embedder":
        """The embedder, with a memory.

        Raises:
            AssetError: the pinned one is absent and cannot be fetched.
        """
        from storm_pipeline.retrieval.embedder import CachingEmbedder, open_embedder

        return CachingEmbedder(open_embedder(self.embedder, self.cache))

    @cached_property
    def entity_tagger(self) -> "EntityTagger":
        """The tagger, with a memory.

        Raises:
            AssetError: it is a pinned one, absent, and cannot be fetched.
            MissingExtraError: its library is not installed.
            MetricError: its model cannot be loaded.
        """
        from storm_pipeline.evaluation.metrics.entities import RememberingTagger
        from storm_pipeline.evaluation.metrics.taggers import open_tagger

        kind, _, model = self.tagger.partition(":")
        pinned = model in {asset.name for asset in catalogue()}
        spec = f"{kind}:{fetch(model, self.cache)}" if pinned else self.tagger
        return RememberingTagger(open_tagger(spec, cache=self.cache / "models" / "flair"))

    @cached_property
    def support_judge(self) -> "Remembering":
        """The judge of support, with a memory; its verdicts are shared by both families of citation metrics.

        Raises:
            SettingsError: there is no such judge.
            MetricError, AssetError: what it needs cannot be loaded.
        """
        from storm_pipeline.evaluation.judges.base import Remembering
        from storm_pipeline.evaluation.judges.opening import open_support_judge

        return Remembering.of(open_support_judge(self.judge, self._settings(self.judge.partition(":")[2])))

    @cached_property
    def judge_model(self) -> "JudgeModel":
        """The language model that judges, at temperature 0; errors as :attr:`support_judge`."""
        from storm_pipeline.evaluation.judges.model import open_judge

        return open_judge(self.judge_lm, self._settings(self.judge_lm))

    @cached_property
    def grader(self) -> "GradingJudge":
        """The language model as a grader by rubrics; errors as :attr:`support_judge`."""
        from storm_pipeline.evaluation.judges.grading import LanguageModelGrader
        from storm_pipeline.evaluation.judges.model import open_judge

        return LanguageModelGrader(open_judge(self.judge_lm, self._settings(self.judge_lm), form=self.judge_form))

    def _settings(self, judge: str) -> "Settings":
        from storm_pipeline.settings import Settings

        own = Settings.build({**self.settings, "cache": self.cache, "embedder": self.embedder})
        return own if judge == own.lm else own.model_copy(update={"api_base": None, "api_key_env": None})
