"""Words that deny or except something, by language."""

import re

from storm_pipeline.files import table_beside

_DENIALS = {language: re.compile("|".join(parts), re.I) for language, parts in table_beside(__file__).items()}


def denials(text: str, language: str = "en") -> int:
    """How often a text denies or excepts something; by English words where those of its language are not known."""
    return len(_DENIALS.get(language, _DENIALS["en"]).findall(text))
