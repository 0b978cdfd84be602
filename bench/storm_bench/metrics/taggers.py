"""Named entities of texts: by FLAIR as in the paper, or by spaCy where FLAIR's weights are not available."""

import os
import re
import threading
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from storm_bench.caching import BatchCache
from storm_bench.errors import MetricError
from storm_bench.metrics.base import import_optional
from storm_pipeline import SettingsError
from storm_pipeline.api import loading, local_folder

_BATCH = 32
_PICKLES = "STORM_PICKLED_MODELS"
_IGNORED_TYPES = {"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"}
"""Entity types of spaCy's English models with no counterpart among FLAIR's four (PER, LOC, ORG, MISC)."""
_UNUSED_COMPONENTS = ["tagger", "parser", "attribute_ruler", "lemmatizer", "senter", "morphologizer"]
_ARTICLE_OR_POSSESSIVE = re.compile(r"^(?:the|an?) |['’]s?$")
"""Articles and possessive endings, which spaCy includes in a mention and FLAIR does not."""


class EntityTagger(Protocol):
    """Finds the named entities of texts. Called from several threads at once.

    ``name`` identifies library and model, because values by different taggers are not comparable. ``entities`` returns
    the distinct lower-cased mentions of each text, in order.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    def entities(self, texts: Sequence[str]) -> list[frozenset[str]]: ...  # noqa: D102


class CachingTagger:
    """Caches the entities of recent texts: a topic's human article is compared with many systems' articles.

    ``size``: number of cached texts, >= 1; the oldest are dropped first.
    """

    def __init__(self, tagger: EntityTagger, size: int = 1 << 16) -> None:
        self.name = tagger.name
        self._cached = BatchCache(tagger.entities, size)

    def entities(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """Return the entities of each text, in order; equal texts are tagged once."""
        return self._cached(texts)


def entity_recall(truth: Iterable[str], produced: Iterable[str]) -> float | None:
    """Return |G ∩ P| / |G| of two sets of entities, in [0, 1]; None if the truth is empty.

    The paper's script gives 1 in that case, which raises every system's mean by the share of such topics.
    """
    wanted = frozenset(truth)
    return len(wanted & frozenset(produced)) / len(wanted) if wanted else None


def entities_of(tagger: EntityTagger, texts: Sequence[str]) -> frozenset[str]:
    """Return the union of the entities of several texts."""
    return frozenset[str]().union(*tagger.entities(texts))


class FlairTagger:
    """A FLAIR sequence tagger (Akbik et al. 2019), as used in the paper.

    FLAIR models are pickles, which run code when they are loaded: :func:`open_tagger` asks for the user's word first.

    ``model``: argument of ``SequenceTagger.load``: a name such as ``ner``, downloaded from the model hub, or a file.
    Raises MissingExtraError: FLAIR is not installed; MetricError: the model cannot be loaded.
    """

    def __init__(self, model: str | Path = "ner", *, cache: Path | None = None) -> None:
        file = local_folder(model)
        self.name = f"flair:{Path(model).name}"
        self._lock = threading.Lock()
        flair = import_optional("flair")
        self._sentence = import_optional("flair.data").Sentence
        if cache is not None:
            flair.cache_root = cache
        remedy = "give the name of a FLAIR model, such as 'ner' (needs network), or a model file"
        with loading(f"FLAIR cannot load the tagger {str(model)!r}", remedy, MetricError):
            self._model: Any = import_optional("flair.models").SequenceTagger.load(str(file or model))

    def entities(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """Return the mentions as tagged by the model; each text is treated as one sentence."""
        sentences = [self._sentence(_encodable(text)) for text in texts]
        with self._lock:
            self._model.predict([sentence for sentence in sentences if len(sentence)], mini_batch_size=_BATCH)
        kind = self._model.label_type
        return [frozenset(span.text.lower() for span in sentence.get_spans(kind)) for sentence in sentences]


class SpacyTagger:
    """A spaCy pipeline, as a substitute for FLAIR.

    Adapted to FLAIR's output: numbers and times are dropped, and so are leading articles and possessive endings.

    Raises:
        MissingExtraError: spaCy is not installed.
        MetricError: the pipeline cannot be loaded, or finds no entities.
    """

    def __init__(self, model: str | Path = "en_core_web_sm") -> None:
        spacy = import_optional("spacy")
        self._lock = threading.Lock()
        remedy = "give the folder of one, or install it with `python -m spacy download en_core_web_sm`"
        with loading(f"spaCy cannot load the pipeline {str(model)!r}", remedy, MetricError), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # every package with a spaCy component may warn
            self._pipeline: Any = spacy.load(local_folder(model) or model, exclude=_UNUSED_COMPONENTS)
        if not {"ner", "entity_ruler"} & set(self._pipeline.pipe_names):
            raise MetricError(f"the spaCy pipeline {str(model)!r} has no 'ner' component; use one that has")
        meta = self._pipeline.meta
        self.name = f"spacy:{meta['lang']}_{meta['name']}-{meta['version']}"

    def entities(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """Return lower-case mentions of persons, groups, places, organisations, works, events, laws and the like."""
        with self._lock:
            documents = list(self._pipeline.pipe([_encodable(text) for text in texts]))
        return [
            frozenset(
                _ARTICLE_OR_POSSESSIVE.sub("", " ".join(mention.text.lower().split()))
                for mention in document.ents
                if mention.label_ not in _IGNORED_TYPES
            )
            for document in documents
        ]


def open_tagger(spec: str, *, cache: Path | None = None) -> EntityTagger:
    """Open a tagger: ``flair:NAME``, ``flair:FILE``, ``spacy:NAME`` or ``spacy:FOLDER``.

    Raises:
        SettingsError: the specification has another form, or the user has not named FLAIR's model as trusted.
        MissingExtraError: the library is not installed.
        MetricError: the model cannot be loaded.
    """
    kind, _, model = spec.partition(":")
    if kind == "flair" and model:
        if spec not in {part.strip() for part in os.environ.get(_PICKLES, "").split(",")}:
            raise SettingsError(
                f"{spec!r} is a pickle, which can run any code when it is loaded: if you trust where it comes from, "
                f"set the environment variable {_PICKLES}={spec}"
            )
        return FlairTagger(model, cache=cache)
    if kind == "spacy" and model:
        return SpacyTagger(model)
    raise SettingsError(f"unknown entity tagger {spec!r}: use flair:NAME, flair:FILE, spacy:NAME or spacy:FOLDER")


def _encodable(text: str) -> str:
    """Return the text with lone surrogates replaced, which tokenizers reject."""
    return text.encode("utf-8", "replace").decode("utf-8")
