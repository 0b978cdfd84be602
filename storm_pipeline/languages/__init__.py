"""Language-dependent processing: detection, sentence splitting, word counts, capitalisation and stop words.

Languages are ISO 639-1 codes; "" is an unknown language.
"""

from storm_pipeline.languages.counting import count_words
from storm_pipeline.languages.detection import detect
from storm_pipeline.languages.function_words import stop_words
from storm_pipeline.languages.names import language_name
from storm_pipeline.languages.splitting import split_sentences
from storm_pipeline.languages.writing import capitalises_nouns, has_case, has_spaces

__all__ = [
    "capitalises_nouns",
    "count_words",
    "detect",
    "has_case",
    "has_spaces",
    "language_name",
    "split_sentences",
    "stop_words",
]
