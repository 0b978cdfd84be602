"""What finds named entities: FLAIR as in the paper, and spaCy where FLAIR's weights cannot be had."""

import re
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from storm_pipeline.errors import MetricError, SettingsError
from storm_pipeline.evaluation.metrics.entities import EntityTagger
from storm_pipeline.evaluation.metrics.optional import needed
from storm_pipeline.retrieval.embedder import encodable

_BATCH = 32
_UNREADABLE = (OSError, ValueError, RuntimeError, LookupError, AttributeError, EOFError, TypeError, UnpicklingError)
_NO_NAMES = {"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"}
"""Types of spaCy's English models that the four types of FLAIR's (persons, places, organisations, other) lack."""
_UNUSED = ["tagger", "parser", "attribute_ruler", "lemmatizer", "senter", "morphologizer"]
_FRAME = re.compile(r"^(?:the|an?) |['’]s?$")
"""What spaCy counts to a name and FLAIR does not."""


class FlairTagger:
    """A sequence tagger of FLAIR (Akbik et al. 2019), which the paper counts entities with.

    FLAIR keeps its models pickled: load only those whose makers you trust.

    Args:
        model: what ``SequenceTagger.load`` takes: a name such as ``ner``, fetched from the model hub, or a file.
        cache: where models are kept that FLAIR fetches; default: the library's own place.

    Raises:
        MissingExtraError: FLAIR is not installed.
        MetricError: the model cannot be loaded.
    """

    def __init__(self, model: str | Path = "ner", *, cache: Path | None = None) -> None:
        self.name = f"flair:{Path(model).name}"
        self._lock = threading.Lock()
        flair = needed("flair", "flair")
        self._sentence = needed("flair.data", "flair").Sentence
        if cache is not None:
            flair.cache_root = cache
        try:
            self._model: Any = needed("flair.models", "flair").SequenceTagger.load(str(model))
        except _UNREADABLE as error:
            raise MetricError(
                f"FLAIR cannot load the tagger {str(model)!r} ({_first_line(error)}): "
                "give a name that it knows, such as 'ner', with a network, or the file of a model"
            ) from error

    def entities(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """Mentions as the model marks them; one text is one sentence to it."""
        sentences = [self._sentence(encodable(text)) for text in texts]
        with self._lock:
            self._model.predict([sentence for sentence in sentences if len(sentence)], mini_batch_size=_BATCH)
        kind = self._model.label_type
        return [frozenset(span.text.lower() for span in sentence.get_spans(kind)) for sentence in sentences]


class SpacyTagger:
    """A pipeline of spaCy, in place of FLAIR where that cannot be had.

    Brought near to what FLAIR marks: numbers and times are left out, and so are a leading article and a closing
    genitive.

    Args:
        model: name of an installed pipeline, or its folder.

    Raises:
        MissingExtraError: spaCy is not installed.
        MetricError: the pipeline cannot be loaded, or finds no entities.
    """

    def __init__(self, model: str | Path = "en_core_web_sm") -> None:
        spacy = needed("spacy")
        self._lock = threading.Lock()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the sources of every package that offers spaCy a component
                self._pipeline: Any = spacy.load(model, exclude=_UNUSED)
        except (OSError, ValueError, LookupError) as error:
            raise MetricError(
                f"spaCy cannot load the pipeline {str(model)!r} ({_first_line(error)}): "
                "give the folder of one, or install it with `python -m spacy download en_core_web_sm`"
            ) from error
        if not {"ner", "entity_ruler"} & set(self._pipeline.pipe_names):
            raise MetricError(f"the spaCy pipeline {str(model)!r} finds no entities; give one that has a part 'ner'")
        meta = self._pipeline.meta
        self.name = f"spacy:{meta['lang']}_{meta['name']}-{meta['version']}"

    def entities(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """Mentions of persons, groups, places, organisations, works, events, products, laws and languages."""
        with self._lock:
            documents = list(self._pipeline.pipe([encodable(text) for text in texts]))
        return [frozenset(_bare(e.text) for e in doc.ents if e.label_ not in _NO_NAMES) for doc in documents]


def open_tagger(spec: str, *, cache: Path | None = None) -> EntityTagger:
    """The tagger of a specification: ``flair:NAME``, ``flair:FILE``, ``spacy:NAME`` or ``spacy:FOLDER``.

    Raises:
        SettingsError: it is none of these.
        MissingExtraError: the library is not installed.
        MetricError: the model cannot be loaded.
    """
    kind, _, model = spec.partition(":")
    if kind == "flair" and model:
        return FlairTagger(model, cache=cache)
    if kind == "spacy" and model:
        return SpacyTagger(model)
    raise SettingsError(
        f"no entity tagger is called {spec!r}; write flair:NAME, flair:FILE, spacy:NAME or spacy:FOLDER"
    )


def _bare(mention: str) -> str:
    return _FRAME.sub("", " ".join(mention.lower().split()))


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
