"""Language detection by py3langid's model, which lies in its wheel (BSD-3-Clause)."""

import functools
import threading
from typing import Any

from storm_pipeline.errors import AssetError

_SAMPLE = 2000  # maximum characters examined
_LEAST = 0.4
"""The least probability of the language told: of 720 single English sentences 5 got a wrong one, of 333 others 12."""
_NO_LANGUAGE = "zxx"  # numbers, code, addresses
_loading = threading.Lock()


def detect(text: str) -> str:
    """ISO 639-1 code of a text's main language; "" if it is too short or the language is uncertain.

    Only the first 2000 characters are examined.

    Raises:
        AssetError: py3langid could not unpack its model (68 MB) in the folder for temporary files.
    """
    return _detected(text[:_SAMPLE].strip())


@functools.lru_cache(maxsize=4096)
def _detected(text: str) -> str:
    language, probability = _identifier().classify(text)
    return language if probability >= _LEAST and language != _NO_LANGUAGE else ""


def _identifier() -> Any:
    """The one identifier, which is not changed once it is made; loading it takes half a second, and 100 MB."""
    with _loading:
        return _loaded()


@functools.cache
def _loaded() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:
        said = f"cannot unpack the language detector to a temporary file: {error.strerror}"
        raise AssetError(f"{said}; make room there, or set TMPDIR") from error
    # Codes of three letters are varieties of languages, such as Wu, and small ones; "nn" is written Norwegian too.
    codes = {code for code in identifier.labels if len(code) == 2} - {"nn"}
    identifier.set_languages(codes | {_NO_LANGUAGE})
    return identifier
