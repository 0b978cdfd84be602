"""Language-dependent processing; languages are ISO 639-1 codes, and "" is an unknown language."""

from storm_pipeline.text.languages.pieces import count_words, joined, length_in_words, opening_of, windows
from storm_pipeline.text.languages.stems import stem_set
from storm_pipeline.text.languages.tables import (
    detect,
    has_spaces,
    is_right_to_left,
    language_name,
    references_heading,
    scripts_of,
)
from storm_pipeline.text.sentences import ordinals_have_stops, split_sentences

__all__ = [
    "count_words", "detect", "has_spaces", "is_right_to_left", "joined", "language_name", "length_in_words",
    "opening_of", "ordinals_have_stops", "references_heading", "scripts_of", "split_sentences", "stem_set",
    "windows",
]  # fmt: skip
