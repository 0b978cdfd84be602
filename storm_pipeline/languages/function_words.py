"""Words of many languages that carry little topic: stop words, and words that deny or except something."""

import functools
import re

from storm_pipeline.text.index_terms import STOP_WORDS

LATIN = ("en", "de", "fr", "es", "it", "pt", "pl", "nl", "sv", "da", "no", "tr")
"""Languages in Latin script that have a list."""
_SHIPPED = {
    "de": "GERMAN",
    "fr": "FRENCH",
    "es": "SPANISH",
    "it": "ITALIAN",
    "pt": "PORTUGUESE",
    "ru": "RUSSIAN",
    "zh": "CHINESE",
    "nl": "DUTCH",
    "sv": "SWEDISH",
    "da": "DANISH",
    "no": "NORWEGIAN",
    "tr": "TURKISH",
    "ko": "KOREAN",
}
"""Languages whose list is shipped with bm25s."""
_OWN = {
    "pl": """
        a aby ale ani bardzo bez bo by był była było były być będzie będą ci cię co coś czy czyli dla do gdy gdyż gdzie
        go i ich ile im inne inny ja jak jaka jakie jako je jednak jego jej jemu jest jestem jeszcze jeśli już ją każdy
        kiedy kto która które którego której który których którym ku lub ma mają mi mnie mną moja może można mu my na
        nad nam nas nasz nawet nic nich nie niego niej nim niż no o od około on ona one oni ono oraz po pod podczas
        ponieważ poza przed przede przez przy raz również się sam są ta tak taka takie także tam te tego tej ten też
        to tobie tu tych tylko tym ty u w we wam was wiele więc wszystko wszystkie z za zawsze ze że
    """,
    "ar": """
        في من على إلى عن مع هذا هذه ذلك تلك التي الذي الذين اللذان هو هي هم هن أنا نحن أنت أنتم كان كانت كانوا يكون
        تكون قد لقد لم لن لا ما ماذا لماذا كيف متى أين أي أو و ثم أن إن أنه إنه أنها إنها إذا لو لكن بل حتى كل بعض
        بعد قبل عند منذ بين حول خلال ضد دون غير سوى فقط أيضا أيضًا كما مثل به بها له لها لهم منه منها فيه فيها عليه
        عليها إليه إليها وهو وهي وفي ومن وكان كذلك هناك هنا حيث بسبب نحو أكثر أقل
    """,
    "ja": """
        の に は を た が で て と し れ さ ある いる も する から な こと として い や れる など なっ ない この ため
        その あっ よう また もの という あり まで られ なる へ か だ これ によって により おり より による ず なり
        られる において ば なかっ なく しかし について せ だっ その後 できる それ う ので なお のみ でき き つ における
        および いう さらに でも ら たり その他 に関する たち ます です ました それら
    """,
}
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


@functools.cache
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language in lower case; empty if there is no list.

    There are lists for English, German, French, Spanish, Italian, Portuguese, Polish, Russian, Arabic, Chinese,
    Japanese, Dutch, Swedish, Danish, Norwegian, Turkish and Korean.
    """
    if language == "en":
        return STOP_WORDS
    if language in _OWN:
        return frozenset(_OWN[language].split())
    if language not in _SHIPPED:
        return frozenset()
    from bm25s import stopwords

    return frozenset(word.casefold() for word in getattr(stopwords, f"STOPWORDS_{_SHIPPED[language]}"))


def denials(text: str, language: str = "en") -> int:
    """How often a text denies or excepts something; by English words where those of its language are not known."""
    return len(_BY_LANGUAGE.get(language, _ENGLISH).findall(text))
