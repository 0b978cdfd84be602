"""Words that deny or except something: two sentences that are alike but for one of them say opposite things."""

import re

_ENGLISH = re.compile(
    r"\bnot\b(?! only\b)|\b\w+n['’]t\b|\b(?:are|ca|did|do|does|had|has|have|is|should|was|were|would)nt\b|"
    r"\bno\b(?!\. ?\d)|\b(?:never|none|nobody|nothing|nowhere|neither|without|cannot|hardly|impossible|unable|"
    r"lack(?:s|ed|ing)?|absen(?:t|ce)|except(?:ing)?|unless|fail(?:s|ed|ing|ure)?|"
    r"un(?:available|certain|clear|common|known|likely|related))\b",
    re.I,
)
_OTHERS = {
    "de": r"\b(?:nicht(?! nur\b)|nichts|nie|niemals|niemand\w*|nirgends|kein\w*|ohne|weder|kaum|außer|"
    r"un(?:möglich|bekannt|klar)\w*)\b",
    "fr": r"\b(?:ne|pas|jamais|aucune?|rien|personne|sans|ni|nul(?:le)?|sauf|impossible)\b|\bn['’](?=\w)",
    "es": r"\b(?:no(?! solo\b| sólo\b)|nunca|jamás|nada|nadie|ning[uú]n\w*|sin|ni|tampoco|salvo|excepto|imposible)\b",
    "it": r"\b(?:non(?! solo\b)|mai|niente|nulla|nessun\w*|senza|né|neppure|tranne|impossibile)\b",
    "pt": r"\b(?:não|nunca|jamais|nada|ninguém|nenhum\w*|sem|nem|salvo|exceto|impossível)\b",
    "nl": r"\b(?:niet|nooit|niets|niemand|geen|zonder|noch|nergens|behalve|onmogelijk)\b",
    "pl": r"\b(?:nie|nigdy|nic|nikt|żad\w+|bez|ani|oprócz)\b",
    "ru": r"\b(?:не(?! только\b)|ни|нет|никогда|ничего|никто|нигде|без|кроме|невозможно|неизвестно)\b",
    "ar": r"\b[وف]?(?:لا|لم|لن|ليس\w*|غير|دون|بدون|عدم|سوى|إلا|باستثناء|ما لم)\b",
    "zh": "[不没沒無无未非勿]|除了|缺乏",
    "ja": "ない|なかった|なく|ません|ぬ[。、]|ず[、に]|[不未非無]|以外",
}
_BY_LANGUAGE = {language: re.compile(pattern, re.I) for language, pattern in _OTHERS.items()}


def denials(text: str, language: str = "en") -> int:
    """How often a text denies or excepts something; by the words of English where those of its language are not known.

    Args:
        text: a sentence.
        language: ISO 639-1 code.
    """
    return len(_BY_LANGUAGE.get(language, _ENGLISH).findall(text))
