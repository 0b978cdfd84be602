"""Opens WordNet for NLTK from a folder of database files, without downloading."""

import io
import warnings
from pathlib import Path
from typing import Any

from storm_bench.errors import MetricError
from storm_bench.metrics.optional_imports import import_optional

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
