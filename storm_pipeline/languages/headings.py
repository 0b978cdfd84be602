"""The heading of an article's list of references, by language."""

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
