"""Removes page boilerplate: cookie notices, consent dialogs, calls to subscribe or share, credits. Pure functions.

Only whole, short sentences addressed to the visitor are removed: "we use cookies", "share this article", a menu of
nothing but "Terms of use" and "Privacy policy". Articles about cookie laws or a company's privacy policy use the same
words and are kept: a writer can ignore the remains of a menu, but text that was cut is lost. The patterns cover
English, German, French and Spanish sites.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from storm_pipeline.files import table_beside
from storm_pipeline.languages import length_in_words
from storm_pipeline.references.menus import is_menu, menu_items, without_contents
from storm_pipeline.text.words import caseless

_TABLE = table_beside(__file__)
_SENTENCE = re.compile(r"((?<=[.!?…。！？؟])\s+|\s+[|•·*]\s+|(?<=[。！？])(?=[^\s”’」』）】》]))")
"""Separator between sentences, as a group; empty in Chinese and Japanese."""
_STOP = re.compile(r"( (?<=[.!?…؟] )| [|•·*] )")
"""The same in a line whose words are one space apart, where no full-width stop is; several times as fast."""
_FULL_WIDTH = re.compile("[。！？]")
_TARGET = (
    r"\(\s*(?:<?(?:https?:|/|#|mailto:|data:|blob:|javascript:)[^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200}){0,4}>?)?"
    r'\s*(?:"(?:[^"\\\n]|\\.){0,300}")?\s*\)'
)
"""Where a link leads, and its title."""
_NOTE = re.compile(rf"\[(?:\\?\[[\w ]{{1,8}}\\?\]|\^|↑)\]{_TARGET}|\[\\?\[[\w ]{{1,8}}\\?\]")  # the mark of a footnote
_LINK = re.compile(rf"\[([^\[\]]{{0,300}})\]{_TARGET}")
_PICTURE = re.compile(
    rf"!\[[^\[\]]{{0,500}}(?:\[[^\[\]]{{0,200}}\][^\[\]]{{0,200}})?\](?:{_TARGET}|\(\s*\))|!\[[^\[\]]{{0,500}}$|"
    r"\[Image \d+:[^\[\]]{0,500}\]\(\s*\)"
)
"""A picture with its alternative text, which describes the picture rather than the subject of the page."""
_CUT_LINK = re.compile("".join(_TABLE["cut_link"]))
"""A link that begins or ends outside the text."""
_RULE = re.compile(r"\s*(?:[=\-_*~]{5,})\s*")  # the line below a heading, or between two parts of a page
_EMPTY = re.compile("".join(_TABLE["empty"]), re.I)
"""Tags of HTML, bold type and links without text."""
_ITALIC = re.compile(r"(?<![\w\\])_{1,2}(?=[^\s_])([^_\n]{1,200})(?<=[^\s_])_{1,2}(?!\w)")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]]+")
_BOLD = re.compile(r"(?<!\w)\*\*(?=\S)([^*\n]{1,300})(?<=\S)\*\*")
_LONGEST, _LONGEST_CALL = 40, 10  # maximum words of a sentence that may be removed, and of a call to action or credit
_NOTICE = re.compile("|".join(_TABLE["notices"]), re.I)
_CALL = re.compile(rf"\W*(?:{'|'.join(_TABLE['calls'])})|.*[.!?:–—-] ?read more\W*$", re.I)
_ANNOUNCING = re.compile(rf"\W*(?:{'|'.join(_TABLE['announcing'])})\W*", re.I)
_HEADLINE = re.compile("|".join(_TABLE["headlines"]), re.I)
_MENU = re.compile(rf"(?=.*\b(?:{'|'.join(_TABLE['named_in_menus'])}))(?:(?:{'|'.join(_TABLE['menu'])})\b\W*)+", re.I)


@lru_cache(maxsize=4096)
def without_boilerplate(text: str) -> str:
    """The text on one line without mark-up, addresses, pictures, menus, contents and site notices; possibly empty.

    A mark of bold type may stand within a number: ``**1****,000 units**``. ``text``: of a page, in any form; lines are
    checked separately.
    """
    pieces: list[str] = []
    gaps: list[str] = []
    for line in without_contents(_unmarked(text)).splitlines():
        spaced = " ".join(line.split())
        parts = (_SENTENCE if _FULL_WIDTH.search(spaced) else _STOP).split(spaced)
        pieces += parts[::2]
        gaps += [*parts[1::2], "\n"]
    bars = [gap.strip() != "" or gap == "\n" for gap in gaps]
    menu = menu_items(pieces, [bars[i] or bars[i - 1] for i in range(len(pieces))]) | _announced(pieces)
    kept = ""
    for i, (piece, gap) in enumerate(zip(pieces, gaps, strict=True)):
        if piece and i not in menu and not is_interstitial(piece) and not is_menu(piece):
            kept += piece + (" " if gap else "")
    return kept.strip()


def _announced(pieces: Sequence[str]) -> set[int]:
    """Positions of headings that announce other pages, such as "Trending now", and of the headlines behind them."""
    found: set[int] = set()
    for i, piece in enumerate(pieces):
        if (i - 1 in found and _HEADLINE.search(piece)) or _ANNOUNCING.fullmatch(piece):
            found.add(i)
    return found


def _unmarked(text: str) -> str:
    """The text without the marks of Markdown, addresses and pictures; rules become line breaks."""
    if "](" in text or "[[" in text or "![" in text:
        text = _LINK.sub(r"\1", _NOTE.sub(" ", _PICTURE.sub(" ", text)))
        text = _CUT_LINK.sub(lambda found: found[1] or " ", text)
    if "://" in text or "www." in text:
        text = _ADDRESS.sub(" ", text)
    text = _BOLD.sub(r"\1", text) if "**" in text else text
    text = _ITALIC.sub(r"\1", text) if "_" in text else text
    return _EMPTY.sub(" ", _RULE.sub("\n", text))


def is_interstitial(sentence: str) -> bool:
    """Whether a sentence is a site notice (at most 40 words), a call to action or a picture's credit (10).

    A menu counts if it consists only of items such as "Terms of use" and "Privacy policy".
    """
    words = length_in_words(sentence)
    plain = caseless(sentence)
    return words <= _LONGEST and bool(
        (any(part in plain for part in _TABLE["of_notices"]) and _NOTICE.search(sentence))
        or (words <= _LONGEST_CALL and _CALL.match(sentence))
        or _MENU.fullmatch(sentence.strip())
    )
