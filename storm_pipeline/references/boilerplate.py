"""Removes page boilerplate: cookie notices, consent dialogs, calls to subscribe or share, credits. Pure functions.

Only whole, short sentences addressed to the visitor are removed: "we use cookies", "share this article", a menu of
nothing but "Terms of use" and "Privacy policy". Articles about cookie laws or a company's privacy policy use the same
words and are kept: a writer can ignore the remains of a menu, but text that was cut is lost. The patterns cover
English, German, French and Spanish sites.
"""

import re
from functools import lru_cache

from storm_pipeline.languages import length_in_words
from storm_pipeline.references.menus import is_menu, menu_items, without_contents
from storm_pipeline.text.words import caseless

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
_CUT_LINK = re.compile(
    r"^[^\[\]]{0,100}\]\((?:https?:[^()\s]{0,2000})?\s*(?:\"[^\"\n]{0,300}\")?\s*\)|\[([^\[\]]{1,300})\]\([^()\s]{0,2000}$"
)
"""A link that begins or ends outside the text."""
_RULE = re.compile(r"\s*(?:[=\-_*~]{5,})\s*")  # the line below a heading, or between two parts of a page
_EMPTY = re.compile(
    r"</?(?:abbr?|b|big|br|center|div|em|font|h[1-6]|hr|i|img|li|ol|p|small|span|strong|su[bp]|table|tbody|td|th|thead|tr|u|ul|a)"
    r"(?:\s[^<>]{0,500})?/?>|(?<!\S)\*\*\s\*\*(?!\w)|(?<=\w)\[\s?\]",
    re.I,
)
"""Tags of HTML, bold type and links without text."""
_ITALIC = re.compile(r"(?<![\w\\])_{1,2}(?=[^\s_])([^_\n]{1,200})(?<=[^\s_])_{1,2}(?!\w)")
_EMPTY_LINK = re.compile(r"\[?[^\S\n]*\]\([^\S\n]*\)")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]]+")
_BOLD = re.compile(r"(?<!\w)\*\*(?=\S)([^*\n]{1,300})(?<=\S)\*\*")
_LONGEST = 40  # maximum words of a sentence that may be removed
_LONGEST_CALL = 10  # maximum words of a call to action that may be removed
_NOTICE = re.compile(
    r"\b(?:we|our partners|(?:this|the|our) (?:web ?)?(?:site|page))\b.{0,60}\b(?:use|uses|using|utili[sz]e|"
    r"place|store|set)s? (?:(?:[\w-]+ ){0,2}|technologies (?:such as|like) )cookies\b|"
    r"\b(?:you|your|our)\b.{0,80}\b(?:use of|accept(?:ing)?|consent to|agree to) (?:all |our |the use of )*cookies\b|"
    r"\b(?:our|your) (?:cookies?|privacy) (?:policy|notice|statement|settings|preferences)\b|"
    r"\b(?:you|your)\b.{0,60}\b(?:agree|consent)\b.{0,40}\b(?:terms (?:of|and)|privacy (?:policy|notice|statement))|"
    r"(?:©|\(c\)|\bcopyright\b).{0,80}\ball rights reserved\b|"
    r"\bimage may contain\b|"
    r"\bskip to (?:main )?(?:content|navigation|footer)\b|\bopen(?:s)? in (?:a )?new (?:tab|window)\b|"
    r"\b(?:please|you (?:must|need to|have to|should)) enable javascript\b|\bjavascript is (?:disabled|required)\b|"
    r"\byour browser (?:does not|doesn['’]t|is (?:out|not)|has)\b|\b(?:update|upgrade) your browser\b|"
    r"\b(?:follow|like|find) us on (?:facebook|twitter|x|linkedin|whatsapp|instagram|youtube)\b|"
    r"\bsubscribe to our\b|\b(?:in|to) your inbox\b|\b(?:site|page) uses (?:javascript|akismet)\b|"
    r"\bwir (?:verwenden|nutzen|setzen) (?:\w+ ){0,2}cookies\b|\balle cookies (?:akzeptieren|zulassen)\b|"
    r"\bunserer? datenschutz(?:erklärung|hinweise)\b|\bnous utilisons (?:\w+ ){0,2}cookies\b|"
    r"\baccepter (?:les|tous les) cookies\b|\bnotre politique de confidentialité\b|"
    r"\b(?:usamos|utilizamos) (?:\w+ ){0,2}cookies\b|\baceptar (?:todas )?(?:las )?cookies\b|"
    r"\bnuestra política de (?:privacidad|cookies)\b",
    re.I,
)
_STOCK = re.compile(
    r"\bif you do not allow (?:these|this|some|all)\b.{0,20}\bcookies?\b|\bthese cookies (?:allow us|"
    r"may be set (?:by|through)|are set by a range|are necessary for the website to function|"
    r"do not store any personal|enable the (?:web ?)?site to|will be stored in your|"
    r"track visitors across websites and collect|help provide information on|ensure basic)|"
    r"\binformation these cookies collect\b|\balert you about these cookies\b|\bblocking some types of cookies may\b|"
    r"\byou\b.{0,40}\b(?:choose not to allow|opt[- ]?out of) (?:\w+ ){0,3}cookies\b|"
    r"\bcookies are absolutely essential\b|\bcookielawinfo\b|\bfirst and third party cookies used\b|"
    r"\bcookies? (?:is|are) (?:used to|set by)\b.{0,60}\b(?:how visitors|visitors with|user consent|cookie consent)\b|"
    r"\bthird[- ]party providers whose services we\b|\bbuild(?:ing up)? a profile of your interests\b|"
    r"\bimprove a profile about you\b|\buniquely identifying your browser\b|\bpages are the most and least popular\b|"
    r"\bcontinue watching after the ad\b|"
    r"\bmessages you see on other websites\b|\byou will experience less targeted advertising\b|"
    r"\bnot know when you have visited our\b|\bsome or all of these services may not\b|"
    r"\bclick on the different category headings\b|\bnot usually directly identify you\b|"
    r"\byour preferences or your device\b|\bthe technical storage or access (?:that )?is\b|"
    r"\bnot consenting or withdrawing consent\b|\byou\b.{0,40}\b(?:interest[- ]based|personali[sz]ed) ads\b|"
    r"\byou\b.{0,80}\bopt[- ]?(?:out|in)\b.{0,60}\b(?:sale|sharing|toggle|targeted advertising)\b|"
    r"\byou must be (?:logged|signed) in to\b|\bhow your comment data is processed\b|\bforgot your password\b|"
    r"\badditional information such as exif metadata\b|\bif the file has been modified from its original state\b|"
    r"\btimestamp is only as accurate as the clock\b|\bfiles are available under licenses specified\b",
    re.I,
)
"""Sentences that many sites have word for word: of consent dialogs (OneTrust, CookieYes, Complianz, opt-outs of sale),
comment forms and file pages of Wikimedia Commons."""
_OF_NOTICES = (
    "cookie|privacy|terms|all rights reserved|image may contain|skip to |new tab|new window|javascript|"
    "your browser|us on |subscribe to our|your inbox|akismet|datenschutz|confidentialit|privacidad"
).split("|")
"""Every notice has one of these, in lower case."""
_OF_STOCK = (
    "cookie|party providers|profile of your|profile about you|your browser|least popular|other websites|"
    "targeted advertising|visited our|these services|category headings|identify you|your device|"
    "technical storage|consenting| ads|opt out|opt-out|optout|opt in|opt-in|optin|ed in to|after the ad|"
    "comment data|your password|exif metadata|original state|the clock|under licenses"
).split("|")
"""Every stock sentence has one of these, in lower case."""
_CALL = re.compile(
    r"\W*(?:(?:please |already \w+ )?(?:sign|log) (?:in|up)\b.*\b(?:account|newsletter|read|continue|comment)\b|"
    r"(?:please )?(?:subscribe|sign up)\b.*\b(?:newsletter|updates|today|now|free|unlimited)\b|"
    r"(?:accept|reject|allow|deny|manage) (?:all )?cookies?\b|do not sell (?:or share )?my (?:personal )?(?:data|info)|"
    r"click here\b|all rights reserved\b|"
    r"read more(?:\W|$|\s(?:about|on|at|here|from)\b)|"
    r"advertisement(?:\W*$|\W+(?:scroll|continue|skip|story|\d/\d))|skip ad\b|continue watching after the ad\b|"
    r"(?:check out|now read|read) (?:this|these|more)\W*$|\(?sign in to edit\b|start a conversation\W*$|"
    r"(?:archived from the original|retrieved) (?:on )?(?:[\d-]{10}|\d{1,2} [a-z]+ \d{4}|[a-z]+ \d{1,2}, \d{4})\W*$|"
    r"listen below\W*$|jump (?:up|to)\b|"
    r"share (?:this (?:article|page|post|story|video)|(?:this )?on (?:facebook|twitter|x|linkedin|whatsapp))\b|"
    r"(?:zum inhalt springen|newsletter abonnieren|jetzt abonnieren|alle rechte vorbehalten)\b|"
    r"(?:aller au contenu|abonnez-vous|tous droits réservés)\b|"
    r"(?:ir al contenido|suscríbete|todos los derechos reservados)\b)"
    r"|.*[.!?:–—-] ?read more\W*$",
    re.I,
)
_CREDIT = re.compile(r"\W*(?:photo|image|picture)(?: credits?| by)?: ", re.I)
_LONGEST_CREDIT = 8
_MENU = re.compile(
    r"(?:(?:terms|conditions|privacy|cookies?|policy|policies|notice|statement|settings|preferences|of|and|use|service|"
    r"legal|contact|imprint|accessibility|advertise|datenschutz(?:erklärung|hinweise)?|impressum|"
    r"politique de confidentialité|mentions légales|política de (?:privacidad|cookies)|aviso legal)\b\W*)+",
    re.I,
)
_NAMED_IN_MENUS = re.compile(
    r"\b(?:privacy|cookies? (?:policy|settings|preferences|notice)|terms (?:of|and)|imprint|impressum|datenschutz|"
    r"confidentialité|mentions|privacidad|aviso)",
    re.I,
)


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
    menu = menu_items(pieces, [bars[i] or bars[i - 1] for i in range(len(pieces))])
    kept = ""
    for i, (piece, gap) in enumerate(zip(pieces, gaps, strict=True)):
        if piece and i not in menu and not is_interstitial(piece) and not is_menu(piece):
            kept += piece + (" " if gap else "")
    return kept.strip()


def _unmarked(text: str) -> str:
    """The text without the marks of Markdown, addresses and pictures; rules become line breaks."""
    if "](" in text or "[[" in text or "![" in text:
        text = _LINK.sub(r"\1", _NOTE.sub(" ", _PICTURE.sub(" ", text)))
        text = _CUT_LINK.sub(lambda found: found[1] or " ", text)
    if "://" in text or "www." in text:
        text = _ADDRESS.sub(" ", text)
    text = _EMPTY_LINK.sub(" ", text) if "](" in text else text
    text = _BOLD.sub(r"\1", text) if "**" in text else text
    text = _ITALIC.sub(r"\1", text) if "_" in text else text
    return _EMPTY.sub(" ", _RULE.sub("\n", text))


def is_interstitial(sentence: str) -> bool:
    """Whether a sentence is a site notice or stock (at most 40 words), a call to action (10), or a credit (8).

    A menu counts if it consists only of items such as "Terms of use" and "Privacy policy".
    """
    words = length_in_words(sentence)
    if words > _LONGEST:
        return False
    plain = caseless(sentence)
    if any(part in plain for part in _OF_NOTICES) and _NOTICE.search(sentence):
        return True
    if any(part in plain for part in _OF_STOCK) and _STOCK.search(sentence):
        return True
    if words <= _LONGEST_CALL and _CALL.match(sentence):
        return True
    if words <= _LONGEST_CREDIT and _CREDIT.match(sentence):
        return True
    return bool(_MENU.fullmatch(sentence.strip()) and _NAMED_IN_MENUS.search(sentence))
