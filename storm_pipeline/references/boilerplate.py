"""What stands on pages beside their text: menus, addresses, notices of cookies, calls to subscribe, credits.

Only whole sentences go, and only short ones that speak of the site rather than of a subject: a writer passes over what
is left of a menu, but what was cut is lost. The patterns are words of English, German, French and Spanish sites.
"""

import re
from functools import lru_cache

from storm_pipeline.languages import detect, stop_words

_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+|\s+[|•·]\s+")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\((?:https?:|/|#|mailto:|data:)[^()\s]*(?:\([^()]*\)[^()\s]*)?\)")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]]+")
_LISTED = re.compile(r"[,;\d]")
_SHORTEST_MENU = 25
_PROSE = 0.05
"""Share of function words that prose of any length has at least."""
_LONGEST = 40
"""Words of a sentence that may be cut."""
_NOTICE = re.compile(
    r"\b(?:cookies?\b.{0,60}\b(?:accept|agree|consent|polic|prefer|use|settings)|"
    r"(?:accept|use of|uses?) (?:all )?cookies|"
    r"(?:sign|log)(?:ed|ging)? (?:in|up)\b.{0,40}\b(?:account|newsletter|read|continue|continuer)|"
    r"(?:subscribe|sign up)\b.{0,40}\b(?:newsletter|inbox|updates|today|now|free|unlimited)|"
    r"skip to (?:main )?(?:content|navigation|footer)|all rights reserved|terms (?:of|and) (?:use|service|conditions)|"
    r"privacy (?:policy|notice|statement)|enable javascript|javascript is (?:disabled|required)|your browser|"
    r"(?:share|follow us|like us) on (?:facebook|twitter|x|linkedin|whatsapp|instagram)|click here|advertisement|"
    r"(?:photo|image|picture)(?: credit)?: |\bread more\b|this (?:site|website|page) uses|"
    r"open in (?:a )?new (?:tab|window)|alle rechte vorbehalten|datenschutz(?:erklärung|hinweise)|"
    r"cookies? (?:akzeptieren|zulassen)|newsletter abonnieren|zum inhalt springen|"
    r"tous droits réservés|accepter (?:les|tous les) cookies|politique de confidentialité|"
    r"aller au contenu|abonnez-vous|todos los derechos reservados|política de (?:privacidad|cookies)|"
    r"aceptar (?:las )?cookies|suscríbete|ir al contenido)",
    re.I,
)


@lru_cache(maxsize=4096)
def without_boilerplate(text: str) -> str:
    """The text on one line without addresses, menus, and sentences by which a site speaks of itself; possibly empty.

    Args:
        text: of a page, in any form.
    """
    plain = _ADDRESS.sub(" ", _LINK.sub(r"\1", text))
    pieces = [piece for piece in _SENTENCE.split(" ".join(plain.split())) if piece]
    language = detect(plain) if any(map(_could_be_menu, pieces)) else ""
    return " ".join(piece for piece in pieces if not is_notice(piece) and not is_menu(piece, language))


def is_menu(piece: str, language: str) -> bool:
    """Whether so many words without a stop are the links of a page: hardly any function words, no number, no comma.

    Args:
        piece: what stands between two stops.
        language: ISO 639-1 code of the page's language; nothing is known of "".
    """
    words = piece.split()
    function_words = stop_words(language)
    if not function_words or not _could_be_menu(piece):
        return False
    return sum(word.casefold() in function_words for word in words) < _PROSE * len(words)


def _could_be_menu(piece: str) -> bool:
    return len(piece.split()) >= _SHORTEST_MENU and not _LISTED.search(piece)


def is_notice(sentence: str) -> bool:
    """Whether a sentence of at most 40 words is a notice of the site, a call to do something there, or a credit."""
    return len(sentence.split()) <= _LONGEST and bool(_NOTICE.search(sentence))
