"""METEOR: words of an article aligned with the human article's by form, stem and synonym."""

import io
import threading
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

from storm_bench.errors import MetricError
from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.metrics.optional_imports import import_optional
from storm_bench.metrics.texts import generated_text
from storm_bench.types import Case
from storm_pipeline.api import folded_words

DEBIAN = Path("/usr/share/wordnet")
"""Install location of the Debian and Ubuntu packages wordnet-base and wordnet-sense-index."""
_REMEDY = (
    "install Debian's packages wordnet-base and wordnet-sense-index, or run `python -m nltk.downloader wordnet`, "
    "or set the folder that contains data.noun and index.noun"
)
_LEXNAMES = (
    "adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body noun.cognition "
    "noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive noun.object noun.person "
    "noun.phenomenon noun.plant noun.possession noun.process noun.quantity noun.relation noun.shape noun.state "
    "noun.substance noun.time verb.body verb.change verb.cognition verb.communication verb.competition "
    "verb.consumption verb.contact verb.creation verb.emotion verb.motion verb.perception verb.possession verb.social "
    "verb.stative verb.weather adj.ppl"
).split()
"""Lexicographer files by number (lexnames(5WN)); Debian's packages lack this table."""


MEASURES = (Measure("meteor"),)


def open_wordnet(folder: Path | None = None) -> Any:
    """NLTK's WordNet reader over a folder, in memory (30 MB); not thread-safe.

    NLTK only reads below ``nltk.data.path``, so the folder is added to it.

    Args:
        folder: contains ``data.noun``, ``index.noun`` … of WordNet 3; default: NLTK's data, else Debian's location.

    Raises:
        MissingExtraError: NLTK is not installed.
        MetricError: there is no WordNet, or it cannot be read.
    """
    data = import_optional("nltk.data")
    library = import_optional("nltk.corpus.reader.wordnet")
    base: Any = library.WordNetCorpusReader
    root = _found(data) if folder is None else folder
    if isinstance(root, Path):
        if not (root / "data.noun").is_file():
            raise MetricError(f"{root} is not a WordNet folder (no file data.noun): {_REMEDY}")
        root = str(root.resolve())
        if root not in data.path:
            data.path.append(root)

    class Reader(base):
        """Closes its files and needs neither the lexnames file nor a version mapping."""

        def open(self, file: str) -> io.StringIO:
            if file == "lexnames":
                return io.StringIO("".join(f"{i:02d}\t{name}\t0\n" for i, name in enumerate(_LEXNAMES)))
            with super().open(file) as opened:
                return io.StringIO(opened.read())  # ASCII: the offsets of the index hold for characters too

        def map_wn(self, version: str = "") -> None:  # noqa: ARG002 - the library's signature
            return None

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # missing multilingual data
            return Reader(root, None)
    except (library.WordNetError, OSError, ValueError, LookupError, RuntimeError, StopIteration) as error:
        raise MetricError(f"WordNet in {root} cannot be read ({error}): {_REMEDY}") from error


def _found(data: Any) -> Any:
    """NLTK's WordNet, zipped or not, else Debian's folder."""
    for place in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        try:
            return data.find(place)
        except LookupError:
            continue
    if not DEBIAN.is_dir():
        raise MetricError(f"METEOR needs WordNet, which is neither in NLTK's data nor in {DEBIAN}: {_REMEDY}")
    return DEBIAN


_WEIGHTS: dict[str, float] = {"alpha": 0.9, "beta": 3.0, "gamma": 0.5}


def meteor(wordnet: Path | None = None) -> CaseMetric:
    """METEOR (Banerjee and Lavie 2005) by NLTK, over the word lists of whole articles.

    Words align if they are equal, have the same stem (Porter) or share a WordNet sense; the harmonic mean of precision
    and recall (recall weighted nine times) is reduced by up to half the more fragmented the alignment is. NLTK looks
    senses up by stem and misses words whose stem is not a word (automobile). None if the human article has no words.
    WikiGenBench used METEOR 1.5 (other weights, paraphrases, function words), so its values are not comparable.
    """
    aligned = import_optional("nltk.translate.meteor_score").single_meteor_score
    opened, lock = open_wordnet(wordnet), threading.Lock()  # NLTK's reader is not thread-safe

    def score(case: Case) -> Score:
        truth, produced = folded_words(case.topic.human.text()), folded_words(generated_text(case.article))
        if not truth:
            return {"meteor": None}
        with lock:
            return {"meteor": float(aligned(truth, produced, wordnet=opened, **_WEIGHTS))}

    facts: dict[str, str | int | float] = {"nltk": version("nltk"), "wordnet": str(opened.get_version())}
    reference = "Banerjee and Lavie 2005; WikiGenBench, section 3"
    return CaseMetric("meteor", MEASURES, reference, score, facts | _WEIGHTS)
