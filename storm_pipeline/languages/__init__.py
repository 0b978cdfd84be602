"""What differs from language to language: which one a text is in, its sentences, words, capitals and stop words.

Languages are given by their ISO 639-1 code; "" is a language that is not known.
"""

from storm_pipeline.languages.abbreviations import numbers_take_stops
from storm_pipeline.languages.counting import count_words
from storm_pipeline.languages.denials import denials
from storm_pipeline.languages.detection import detect
from storm_pipeline.languages.function_words import stop_words
from storm_pipeline.languages.headings import references_heading
from storm_pipeline.languages.names import language_name
from storm_pipeline.languages.pieces import joined, length_in_words, opening_of, windows
from storm_pipeline.languages.splitting import split_sentences
from storm_pipeline.languages.stems import stem_set
from storm_pipeline.languages.writing import capitalises_nouns, has_spaces, scripts_of

__all__ = [
    "capitalises_nouns",
    "count_words",
    "denials",
    "detect",
    "has_spaces",
    "joined",
    "language_name",
    "length_in_words",
    "numbers_take_stops",
    "opening_of",
    "references_heading",
    "scripts_of",
    "split_sentences",
    "stem_set",
    "stop_words",
    "windows",
]
