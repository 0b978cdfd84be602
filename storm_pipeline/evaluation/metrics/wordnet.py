"""WordNet from a folder of its database files, for NLTK: nothing is downloaded."""

import io
import warnings
from pathlib import Path
from typing import Any

from storm_pipeline.errors import MetricError
from storm_pipeline.evaluation.metrics.optional import needed

DEBIAN = Path("/usr/share/wordnet")
"""Where the packages wordnet-base and wordnet-sense-index of Debian and Ubuntu put the files."""
_REMEDY = (
    "install Debian's packages wordnet-base and wordnet-sense-index, or run `python -m nltk.downloader wordnet`, "
    "or give the folder that holds data.noun and index.noun"
)
_LEXNAMES = (
    "adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body noun.cognition "
    "noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive noun.object noun.person "
    "noun.phenomenon noun.plant noun.possession noun.process noun.quantity noun.relation noun.shape noun.state "
    "noun.substance noun.time verb.body verb.change verb.cognition verb.communication verb.competition "
    "verb.consumption verb.contact verb.creation verb.emotion verb.motion verb.perception verb.possession verb.social "
    "verb.stative verb.weather adj.ppl"
).split()
"""The lexicographers' files by number (manual page lexnames(5WN)), a table that Debian's packages leave out."""


def open_wordnet(folder: Path | None = None) -> Any:
    """NLTK's reader over a folder, all in memory (30 MB); one thread at a time may use it.

    NLTK reads only below the folders on ``nltk.data.path``: the given one is added to them.

    Args:
        folder: holds ``data.noun``, ``index.noun`` … of WordNet 3; default: NLTK's own data, else Debian's place.

    Raises:
        MissingExtraError: NLTK is not installed.
        MetricError: there is no WordNet, or it cannot be read.
    """
    data = needed("nltk.data")
    library = needed("nltk.corpus.reader.wordnet")
    base: Any = library.WordNetCorpusReader
    root = _found(data) if folder is None else folder
    if isinstance(root, Path):
        if not (root / "data.noun").is_file():
            raise MetricError(f"{root} holds no WordNet (no file data.noun): {_REMEDY}")
        root = str(root.resolve())
        if root not in data.path:
            data.path.append(root)

    class Reader(base):
        """Leaves no file open, and does without lexicographers' files and without a map to another version."""

        def open(self, file: str) -> io.StringIO:
            if file == "lexnames":
                return io.StringIO("".join(f"{i:02d}\t{name}\t0\n" for i, name in enumerate(_LEXNAMES)))
            with super().open(file) as opened:
                return io.StringIO(opened.read())  # ASCII: the offsets of the index hold for characters too

        def map_wn(self, version: str = "") -> None:  # noqa: ARG002 - the library's signature
            return None

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it tells that other languages are missing
            return Reader(root, None)
    except (library.WordNetError, OSError, ValueError, LookupError, RuntimeError, StopIteration) as error:
        raise MetricError(f"WordNet in {root} cannot be read ({error}): {_REMEDY}") from error


def _found(data: Any) -> Any:
    """Where NLTK keeps WordNet, packed or not, or Debian's folder."""
    for place in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        try:
            return data.find(place)
        except LookupError:
            continue
    if not DEBIAN.is_dir():
        raise MetricError(f"METEOR needs WordNet, which is neither in NLTK's data nor in {DEBIAN}: {_REMEDY}")
    return DEBIAN
