"""Language detection by py3langid's model, which lies in its wheel (BSD-3-Clause)."""

import functools
import threading
from typing import Any

from storm_pipeline.errors import AssetError

_SAMPLE = 2000  # maximum characters examined
_LEAST = 0.4  # least probability of a language
_NO_LANGUAGE = "zxx"  # numbers, code, addresses
_loading = threading.Lock()


def detect(text: str) -> str:
    """ISO 639-1 code of the main language of a text's first 2000 characters; "" if it is uncertain.

    Raises AssetError: py3langid could not unpack its model (68 MB) in the folder for temporary files.
    """
    return _detected(text[:_SAMPLE].strip())


@functools.lru_cache(maxsize=4096)
def _detected(text: str) -> str:
    with _loading:
        identifier = _identifier()
    language, probability = identifier.classify(text)
    return language if probability >= _LEAST and language != _NO_LANGUAGE else ""


@functools.cache
def _identifier() -> Any:
    """Load the one identifier, which is not changed afterwards; it takes half a second, and 100 MB."""
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
