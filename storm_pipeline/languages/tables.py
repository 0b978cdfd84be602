"""What is known of each language: its name, capitals, spaces and scripts, and what its lists of notes are called."""

_REFERENCES = {
    **{"ar": "المراجع", "cs": "Reference", "da": "Referencer", "de": "Einzelnachweise", "el": "Παραπομπές"},
    **{"es": "Referencias", "fa": "منابع", "fi": "Lähteet", "fr": "Références", "he": "הערות שוליים", "hi": "सन्दर्भ"},
    **{"hu": "Jegyzetek", "id": "Referensi", "it": "Note", "ja": "出典", "ko": "각주", "nl": "Referenties"},
    **{"no": "Referanser", "pl": "Przypisy", "pt": "Referências", "ro": "Note", "ru": "Примечания", "sv": "Referenser"},
    **{"tr": "Kaynakça", "uk": "Примітки", "vi": "Tham khảo", "zh": "参考文献"},
}


_NOTES = {
    "de": "Anmerkungen", "es": "Notas", "fr": "Notes", "it": "Note", "nl": "Noten", "pt": "Notas", "ru": "Примечания",
    "ar": "ملاحظات",
    "zh": "注释", "ja": "注釈", "no": "Noter", "nb": "Noter", "da": "Noter", "sv": "Noter", "pl": "Przypisy",
}  # fmt: skip


def notes_heading(language: str) -> str:
    """What a list of notes is called in a language; ``Notes`` where that is not known here."""
    return _NOTES.get(language, "Notes")


def references_heading(language: str) -> str:
    """What the list of references is called in a language; ``References`` where that is not known here."""
    return _REFERENCES.get(language, "References")


_NAMES = {
    **{"ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish"},
    **{"de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "fa": "Persian"},
    **{"fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian"},
    **{"id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian"},
    **{"nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian"},
    **{"sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "th": "Thai", "tr": "Turkish"},
    **{"uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese"},
}


def language_name(code: str) -> str:
    """The English name of a language, for prompts; the code itself if unknown."""
    return _NAMES.get(code, code)


_NOUNS_WITH_CAPITALS = frozenset({"de", "lb"})
_SCRIPTS = {
    **dict.fromkeys(("ru", "uk", "be", "bg", "mk"), frozenset({"CYRILLIC"})),
    "sr": frozenset({"CYRILLIC", "LATIN"}),
    **dict.fromkeys(("ar", "fa", "ur"), frozenset({"ARABIC"})),
    "zh": frozenset({"CJK"}),
    "ja": frozenset({"CJK", "HIRAGANA", "KATAKANA", "FULLWIDTH"}),
    "ko": frozenset({"HANGUL", "CJK"}),
    "el": frozenset({"GREEK"}),
    "he": frozenset({"HEBREW"}),
    "hi": frozenset({"DEVANAGARI"}),
    "bn": frozenset({"BENGALI"}),
    "ta": frozenset({"TAMIL"}),
    "te": frozenset({"TELUGU"}),
    "th": frozenset({"THAI"}),
    "lo": frozenset({"LAO"}),
    "km": frozenset({"KHMER"}),
    "my": frozenset({"MYANMAR"}),
    "hy": frozenset({"ARMENIAN"}),
    "ka": frozenset({"GEORGIAN"}),
    "am": frozenset({"ETHIOPIC"}),
}
"""Of languages that are not written in Latin letters."""
_WITHOUT_SPACES = frozenset({"zh", "ja", "th", "lo", "km", "my"})


def capitalises_nouns(language: str) -> bool:
    """Whether all nouns are capitalised, so that a capital does not indicate a name."""
    return language in _NOUNS_WITH_CAPITALS


def has_spaces(language: str) -> bool:
    """Whether words are separated by spaces; if not, they cannot be segmented without a dictionary."""
    return language not in _WITHOUT_SPACES


def scripts_of(language: str) -> frozenset[str]:
    """Names of the scripts that a language is written in, as Unicode names its letters."""
    return _SCRIPTS.get(language, frozenset({"LATIN"}))
